#include "engine/main/service/log_replication.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include "engine/log/pack.h"
#include "engine/runtime/system_clock.h"

namespace fairlead {

namespace {

/// Between two attempts to reach a server at the start.
constexpr std::chrono::seconds kJoinInterval{1};
/// How long a process that ends waits until the Lease is given up.
constexpr std::chrono::seconds kReleaseMax{3};
/// How old leads() may be: far less than what renewDeadline leaves.
constexpr Duration kLookInterval = milliseconds(250);

/// The Lease's annotation with the id of the log whose leader has listed every kind once.
constexpr const char* kListedAnnotation = "fairlead.io/listed";
constexpr Duration kListedInterval = seconds(1);
/// Servers are upgraded while a hub runs.
constexpr Duration kVersionInterval = minutes(1);
/// Positions are not told more often.
constexpr Duration kPositionLeast = seconds(1);

bool may_come_back(const Error& error) {
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::denied;
}

}  // namespace

std::optional<RingPlace> place_in_ring(const NamedLog& log, const std::vector<RingSlot>& slots,
                                       Seq last, const Digest& chain) {
  std::optional<std::uint64_t> base;
  std::optional<RingPlace> place;
  for (const RingSlot& slot : slots) {
    const RingCommit& commit = slot.commit;
    if (commit.pack.empty() || commit.log != log.id) continue;
    base = std::min(base.value_or(commit.commit), commit.commit);
    const auto header = read_pack_header(commit.pack);
    if (!header) continue;
    if (header->digest == chain && header->last() == last)
      place = RingPlace{log.id, log.slots, commit.commit + 1, slot.version, last, chain};
    else if (!place && header->previous == chain && header->first == next(last))
      place = RingPlace{log.id, log.slots, commit.commit, 0, last, chain};
  }
  // A log that was begun and has no commit.
  if (!base && last == Seq{}) place = RingPlace{log.id, log.slots, 0, 0, {}, {}};
  if (place) place->base = base.value_or(0);
  return place;
}

Result<std::unique_ptr<LogReplication>> LogReplication::make(const HubRoleSettings& settings,
                                                             const Credentials& credentials,
                                                             ReplicaIdentity identity,
                                                             Logger logger,
                                                             std::function<void()> wake) {
  std::unique_ptr<LogReplication> made(
      new LogReplication(settings, std::move(logger), std::move(wake)));
  LogReplication& self = *made;
  self.identity_ = std::move(identity);
  LeaseElector::Events events;
  events.won = events.lost = [&self] {
    self.look();
    self.wake_();
  };
  events.say = [&self](const std::string& line) { self.logger_({Severity::info, line, {}}); };
  auto servers = RingServers::make(settings, credentials, self.identity_.run, std::move(events));
  if (!servers) return servers.error();
  made->servers_ = *std::move(servers);
  made->poll_ = std::make_unique<ReplicaPoll>(made->servers_->loop(), self.identity_.others);
  return made;
}

LogReplication::~LogReplication() {
  if (log_) log_->close();
  if (servers_)
    servers_->loop().run([this] {
      looking_.reset();
      listing_.reset();
      asking_.reset();
      replicas_.reset();
      poll_.reset();
    });
  servers_.reset();  // first: its callbacks use the rest
}

// Of several that begin at once, one names the log.
Result<RingPlace> LogReplication::create() {
  const NamedLog log = new_log(settings_.replication.window);
  auto named = servers_->write_name(log);
  // Somebody else was faster, whose log is joined.
  if (!named && named.error().code == ErrorCode::conflict)
    return Error{ErrorCode::unavailable, named.error().message};
  if (!named) return named.error();
  logger_({Severity::info, "a replicated log was begun", {{"log", log.id}}});
  if (auto made = servers_->make_slots(log); !made) return made.error();
  return RingPlace{log.id, log.slots, 0, 0, {}, {}};
}

Result<RingPlace> LogReplication::find(const RocksdbLog& local) {
  const std::string& lease = settings_.election.lease;
  const auto ours = local.ring_place();
  if (!ours) return ours.error();
  const auto named = servers_->read_name();
  if (!named) return named.error();
  if (!*named && (*ours || local.last_seq() != Seq{}))
    return Error{ErrorCode::not_found, "Lease " + lease +
                                           " names no log, and the data directory holds one: "
                                           "`fairlead log replicate` makes it the replicated log"};
  if (!*named && !settings_.replication.create)
    return Error{ErrorCode::not_found,
                 "Lease " + lease +
                     " names no log: `fairlead log replicate` makes one of "
                     "a log that is there, log.replication.create an empty one"};
  if (!*named) return create();
  const NamedLog& log = **named;
  if (*ours && ((*ours)->log != log.id || (*ours)->slots != log.slots))
    return Error{ErrorCode::conflict, "Lease " + lease + " names log " + to_text(log) +
                                          ", and the data directory is a copy of log " +
                                          to_text(NamedLog{(*ours)->log, (*ours)->slots})};
  if (*ours) return **ours;
  // Whoever began the log may have died before it had made them all.
  if (settings_.replication.create)
    if (auto made = servers_->make_slots(log); !made) return made.error();
  const auto slots = servers_->list();
  if (!slots) return slots.error();
  if (auto place = place_in_ring(log, *slots, local.last_seq(), local.chain())) return *place;
  return Error{ErrorCode::gone,
               "log " + log.id + " no longer has in its ring what follows seq " +
                   std::to_string(local.last_seq().value) +
                   " of this data directory, or it is another log: import an export of a replica "
                   "into an empty directory (docs/high-availability.md)"};
}

template <class T>
Result<T> LogReplication::insist(const std::function<Result<T>()>& attempt) const {
  std::string said;
  auto got = attempt();
  while (!got && may_come_back(got.error())) {
    if (said != got.error().message)
      logger_({Severity::warn, "waiting for the replicated log", {{"why", got.error().message}}});
    said = got.error().message;
    std::this_thread::sleep_for(kJoinInterval);
    got = attempt();
  }
  return got;
}

Result<bool> LogReplication::needs_copy() {
  return insist<bool>([this]() -> Result<bool> {
    const auto named = servers_->read_name();
    if (!named) return named.error();
    if (!*named) return false;
    const auto slots = servers_->list();
    if (!slots) return slots.error();
    return !place_in_ring(**named, *slots, {}, {});
  });
}

Result<ReplicatedLog*> LogReplication::join(RocksdbLog& local) {
  auto place = insist<RingPlace>([&] { return find(local); });
  if (!place) return place.error();
  if (auto set = local.set_ring_place(*place); !set) return set.error();
  IoLoop& loop = servers_->loop();
  ReplicatedLogPorts ports;
  ports.post = [&loop](std::function<void()> work) { loop.post(std::move(work)); };
  ports.wake = wake_;
  ports.now = [&loop] { return loop.now(); };
  ports.say = [this](const std::string& line) { logger_({Severity::warn, line, {}}); };
  log_ = std::make_unique<ReplicatedLog>(local, *std::move(place), *servers_->store(),
                                         settings_.replication.pace, std::move(ports));
  return log_.get();
}

void LogReplication::elect() {
  elected_ = true;
  servers_->loop().post([this] {
    servers_->elector().start();
    look_again();
    if (!log_) return;
    tell_position();
    look_at_version();
  });
}

void LogReplication::look_at_version() {
  servers_->ask_version([this](const std::string& version) {
    const std::lock_guard lock(mutex_);
    if (!version.empty()) server_version_ = version;
  });
  asking_ = servers_->loop().after(kVersionInterval, [this] { look_at_version(); });
}

std::optional<ReplicationReport> LogReplication::report(const RoleStats& role) const {
  if (role.store.empty()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  return ReplicationReport{role.store,     role.role == HubRole::leader ? "leader" : "follower",
                           role.leader,    role.place,
                           role.copies,    role.lag_commits,
                           role.lag,       role.trouble,
                           server_version_};
}

// A position may be half a window old at full pace, and still says that its replica is inside.
void LogReplication::tell_position() {
  const std::string& lease = settings_.election.lease;
  const std::size_t slash = lease.find('/');
  const ReplicationSettings& replication = settings_.replication;
  const Duration half = seconds(replication.window / (2 * replication.pace.per_second));
  ReplicaLeaseSettings settings;
  settings.namespace_ = lease.substr(0, slash);
  settings.lease = lease.substr(slash + 1);
  settings.name = identity_.replica;
  settings.period = std::clamp(half, kPositionLeast, settings.period);
  settings.wall_clock = utc_now;
  ReplicaLeases::Ports ports;
  ports.own = [this] {
    const RingPlace place = log_->state().place;
    return ReplicaPosition{place.log, place.next, identity_.address};
  };
  ports.others = [this](const std::map<std::string, ReplicaPosition>& others) {
    const std::lock_guard lock(mutex_);
    others_ = others;
  };
  ports.say = [this](const std::string& line) { logger_({Severity::warn, line, {}}); };
  replicas_ =
      std::make_unique<ReplicaLeases>(servers_->kube(), std::move(settings), std::move(ports));
}

std::vector<std::uint64_t> LogReplication::copies() const {
  const std::string log = log_ ? log_->state().place.log : "";
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> copies;
  for (const auto& [name, position] : others_)
    if (position.log == log) copies.push_back(position.commits);
  return copies;
}

void LogReplication::ask_others() {
  {
    const std::lock_guard lock(mutex_);
    others_said_ = {};
  }
  // Their Leases are read anew: this process may have begun a moment ago.
  servers_->loop().post([this] {
    if (replicas_) replicas_->read([this] { poll_others(); });
  });
}

void LogReplication::poll_others() {
  const std::string log = log_->state().place.log;
  std::vector<std::string> addresses;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, position] : others_)
      if (position.log == log && !position.address.empty()) addresses.push_back(position.address);
    awaited_ = addresses.size();
    others_said_ = {0, addresses.empty()};
  }
  if (addresses.empty()) return wake_();
  poll_->ask(addresses, [this](const Result<ReplicaPosition>& said) { other_said(said); });
}

