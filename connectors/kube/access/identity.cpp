#include "connectors/kube/access/identity.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>

#include "connectors/kube/transport/certificate.h"
#include "connectors/kube/transport/http_connection.h"

namespace fairlead {
namespace {

// An answer is renewed so long before its end, at most a fifth of its life.
constexpr Duration kRenewBefore = seconds(30);

LogTime wall_now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(since).count()};
}

}  // namespace

Identities::Identities(IoLoop& loop, CredentialTimes times, CredentialEvents events)
    : loop_(loop), times_(times), events_(std::move(events)) {}

Identities::~Identities() = default;

Result<std::unique_ptr<Identities>> Identities::make(IoLoop& loop, Credentials credentials,
                                                     CredentialTimes times,
                                                     CredentialEvents events) {
  std::unique_ptr<Identities> out(new Identities(loop, times, std::move(events)));
  if (auto adopted = out->adopt(std::move(credentials)); adopted.has_error())
    return adopted.error();
  return out;
}

std::unique_ptr<Identities> Identities::waiting(IoLoop& loop, Error why,
                                                std::function<Result<Credentials>()> read_again,
                                                CredentialTimes times, CredentialEvents events) {
  std::unique_ptr<Identities> out(new Identities(loop, times, std::move(events)));
  out->none_ = std::move(why);
  out->read_again_ = std::move(read_again);
  out->files_seen_ = loop.now();
  return out;
}

Result<void> Identities::adopt(Credentials credentials) {
  auto token = current_token(credentials);
  if (token.has_error()) return Error{ErrorCode::denied, token.error().message};
  Credentials before = std::exchange(credentials_, std::move(credentials));
  const bool moves = target_ && (before.server != credentials_.server);
  // Another server or trust needs another target, and what the plugin answered may be for the
  // former one.
  const bool same_plugin = credentials_.exec && before.exec == credentials_.exec &&
                           plugin_.answered && same_target(before, credentials_);
  if (!same_plugin)
    if (auto aimed = aim(credentials_.client_certificate_pem, credentials_.client_key_pem);
        aimed.has_error()) {
      credentials_ = std::move(before);
      return aimed;
    }
  if (!same_plugin) {
    plugin_.run.reset();
    plugin_.answered = plugin_.wanted = false;
    plugin_.renew = plugin_.expires = std::nullopt;
    plugin_.opens = {};
    plugin_.failures = 0;
    token_ = std::move(*token);
  }
  certificate_origin_ = credentials_.certificate_origin;
  none_.reset();
  // The files were read before and may have changed since: the next check reads them once more.
  signature_.clear();
  files_seen_ = loop_.now();
  if (moves && events_.moved) events_.moved();
  // They wait for a plugin that was ended.
  if (!plugin_.run)
    for (Given& given : std::exchange(waiting_, {})) ask(std::move(given));
  return {};
}

// Makes the target of new connections.
Result<void> Identities::aim(const std::string& certificate, const std::string& key) {
  auto target = make_target(credentials_, certificate, key);
  if (target.has_error()) return target.error();
  certificate_end_ = certificate_end(certificate);
  const bool first = target_ == nullptr;
  target_ = std::move(*target);
  if (!first) ++stats_.renewals;
  if (!first && new_target_) new_target_();
  return {};
}

std::string Identities::signature() const {
  std::string out;
  for (const std::string& file : credentials_.files) {
    struct stat seen{};
    if (::stat(file.c_str(), &seen) != 0) {
      out += "-;";
      continue;
    }
    for (const auto part : {static_cast<std::int64_t>(seen.st_ino), std::int64_t{seen.st_size},
                            std::int64_t{seen.st_mtim.tv_sec}, std::int64_t{seen.st_mtim.tv_nsec}})
      out += std::to_string(part) + ",";
    out += ";";
  }
  return out;
}

