#include "connectors/kube/watch/reflector.h"

#include <algorithm>
#include <utility>

#include "connectors/kube/projection/projection.h"
#include "connectors/kube/resource_path.h"
#include "connectors/kube/watch/failure_text.h"
#include "engine/base/resource_version.h"

namespace fairlead {

Duration bounded_retry_after(Duration asked, const ReflectorSettings& settings) {
  return std::min(asked, Duration{settings.stale_after.ns / 2});
}

std::string retry_after_text(std::optional<Duration> asked) {
  return asked ? " (Retry-After " + to_go_duration(*asked) + ")" : "";
}

// The part of a text that a diagnostic may quote: texts of objects may hold secrets.
std::string_view Reflector::printable(std::string_view text) const {
  return kind_ == Kind::secret ? "(not shown: it may be a piece of a Secret)" : text;
}

Reflector::Reflector(Kind kind, ReflectorSettings settings, std::function<std::uint64_t()> random)
    : kind_(kind),
      settings_(settings),
      random_(std::move(random)),
      page_limit_(settings.page_limit),
      decoder_(LineFingerprinter(kind),
               [this](const LineFingerprint& fingerprint) { return knows(fingerprint); }) {
  set_budget();
}

std::string Reflector::collection() const {
  return resource_path(info(kind_), version_, namespace_, {});
}

void Reflector::log(std::string line) {
  line = std::string(info(kind_).resource) + ": " + line;
  if (std::exchange(last_diagnostic_, line) == line) return;  // not again at every retry
  out_.diagnostics.push_back(std::move(line));
}

Duration Reflector::jittered(Duration span) {
  // Jitter of up to one half, so that a thousand hubs do not return at the same time.
  const auto half = static_cast<std::uint64_t>(span.ns / 2) + 1;
  return {span.ns + static_cast<std::int64_t>(random_() % half)};
}

ReflectorOutput Reflector::finish(LogTime now) {
  const auto report = [&](Duration span, bool& reported, auto fact) {
    if (!expected_ || reported || now < last_alive_ + span) return;
    reported = true;
    out_.facts.emplace_back(fact);
    log("nothing heard for " + to_go_duration(span));
  };
  report(settings_.stale_after, stale_, StreamStale{kind_});
  report(settings_.lost_after, lost_, StreamLost{kind_});
  out_.wake = until_;
  if (expected_ && !stale_)
    out_.wake = std::min(out_.wake, last_alive_ + settings_.stale_after);
  else if (expected_ && !lost_)
    out_.wake = std::min(out_.wake, last_alive_ + settings_.lost_after);
  count_changes(now);
  counted_ = 0;
  return std::exchange(out_, ReflectorOutput{});
}

void Reflector::alive(LogTime now) {
  last_alive_ = now;
  if (overflowing_ || (!stale_ && !lost_)) return;
  stale_ = lost_ = false;
  last_diagnostic_.clear();
  out_.diagnostics.push_back(std::string(info(kind_).resource) + ": heard again");
  // A list that is under way ends with a fact of its own (ListCompleted).
  if (phase_ == Phase::watching) out_.facts.emplace_back(StreamAlive{kind_, resource_version_});
}

ReflectorOutput Reflector::expected(LogTime now) {
  last_alive_ = now;
  expected_ = wanted();
  return finish(now);
}

ReflectorOutput Reflector::moved(LogTime now) {
  out_.cancel = true;
  phase_ = Phase::unserved;
  until_ = kForever;
  synced_ = false;
  overflowing_ = false;
  backoff_.reset();
  if (scope_.breadth == WatchScope::Breadth::everywhere_if_allowed) namespace_.clear();
  decoder_.reset();
  return finish(now);
}

ReflectorOutput Reflector::disconnected(LogTime now) {
  if (wanted()) {
    if (!lost_) out_.facts.emplace_back(StreamLost{kind_});
    stale_ = lost_ = true;
  }
  return moved(now);
}

ReflectorOutput Reflector::confine(LogTime now, WatchScope scope) {
  if (scope == scope_) return finish(now);
  const bool was_wanted = wanted();
  scope_ = std::move(scope);
  namespace_ = scope_.breadth == WatchScope::Breadth::one_namespace ? scope_.namespace_ : "";
  if (!wanted()) {
    // What is known stays: a later list reports what has vanished by then.
    expected_ = stale_ = lost_ = false;
    return moved(now);
  }
  out_.rediscover = !was_wanted;
  if (phase_ == Phase::unserved) return finish(now);
  out_.cancel = true;
  backoff_.reset();
  start_list(now);
  return finish(now);
}

ReflectorOutput Reflector::hurry(LogTime now) {
  if (phase_ != Phase::waiting) return finish(now);
  until_ = now;
  return timer(now);
}

ReflectorOutput Reflector::served(LogTime now, std::optional<std::string> version) {
  if (!wanted()) return finish(now);
  if (!version) {
    // A kind that was never served is absent, not silent.
    if (version_.empty()) expected_ = false;
    // An outstanding request gets its own 404; a complete picture is kept until then.
    if (phase_ == Phase::unserved || phase_ == Phase::waiting) {
      phase_ = Phase::unserved;
      until_ = kForever;
    }
    return finish(now);
  }
  if (*version == version_ && phase_ != Phase::unserved) return finish(now);
  if (phase_ != Phase::unserved) out_.cancel = true;
  // Another version has other fields: every object is reported again.
  if (*version != version_) known_.forget_versions();
  version_ = *version;
  if (!expected_) last_alive_ = now;
  expected_ = true;
  backoff_.reset();
  start_list(now);
  return finish(now);
}

void Reflector::start_list(LogTime now) {
  known_.begin_list();
  if (streaming_lists_)
    request_streaming_list(now);
  else
    start_paged_list(now);
}

void Reflector::start_paged_list(LogTime now) {
  known_.begin_list();
  phase_ = Phase::paging;
  until_ = now + settings_.request_timeout;
  request_page({});
}

// Requests what the scope selects. An API server answers 406 where a list is asked for as
// PartialObjectMetadata, and sends nothing on a watch that is asked for as a list of it.
void Reflector::request(ReflectorRequest::Kind kind, const std::string& query) {
  std::string target = collection() + "?" + query;
  if (!scope_.label_selector.empty())
    target += "&labelSelector=" + url_encode(scope_.label_selector);
  std::string_view accept = "application/json";
  if (scope_.part == ObjectPart::metadata)
    accept = kind == ReflectorRequest::Kind::page
                 ? "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
                 : "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
  out_.request = ReflectorRequest{kind, std::move(target), accept};
}

void Reflector::request_page(const std::string& continue_token) {
  std::string query = "limit=" + std::to_string(page_limit_);
  if (!continue_token.empty()) query += "&continue=" + url_encode(continue_token);
  request(ReflectorRequest::Kind::page, query);
}

void Reflector::request_streaming_list(LogTime now) {
  request_stream("&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
  phase_ = Phase::streaming_list;
  until_ = now + settings_.list_silence_max;
}

void Reflector::request_watch(LogTime now) {
  request_stream("&resourceVersion=" + url_encode(resource_version_));
  phase_ = Phase::watching;
  until_ = now + settings_.watch_silence_max;
}

// Requests a stream; `from` is the part of the query for where it begins.
void Reflector::request_stream(const std::string& from) {
  const std::int64_t length = settings_.watch_length.ns / 1'000'000'000;
  const std::int64_t seconds_asked =
      length + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(length + 1));
  decoder_.reset();
  stream_useful_ = false;
  opened_at_ = kForever;
  request(ReflectorRequest::Kind::watch, "watch=true&allowWatchBookmarks=true&timeoutSeconds=" +
                                             std::to_string(seconds_asked) + from);
}

void Reflector::wait(LogTime now, Duration span, Next next) {
  phase_ = Phase::waiting;
  next_ = next;
  until_ = now + span;
}

void Reflector::back_off(LogTime now, Next next, std::optional<Duration> at_least) {
  Duration span = jittered(backoff_.next(settings_.backoff_first, settings_.backoff_max));
  if (at_least) span = std::max(span, bounded_retry_after(*at_least, settings_));
  wait(now, span, next);
}

// Reports the failure, and the wait, to the millisecond, if the server asks for one.
void Reflector::retry_later(LogTime now, int status, std::string_view body, Next next,
                            std::optional<Duration> retry_after) {
  ++counters_.errors;
  back_off(now, next, retry_after);
  std::string line = status_text(status, body);
  if (retry_after) {
    Duration span = until_ - now;
    span.ns -= span.ns % 1'000'000;
    line += retry_after_text(retry_after) + "; asked again in " + to_go_duration(span);
  }
  log(std::move(line));
}

void Reflector::slow_down(LogTime now, int status, std::string_view body) {
  ++counters_.errors;
  synced_ = false;
  if (status == 403 && narrowed(now)) return;
  log(status_text(status, body));
  if (status == 403) refused();
  // With growing pauses: a server that is starting refuses for a moment, too.
  back_off(now, Next::list, std::nullopt);
  out_.rediscover = status == 404;
}

// After a refusal of all namespaces, lists the one that may be allowed; true if it does. The
// attempt after that is for all namespaces again.
bool Reflector::narrowed(LogTime now) {
  if (scope_.breadth != WatchScope::Breadth::everywhere_if_allowed) return false;
  const bool narrow = namespace_.empty();
  namespace_ = narrow ? scope_.namespace_ : "";
  if (narrow) start_list(now);
  return narrow;
}

// Reports the refusal of a kind that may stay unread, once, so that planning does not wait for it.
void Reflector::refused() {
  if (lost_ || !may_stay_unread(kind_)) return;
  stale_ = lost_ = true;
  out_.facts.emplace_back(StreamLost{kind_});
}

void Reflector::failed_list(LogTime now, int status, std::string_view body,
                            std::optional<Duration> retry_after) {
  if (status == 401 || status == 403 || status == 404) {
    slow_down(now, status, body);
    return;
  }
  retry_later(now, status, body, Next::list, retry_after);
}

ReflectorOutput Reflector::page(LogTime now, int status, std::string_view body,
                                std::optional<Duration> retry_after) {
  if (phase_ == Phase::locating)
    located(now, status, body, retry_after);
  else if (phase_ == Phase::paging)
    handle_page(now, status, body, retry_after);
  return finish(now);
}

void Reflector::handle_page(LogTime now, int status, std::string_view body,
                            std::optional<Duration> retry_after) {
  if (status == 410) {  // the continue token is too old: from the start, but not in a tight circle
    ++counters_.errors;
    ++counters_.relists;
    back_off(now, Next::list, std::nullopt);
    return;
  }
  if (status == 413 && page_limit_ > 1) {  // our own client's status for an answer that is too long
    page_limit_ = std::max<std::int64_t>(1, page_limit_ / 4);
    start_paged_list(now);
    return;
  }
  if (status != 200) {
    failed_list(now, status, body, retry_after);
    return;
  }
  JsonFault fault;
  auto document = parse_json(body, fault, kJsonFileBytesMax);
  if (!document || !document->root().is(JsonKind::object)) {
    ++counters_.malformed;
    failed_list(now, 0, "a page that is no JSON: " + std::string(printable(fault.what)),
                std::nullopt);
    return;
  }
  ++counters_.pages;
  alive(now);
  for (JsonView item : document->root()["items"]) {
    listed(item, {}, {});
    if (too_many()) return overflow(now, StaleCause::too_many);
  }
  JsonView metadata = document->root()["metadata"];
  if (const std::string_view more = metadata["continue"].string(); !more.empty()) {
    until_ = now + settings_.request_timeout;
    request_page(std::string(more));
    return;
  }
  finish_list(std::string(metadata["resourceVersion"].string()));
  request_watch(now);
}

void Reflector::listed(JsonView object, std::string_view line, const LineFingerprint::Hash& rest) {
  auto seen = project_as(kind_, version_, object);
  if (seen.has_error()) {
    ++counters_.malformed;
    if (!identity_of(object).name.empty()) ++counters_.refused;
    return;
  }
  if (!*seen) return;
  ObjectSeen& found = **seen;
  found.raw =
      line.empty() ? RawObject{raw_to_keep(kind_, object), nullptr} : raw_of_line(kind_, line);
  auto* const at = known_.find(found.key.namespace_, found.key.name);
  KnownObjects::Object& known = at ? *at : known_.add_sought();
  known_.mark_listed(known);
  const bool same = !known.resource_version.empty() && known.uid == found.uid &&
                    known.resource_version == found.resource_version;
  if (same) {
    ++counters_.duplicates;
    return;
  }
  if (!known.uid.empty() && known.uid != found.uid)
    out_.facts.emplace_back(ObjectMissing{found.key, known.uid, {}});
  // The list was requested after every event of the stream: a lower version means that the store
  // was restored.
  found.went_back =
      known.uid == found.uid && is_lower_version(found.resource_version, known.resource_version);
  went_back_ = went_back_ || found.went_back;
  known.uid = found.uid;
  known.resource_version = found.resource_version;
  known.rest = rest;
  out_.facts.emplace_back(std::move(found));
}

// Reports as missing every known object that the list did not contain.
void Reflector::report_unlisted() {
  for (auto& [name_space, name, uid] : known_.erase_unlisted())
    out_.facts.emplace_back(
        ObjectMissing{{kind_, std::move(name_space), std::move(name)}, std::move(uid), {}});
}

void Reflector::finish_list(const std::string& resource_version) {
  report_unlisted();
  if (std::exchange(overflowing_, false)) stale_ = lost_ = false;
  went_back_ = went_back_ || is_lower_version(resource_version, resource_version_);
  if (went_back_)
    log("the server's store went back (restored?): the list of " + resource_version +
        " counts, not what was shown up to " + resource_version_);
  resource_version_ = resource_version;
  position_doubted_ = false;
  out_.facts.emplace_back(ListCompleted{kind_, resource_version, std::exchange(went_back_, false)});
  ++counters_.lists;
  synced_ = true;
  if (!last_diagnostic_.empty()) log("listed");
  last_diagnostic_.clear();
}

void Reflector::adjust(const ReflectorSettings& settings) {
  const bool other_bounds = settings.nodes_max != settings_.nodes_max ||
                            settings.changes_per_minute != settings_.changes_per_minute;
  if (overflowing_ && phase_ == Phase::waiting && other_bounds) until_ = {};
  settings_ = settings;
  if (other_bounds) set_budget();
}

void Reflector::set_budget() {
  budget_.set(settings_.changes_per_minute, static_cast<std::int64_t>(settings_.nodes_max) * 2);
}

ReflectorOutput Reflector::timer(LogTime now) {
  if (phase_ == Phase::watching && too_many()) {
    overflow(now, StaleCause::too_many);
    return finish(now);
  }
  if (now < until_) return finish(now);
  switch (phase_) {
    case Phase::unserved: until_ = kForever; break;
    case Phase::waiting:
      if (overflowing_)
        locate(now);
      else if (next_ == Next::list)
        start_list(now);
      else
        resume(now);
      break;
    case Phase::locating:
      out_.cancel = true;
      located(now, 0, "no page within " + to_go_duration(settings_.request_timeout), std::nullopt);
      break;
    case Phase::paging:
      out_.cancel = true;
      failed_list(now, 0, "no page within " + to_go_duration(settings_.request_timeout),
                  std::nullopt);
      break;
    case Phase::streaming_list:
      ++counters_.silences;
      out_.cancel = true;
      streaming_lists_ = false;
      log("a streaming list that never ended: listing in pages");
      start_paged_list(now);
      break;
    case Phase::watching:
      ++counters_.silences;
      out_.cancel = true;
      // Silence proves nothing by itself (bookmarks may never come): watch again from the same
      // version, if the store still has it.
      position_doubted_ = true;
      resume(now);
      break;
  }
  return finish(now);
}

}  // namespace fairlead