void LogReplication::other_said(const Result<ReplicaPosition>& said) {
  if (!said)
    logger_({Severity::info,
             "another replica does not say how much of the log it has",
             {{"why", said.error().message}}});
  {
    const std::string log = log_->state().place.log;
    const std::lock_guard lock(mutex_);
    if (said && said->log == log)
      others_said_.commits = std::max(others_said_.commits, said->commits);
    others_said_.all = --awaited_ == 0;
  }
  wake_();
}

OthersSaid LogReplication::others() const {
  const std::lock_guard lock(mutex_);
  return others_said_;
}

void LogReplication::yield() {
  servers_->loop().post([this] {
    servers_->elector().yield();
    leads_until_ = 0;
    look();
  });
}

void LogReplication::say_listed() {
  servers_->loop().post([this] { write_listed(); });
}

// Tried again while this process leads: the Lease may be renewed at the same time.
void LogReplication::write_listed() {
  LeaseElector& elector = servers_->elector();
  if (listed_ || !elector.leads() || !log_) return;
  elector.annotate({{kListedAnnotation, log_->state().place.log}}, [this](const Result<void>& how) {
    if (!how) listing_ = servers_->loop().after(kListedInterval, [this] { write_listed(); });
  });
}

void LogReplication::look() {
  const LeaseElector& elector = servers_->elector();
  if (elector.seen() && log_) {
    const auto& annotations = elector.seen()->annotations;
    const auto listed = annotations.find(kListedAnnotation);
    listed_ = listed != annotations.end() && listed->second == log_->state().place.log;
  }
  {
    const std::lock_guard lock(mutex_);
    leader_ = elector.seen() ? elector.seen()->holder : "";
  }
  // With an etcd of its own the leader goes on while the API server, which keeps the Lease, does
  // not answer: nobody else can take it then, and the ring decides who appends.
  const bool holds = elector.seen() && elector.seen()->holder == identity_.run;
  if (elector.leads())
    leads_until_ = elector.leads_until().ns;
  else if (!settings_.replication.etcd || !holds || leads_until_ == 0)
    leads_until_ = 0;
  else
    leads_until_ = (servers_->loop().now() + settings_.election.renew_deadline).ns;
}

void LogReplication::look_again() {
  look();
  looking_ = servers_->loop().after(kLookInterval, [this] { look_again(); });
}

bool LogReplication::leads() const { return servers_->loop().now().ns < leads_until_; }

std::string LogReplication::leader() const {
  const std::lock_guard lock(mutex_);
  return leader_;
}

void LogReplication::release() {
  if (!elected_.exchange(false)) return;
  const auto released = std::make_shared<std::promise<void>>();
  auto done = released->get_future();
  servers_->loop().post(
      [this, released] { servers_->elector().release([released] { released->set_value(); }); });
  done.wait_for(kReleaseMax);
}

std::unique_ptr<LoopWatch::Loop> LogReplication::watched_by(LoopWatch& watch) {
  IoLoop& loop = servers_->loop();
  return watch.watch("the replicated log",
                     [&loop](std::function<void()> work) { loop.post(std::move(work)); });
}

}  // namespace fairlead