void Identities::look_at_files(LogTime now) {
  const bool nothing_to_read =
      none_ ? !read_again_ : !credentials_.reread && credentials_.token_file.empty();
  if (nothing_to_read || (files_seen_.ns != 0 && now < files_seen_ + times_.files_every)) return;
  files_seen_ = now;
  if (none_) {
    auto read = read_again_();
    auto adopted = read.has_value() ? adopt(std::move(*read)) : Result<void>(read.error());
    if (adopted.has_error()) none_ = adopted.error();
    return;
  }
  if (!credentials_.reread) {
    if (auto token = current_token(credentials_); token.has_value())
      token_ = std::move(*token);
    else
      log_problem(token.error().message);
    return;
  }
  std::string seen = signature();
  if (seen == signature_) return;
  signature_ = seen;
  auto fresh = credentials_.reread();
  // While a pair of files is replaced, there is a moment in which they do not belong together: the
  // last good credentials stay in use, and the next check reads again.
  if (fresh.has_error()) {
    signature_.clear();
    log_problem(fresh.error().message);
    return;
  }
  if (same_access(*fresh, credentials_)) {
    if (auto token = current_token(*fresh);
        token.has_value() && *token != token_ && !plugin_.answered) {
      token_ = std::move(*token);
      ++stats_.renewals;
    }
    return;
  }
  const bool only_token = [&] {
    Credentials with_ours = *fresh;
    with_ours.token = credentials_.token;
    with_ours.token_file = credentials_.token_file;
    return same_access(with_ours, credentials_) && !credentials_.exec;
  }();
  if (only_token) {
    auto token = current_token(*fresh);
    if (token.has_error()) {
      signature_.clear();
      return log_problem(token.error().message);
    }
    token_ = std::move(*token);
    credentials_ = std::move(*fresh);
    ++stats_.renewals;
    return;
  }
  const auto adopted = adopt(std::move(*fresh));
  if (adopted.has_error()) log_problem(adopted.error().message);
  signature_ = adopted.has_error() ? std::string() : std::move(seen);
}

bool Identities::plugin_due(LogTime now) const {
  if (!credentials_.exec || plugin_.run || now < plugin_.opens) return false;
  return !plugin_.answered || plugin_.wanted || (plugin_.renew && wall_now() >= *plugin_.renew);
}

void Identities::run_plugin() {
  ++stats_.plugin_calls;
  plugin_.run =
      PluginRun::start(loop_, *credentials_.exec, times_.plugin_time_max,
                       [this](Result<PluginAnswer> answer) { plugin_answered(std::move(answer)); });
}

void Identities::plugin_answered(Result<PluginAnswer> answer) {
  plugin_.run.reset();
  plugin_.wanted = false;
  const LogTime wall = wall_now();
  if (answer.has_value() && answer->expires && *answer->expires <= wall)
    answer = Error{ErrorCode::denied, credentials_.exec->origin + ": " +
                                          credentials_.exec->command + " gave credentials that " +
                                          "expired at " + to_rfc3339(*answer->expires)};
  if (answer.has_value() && (!plugin_.answered || !answer->client_certificate_pem.empty() ||
                             certificate_origin_ == credentials_.exec->origin))
    if (auto aimed = aim(answer->client_certificate_pem, answer->client_key_pem); aimed.has_error())
      answer = in_context(credentials_.exec->origin, aimed.error());
  if (answer.has_error()) {
    ++stats_.plugin_failures;
    Duration pause = times_.plugin_pause;
    for (int i = 0; i < plugin_.failures && pause < times_.plugin_pause_max; ++i) pause.ns *= 2;
    ++plugin_.failures;
    plugin_.opens = loop_.now() + std::min(pause, times_.plugin_pause_max);
    plugin_.failure = answer.error();
    log_problem(answer.error().message);
  } else {
    plugin_.failures = 0;
    plugin_.failure.reset();
    plugin_.opens = loop_.now() + times_.plugin_pause;
    if (plugin_.answered) ++stats_.renewals;
    plugin_.answered = true;
    token_ = answer->token;
    certificate_origin_ =
        answer->client_certificate_pem.empty() ? std::string() : credentials_.exec->origin;
    plugin_.expires = answer->expires;
    plugin_.renew.reset();
    if (plugin_.expires)
      plugin_.renew = LogTime{plugin_.expires->ns -
                              std::min(kRenewBefore.ns, (*plugin_.expires - wall).ns / 5)};
    // Credentials that expire sooner than the pause must still be renewed in time.
    if (plugin_.renew && *plugin_.renew < wall + times_.plugin_pause)
      plugin_.opens = loop_.now() + std::max(*plugin_.renew - wall, seconds(1));
  }
  // Exchanged first, because a receiver may ask again.
  for (Given& given : std::exchange(waiting_, {})) given(present());
}

