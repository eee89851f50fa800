#include "engine/main/service/log_replication.h"

#include <chrono>
#include <future>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "connectors/kube/watch/random_bits.h"
#include "connectors/ring/kube_commit_store.h"
#include "engine/runtime/system_clock.h"

namespace fairlead {

namespace {

/// Between two attempts to reach a server at the start.
constexpr std::chrono::seconds kJoinInterval{1};
/// Slots that are made at a time.
constexpr std::uint32_t kSlotsAtATime = 16;
/// How long a process that ends waits until the Lease is given up.
constexpr std::chrono::seconds kReleaseMax{3};
/// How old leads() may be: far less than what renewDeadline leaves.
constexpr Duration kLookInterval = milliseconds(250);

std::string new_log_id() {
  std::ostringstream id;
  id << std::hex;
  for (int part = 0; part < 2; ++part) {
    id.width(16);
    id.fill('0');
    id << random_bits();
  }
  return id.str();
}

}  // namespace

std::optional<NamedLog> read_named_log(const std::string& annotation) {
  std::istringstream words(annotation);
  NamedLog log;
  words >> log.id >> log.slots;
  if (!words || !words.eof() || log.id.size() != 32 || log.slots == 0) return std::nullopt;
  return log;
}

std::string to_text(const NamedLog& log) { return log.id + " " + std::to_string(log.slots); }

LogReplication::LogReplication(const HubRoleSettings& settings, Logger logger,
                               std::function<void()> wake)
    : settings_(settings), logger_(std::move(logger)), wake_(std::move(wake)) {}

Result<std::unique_ptr<LogReplication>> LogReplication::make(const HubRoleSettings& settings,
                                                             const Credentials& credentials,
                                                             std::string identity, Logger logger,
                                                             std::function<void()> wake) {
  std::unique_ptr<LogReplication> made(
      new LogReplication(settings, std::move(logger), std::move(wake)));
  if (auto connected = made->connect(credentials, std::move(identity)); !connected)
    return connected.error();
  return made;
}

Result<void> LogReplication::connect(const Credentials& credentials, std::string identity) {
  auto client = HttpClient::make(loop_, credentials, {});
  if (!client) return client.error();
  kube_ = *std::move(client);
  if (const auto& ring = settings_.replication.kubernetes)
    store_ = std::make_unique<KubeCommitStore>(*kube_, KubeRingPlace{ring->namespace_, ring->name});
  LeaseSettings lease;
  const LeaderElectionSettings& election = settings_.election;
  const std::size_t slash = election.lease.find('/');
  lease.namespace_ = election.lease.substr(0, slash);
  lease.name = election.lease.substr(slash + 1);
  lease.identity = std::move(identity);
  lease.lease_duration = election.lease_duration;
  lease.renew_deadline = election.renew_deadline;
  lease.retry_period = election.retry_period;
  lease.random = random_bits;
  lease.wall_clock = utc_now;
  LeaseElector::Events events;
  events.won = events.lost = [this] {
    look();
    wake_();
  };
  events.say = [this](const std::string& line) {
    look();
    logger_({Severity::info, line, {{"lease", settings_.election.lease}}});
  };
  elector_ = std::make_unique<LeaseElector>(*kube_, std::move(lease), std::move(events));
  return {};
}

LogReplication::~LogReplication() {
  if (log_) log_->close();
  loop_.run([this] {
    looking_.reset();
    elector_.reset();
    store_.reset();
    if (kube_) kube_->stop();
    if (etcd_) etcd_->stop();
    kube_.reset();
    etcd_.reset();
  });
  loop_.stop();
}

// Has the loop's thread do what ends later, and waits for that.
void LogReplication::on_loop(std::function<void(std::function<void()> done)> work) const {
  std::promise<void> ended;
  loop_.post([&work, &ended] { work([&ended] { ended.set_value(); }); });
  ended.get_future().wait();
}

Result<std::optional<NamedLog>> LogReplication::read_name() {
  Result<std::optional<NamedLog>> named = std::optional<NamedLog>();
  on_loop([&](const std::function<void()>& done) {
    elector_->read([&, done](const Result<void>& read) {
      const auto& seen = elector_->seen();
      if (!read) named = read.error();
      if (read && seen)
        if (const auto at = seen->annotations.find(kLogAnnotation); at != seen->annotations.end()) {
          auto log = read_named_log(at->second);
          if (log)
            named = std::move(log);
          else
            named = Error{ErrorCode::corrupt, "Lease " + settings_.election.lease +
                                                  ": annotation " + kLogAnnotation + ": \"" +
                                                  at->second + "\" is not \"ID SLOTS\""};
        }
      done();
    });
  });
  return named;
}

// The name first, by the Lease's version: of several that begin at once, one names the log.
Result<NamedLog> LogReplication::create_log(const std::optional<NamedLog>& unfinished) {
  NamedLog log = unfinished.value_or(
      NamedLog{new_log_id(), static_cast<std::uint32_t>(settings_.replication.window)});
  if (!unfinished) {
    Result<void> named;
    on_loop([&](const std::function<void()>& done) {
      elector_->annotate({{kLogAnnotation, to_text(log)}}, [&, done](Result<void> written) {
        named = std::move(written);
        done();
      });
    });
    if (!named) return named.error();
    logger_({Severity::info, "a replicated log was begun", {{"log", log.id}}});
  }
  if (auto made = make_slots(log); !made) return made.error();
  return log;
}

Result<void> LogReplication::make_slots(const NamedLog& log) {
  Result<void> made;
  std::uint32_t next = 0;
  std::uint32_t under_way = 0;
  std::function<void()> done;
  std::function<void()> make_more = [&] {
    while (made && next < log.slots && under_way < kSlotsAtATime) {
      ++under_way;
      store_->create({log.id, log.slots, next++, {}, 0, {}}, [&](const StoreAnswer& answer) {
        --under_way;
        if (answer.result != StoreResult::stored && answer.result != StoreResult::conflict)
          made = Error{ErrorCode::unavailable, answer.why};
        make_more();
      });
    }
    if (under_way == 0) done();
  };
  on_loop([&](const std::function<void()>& ended) {
    done = ended;
    make_more();
  });
  return made;
}

Result<NamedLog> LogReplication::find_log(const std::optional<RingPlace>& ours) {
  auto named = read_name();
  if (!named) return named.error();
  if (*named) {
    if (ours && ours->log != (*named)->id)
      return Error{ErrorCode::conflict, "the data directory is a copy of log " + ours->log +
                                            ", and the Lease " + settings_.election.lease +
                                            " names log " + (*named)->id};
    // Slots that whoever began the log did not come to make.
    return settings_.replication.create && !ours ? create_log(*named) : Result<NamedLog>(**named);
  }
  if (ours)
    return Error{ErrorCode::not_found, "the Lease " + settings_.election.lease +
                                           " names no log, and the data directory is a copy of " +
                                           ours->log + ": see `fairlead log replicate --help`"};
  if (!settings_.replication.create)
    return Error{ErrorCode::not_found,
                 "the Lease " + settings_.election.lease +
                     " names no log: make one with `fairlead log replicate`, or set "
                     "log.replication.create"};
  return create_log(std::nullopt);
}

Result<ReplicatedLog*> LogReplication::join(RocksdbLog& local) {
  const auto ours = local.ring_place();
  if (!ours) return ours.error();
  if (!*ours && local.last_seq() != Seq{})
    return Error{ErrorCode::conflict,
                 "the data directory holds a log that is not replicated: `fairlead log replicate` "
                 "makes a replicated log of it, and an empty directory joins one"};
  std::string said;
  auto found = find_log(*ours);
  while (!found &&
         (found.error().code == ErrorCode::unavailable || found.error().code == ErrorCode::denied ||
          // Somebody else named the log first.
          (found.error().code == ErrorCode::conflict && !*ours))) {
    if (said != found.error().message)
      logger_({Severity::warn, "waiting for the replicated log", {{"why", found.error().message}}});
    said = found.error().message;
    std::this_thread::sleep_for(kJoinInterval);
    found = find_log(*ours);
  }
  if (!found) return found.error();
  RingPlace place = ours->value_or(RingPlace{found->id, found->slots, 0, 0, {}, {}});
  if (!*ours)
    if (auto set = local.set_ring_place(place); !set) return set.error();
  ReplicatedLogPorts ports;
  ports.post = [this](std::function<void()> work) { loop_.post(std::move(work)); };
  ports.wake = wake_;
  ports.now = [this] { return loop_.now(); };
  ports.say = [this](const std::string& line) { logger_({Severity::warn, line, {}}); };
  log_ = std::make_unique<ReplicatedLog>(local, std::move(place), *store_,
                                         settings_.replication.pace, std::move(ports));
  return log_.get();
}

void LogReplication::elect() {
  elected_ = true;
  loop_.post([this] {
    elector_->start();
    look_again();
  });
}

void LogReplication::look() {
  {
    const std::lock_guard lock(mutex_);
    leader_ = elector_->seen() ? elector_->seen()->holder : "";
  }
  leads_until_ = elector_->leads() ? elector_->leads_until().ns : 0;
}

void LogReplication::look_again() {
  look();
  looking_ = loop_.after(kLookInterval, [this] { look_again(); });
}

bool LogReplication::leads() const { return loop_.now().ns < leads_until_; }

std::string LogReplication::leader() const {
  const std::lock_guard lock(mutex_);
  return leader_;
}

void LogReplication::release() {
  if (!elected_.exchange(false)) return;
  const auto released = std::make_shared<std::promise<void>>();
  auto done = released->get_future();
  loop_.post([this, released] { elector_->release([released] { released->set_value(); }); });
  done.wait_for(kReleaseMax);
}

std::unique_ptr<LoopWatch::Loop> LogReplication::watched_by(LoopWatch& watch) {
  return watch.watch("the replicated log",
                     [this](std::function<void()> work) { loop_.post(std::move(work)); });
}

}  // namespace fairlead