// Returns the current identity, and logs when its state changes.
Result<Identity> Identities::present() {
  const auto nothing = [this](Error why) {
    log_problem(why.message);
    publish_unusable();
    why.code = ErrorCode::denied;
    return why;
  };
  if (none_) return nothing(*none_);
  const LogTime wall = wall_now();
  if (credentials_.exec) {
    const bool over = plugin_.answered && plugin_.expires && *plugin_.expires <= wall;
    if ((!plugin_.answered || over) && plugin_.failure) return nothing(*plugin_.failure);
    if (!plugin_.answered)
      return nothing({ErrorCode::denied, "the credential plugin has not answered"});
    if (over)
      return nothing({ErrorCode::denied, credentials_.exec->origin + ": credentials expired at " +
                                             to_rfc3339(*plugin_.expires)});
  }
  if (certificate_end_ && *certificate_end_ <= wall)
    return nothing({ErrorCode::denied, "client certificate " + certificate_origin_ +
                                           " expired at " + to_rfc3339(*certificate_end_)});
  // An empty signature says that files could not be read: the problem lasts, though there is an
  // identity from before.
  if (!plugin_.failure && !last_problem_.empty() &&
      (credentials_.files.empty() || !signature_.empty())) {
    last_problem_.clear();
    if (events_.log) events_.log({"credentials: good again", LineAbout::recovery});
  }
  publish_usable();
  return Identity{target_, token_};
}

void Identities::ask(Given given) {
  const LogTime now = loop_.now();
  look_at_files(now);
  if (plugin_due(now) && !none_) run_plugin();
  const bool must_wait =
      plugin_.run && (!plugin_.answered || (plugin_.expires && *plugin_.expires <= wall_now()));
  if (must_wait)
    waiting_.push_back(std::move(given));
  else
    given(present());
}

void Identities::refused(const Identity& used, Given given) {
  const LogTime now = loop_.now();
  // Another request had its 401 before, and there are other credentials since.
  if (used.target != target_ || used.token != token_ || none_) return ask(std::move(given));
  files_seen_ = {};
  look_at_files(now);
  // Where plugin_due() lets no run start yet, the same identity is given once more.
  plugin_.wanted = credentials_.exec.has_value() && plugin_.answered && !plugin_.run;
  if (plugin_due(now)) run_plugin();
  plugin_.wanted = false;
  if (plugin_.run)
    waiting_.push_back(std::move(given));
  else
    given(present());
}

void Identities::replace(Result<Credentials> credentials) {
  if (credentials.has_value()) {
    last_problem_.clear();
    const auto adopted = adopt(std::move(*credentials));
    if (adopted.has_value()) return publish_usable();
    credentials = adopted.error();
  }
  plugin_.run.reset();
  read_again_ = nullptr;
  none_ = credentials.error();
  log_problem(none_->message);
  publish_unusable();
  for (Given& given : std::exchange(waiting_, {})) given(present());
  if (new_target_) new_target_();
}

void Identities::stop(const std::string& why) {
  events_ = {};  // the owner of the callbacks may end before the last request does
  new_target_ = nullptr;
  plugin_.run.reset();
  read_again_ = nullptr;
  none_ = Error{ErrorCode::unavailable, why};
  for (Given& given : std::exchange(waiting_, {})) given(*none_);
}

void Identities::log_problem(const std::string& problem) {
  if (std::exchange(last_problem_, problem) == problem || !events_.log) return;
  events_.log({"credentials: " + problem});
}

void Identities::publish_usable() {
  CredentialStats now = stats_;
  now.usable = true;
  publish(std::move(now));
}

void Identities::publish_unusable() {
  CredentialStats now = stats_;
  now.usable = false;
  publish(std::move(now));
}

void Identities::publish(CredentialStats now) {
  now.expires = certificate_end_;
  if (plugin_.expires && (!now.expires || *plugin_.expires < *now.expires))
    now.expires = plugin_.expires;
  stats_ = std::move(now);
  if (events_.stats) events_.stats(stats_);
}

}  // namespace fairlead
