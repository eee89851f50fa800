#include "tests/simulation/world.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "engine/base/check.h"
#include "replay/bundle/bundle.h"
#include "schema/event_json.h"
#include "tests/simulation/checkers/reading.h"

namespace fairlead::simulation {
namespace {

constexpr LogTime kBeginning{1'767'225'600'000'000'000};  // 2026-01-01T00:00:00Z
constexpr Duration kQuiet = hours(1);

constexpr const char* kMemberNames[] = {"east", "north", "west", "south"};

std::string name_of_member(std::int64_t at) {
  const std::int64_t names = std::ssize(kMemberNames);
  return kMemberNames[at % names] + (at < names ? std::string() : std::to_string(at / names));
}

std::vector<std::string> member_names(const Storm& storm, const IncidentRef& incident) {
  if (incident) return incident->members;
  std::vector<std::string> names;
  for (std::int64_t at = 0; at < storm.members; ++at) names.push_back(name_of_member(at));
  return names;
}

Configuration configuration_of(const Storm& storm, const IncidentRef& incident) {
  Configuration configuration;
  if (incident) {
    configuration = incident->configuration;
    configuration.member_kubeconfigs.clear();
  } else {
    configuration.headroom.percent.clear();
    configuration.create_claims = false;
  }
  configuration.member_mode = storm.works != 0 ? MemberMode::manifest_work : MemberMode::none;
  if (storm.snapshot_every > 0) configuration.snapshot_every = storm.snapshot_every;
  for (const std::string& name : member_names(storm, incident))
    configuration.member_kubeconfigs.push_back({name, "", "virtual", ""});
  return configuration;
}

// In memory, where there is a file system in memory.
std::filesystem::path scratch_directory() {
  const std::filesystem::path memory = "/dev/shm";
  const bool in_memory = ::access(memory.c_str(), W_OK) == 0;
  const auto base = in_memory ? memory : std::filesystem::temp_directory_path();
  std::string name = (base / "fairlead-sim-XXXXXX").string();
  check(::mkdtemp(name.data()) != nullptr, "there is a place for files");
  return name;
}

std::string line_of(const Event& event) {
  std::string line = std::to_string(event.seq.value) + " " + std::string(fact_name(event.fact)) +
                     " " + event.source;
  if (const ObjectKey* key = object_of(event.fact))
    line += " " + std::string(info(key->kind).name) + " " +
            (key->namespace_.empty() ? "" : key->namespace_ + "/") + key->name;
  return line;
}

}  // namespace

World::World(const Storm& storm, Lines lines, Judged judged, IncidentRef incident)
    : storm_(storm),
      lines_(std::move(lines)),
      incident_(std::move(incident)),
      time_(kBeginning),
      faults_(storm_, time_, [this](SeenFault fault) { saw_fault(std::move(fault)); }),
      configuration_(configuration_of(storm, incident_)),
      hub_server_(time_, std::string(kHub), storm_, 0, wrote()),
      ring_(time_, static_cast<std::uint64_t>(storm_.seed)) {
  record_.began = kBeginning;
  make_objects();
  make_replicas();
  controllers_ = std::make_unique<Controllers>(*this);
  if (incident_)
    reenactment_ = std::make_unique<Reenactment>(*this, incident_);
  else
    people_ = std::make_unique<People>(*this);
  disasters_ = std::make_unique<Disasters>(*this);
  if (judged == Judged::yes) checkers_ = all_checkers(*this);
  for (const SeenWrite& write : record_.writes)  // what was there before
    for (const auto& checker : checkers_) checker->wrote(write);
}

void World::acknowledged(const std::string& replica, const Event& event) {
  record_.events.push_back({time_.now(), replica, event});
  for (const auto& checker : checkers_) checker->acknowledged(record_.events.back());
  if (lines_) say(replica, line_of(event));
}

void World::make_replicas() {
  const bool shared = storm_.replicas > 1;
  if (shared || storm_.snapshot_every > 0) directory_ = scratch_directory();
  if (shared) {
    roles_.slots = static_cast<std::uint32_t>(storm_.ring_slots);
    ring_.make(kRingLog, roles_.slots);
    const int rate = static_cast<int>(storm_.ring_faults);
    roles_.wrong_reads = rate;
    ring_.faults = {rate, rate, rate, rate, rate, 0, rate, rate, rate, rate, rate, rate, 0, 0};
  }
  for (std::int64_t at = 0; at < storm_.replicas; ++at) {
    Replica& replica = replicas_.emplace_back();
    replica.name = "hub-" + std::to_string(at);
    const std::int64_t rate = at % 2 == 0 ? storm_.clock_rate : -storm_.clock_rate;
    replica.clock = std::make_unique<HubClock>(time_, rate);
    if (storm_.snapshot_every > 0)
      replica.snapshots = std::make_unique<SnapshotStore>(directory_ / replica.name);
    if (!shared)
      replica.log = std::make_unique<KeptLog>(
          replica.name, faults_,
          [this, name = replica.name](const Event& event) { acknowledged(name, event); });
  }
}

World::~World() {
  for (Replica& replica : replicas_) {
    if (replica.life) replica.life->over = true;
    replica.process.reset();
    replica.local.reset();
  }
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

const EventLog& World::log(std::size_t at) const {
  const Replica& replica = replicas_[at];
  if (replica.log) return *replica.log;
  return *replica.local;
}

void World::make_objects() {
  if (incident_) {
    Storm empty = storm_;
    empty.nodes = 0;
    for (const std::string& name : incident_->members)
      members_.push_back(
          std::make_unique<Member>(time_, name, empty, members() + 1, wrote(), changed()));
    return;
  }
  for (const WorldObject& wanted : hub_objects())
    hub_server_.write("administrator", "POST", wanted.collection, wanted.object);
  if (storm_.devices > 0) hub_server_.write("administrator", "POST", kQueues, device_queue());
  for (std::int64_t at = 0; at < storm_.members; ++at) {
    const std::string name = name_of_member(at);
    hub_server_.write("ocm", "POST", kManagedClusters, managed_cluster(name).object);
    if (storm_.works != 0)
      hub_server_.write("ocm", "POST", kNamespaces, namespace_object(name).object);
    hub_server_.write("administrator", "POST", kClaims, claim_of(name, storm_));
    members_.push_back(std::make_unique<Member>(time_, name, storm_, at + 1, wrote(), changed()));
  }
}

Server::Wrote World::wrote() {
  return [this](SeenWrite write) {
    write.number = record_.writes.size() + 1;
    record_.writes.push_back(std::move(write));
    const SeenWrite& seen = record_.writes.back();
    note_admission(seen);
    for (const auto& checker : checkers_) checker->wrote(seen);
    if (lines_)
      say(seen.who, seen.method + " " + seen.server + seen.path + " " +
                        std::to_string(seen.status) + (seen.answer_lost ? " (unheard)" : ""));
    if (controllers_) controllers_->saw(seen);
  };
}

void World::note_admission(const SeenWrite& write) {
  if (write.server == kHub) return;
  for (const SeenChange& change : write.changes) {
    if (change.resource != kQueueResource) continue;
    SeenAdmission& seen =
        record_.admission.emplace_back(SeenAdmission{write.time, write.server, change.key, {}});
    if (change.after == nullptr) continue;
    for (const auto& [pair, nano] : nominals_of(*change.after, configuration_.resource_aliases))
      seen.quota[pair] = static_cast<std::int64_t>(nano / 1'000'000'000);
  }
}

Member::Changed World::changed() {
  return [this](SeenCapacity capacity) { record_.capacity.push_back(std::move(capacity)); };
}

void World::say(std::string_view who, const std::string& what) const {
  if (lines_) lines_(to_rfc3339(time_.now()) + " " + std::string(who) + " " + what);
}

void World::heard(const std::string& replica, const std::string& text) {
  for (const auto& checker : checkers_) checker->heard(replica, text);
  say(replica, text);
}

void World::saw_fault(SeenFault fault) {
  for (const Replica& replica : replicas_)
    if (replica.name == fault.where && replica.role_hub != nullptr && replica.role_hub->leads())
      ++record_.leaders[fault.kind];
  say(fault.where, fault.kind + " " + fault.what);
  record_.faults.push_back(std::move(fault));
  for (const auto& checker : checkers_) checker->faulted(record_.faults.back());
}

const State* World::state(std::size_t replica) const {
  const auto& process = replicas_[replica].process;
  return process == nullptr ? nullptr : &process->state();
}

Digest World::digest() const {
  std::string all;
  for (std::size_t at = 0; at < replicas(); ++at) all += log(at).chain().hex();
  return sha256(all);
}

std::unique_ptr<Process> World::make_process(Replica& replica, const HubWorld& world) {
  if (replica.log) {
    replica.log->open(replica.life);
    replica.clock->begin(replica.log->last_time());
    return std::make_unique<Hub>(world, replica.name, *replica.log, *replica.clock);
  }
  replica.local.reset();
  auto local = RocksdbLog::open(directory_ / replica.name, OpenMode::write);
  check(local.has_value(), "a copy of the log opens");
  replica.local = *std::move(local);
  replica.clock->begin(replica.local->last_time());
  auto made = std::make_unique<RoleHub>(
      world, replica.name, roles_, *replica.local, *replica.clock,
      [this, name = replica.name](const Event& event) { acknowledged(name, event); }, replica.told);
  replica.role_hub = made.get();
  return made;
}

// What an operator does for a replica that is behind the window (docs/high-availability.md): its
// volume is emptied, and it begins with a copy of what another one has. Returns whether there is
// one to copy from.
bool World::copy_log(Replica& replica) {
  const auto source = std::ranges::find_if(replicas_, [&](const Replica& other) {
    return &other != &replica && other.process != nullptr && !other.life->over && !other.behind &&
           other.told >= replica.told;
  });
  if (source == replicas_.end()) return false;
  const std::filesystem::path data = directory_ / replica.name, file = data.string() + ".copy";
  replica.local.reset();
  std::filesystem::remove_all(data);
  const SnapshotStore none(directory_ / "none");
  const SnapshotStore& snapshots = source->snapshots ? *source->snapshots : none;
  const auto exported =
      export_bundle(*source->local, snapshots, source->local->last_seq(), file, {});
  check(exported.has_value(), "a replica's log can be exported");
  const auto bundle = open_bundle(file);
  check(bundle.has_value(), "an export can be read");
  check(import_bundle(**bundle, data, {}).has_value(), "an export can be imported");
  auto copy = RocksdbLog::open(data, OpenMode::write);
  check(copy.has_value(), "a copy of a log opens");
  check((*copy)->set_ring_place(*source->local->ring_place()).has_value(), "it has a place");
  replica.behind = false;
  say(replica.name, "begins with a copy of the log of " + source->name);
  return true;
}

void World::start(Replica& replica) {
  if (replica.behind && !copy_log(replica)) {
    time_.post(seconds(30), [this, &replica] { start(replica); });
    return;
  }
  std::map<SourceName, Server*> servers{{std::string(kHub), &hub_server_}};
  for (const auto& member : members_) servers[member->name()] = &member->server();
  replica.life = std::make_shared<Life>();
  const auto said = [this, name = replica.name](const std::string& line) { heard(name, line); };
  const auto turned = [this, &replica] {
    const EventLog& log = replica.log ? static_cast<EventLog&>(*replica.log) : *replica.local;
    for (const auto& checker : checkers_)
      checker->turned(replica.name, replica.process->state(), log);
  };
  replica.process = make_process(replica, HubWorld{time_, faults_, replica.life, std::move(servers),
                                                   replica.snapshots.get(), said, turned});
  if (const auto begun = replica.process->begin(configuration_); !begun) {
    say(replica.name, begun.error().message);
    end(replica);
  }
}

void World::end(Replica& replica) {
  replica.life->over = true;
  replica.process.reset();
  replica.role_hub = nullptr;
  for (const auto& checker : checkers_) checker->died(replica.name);
  say(replica.name, "its process has ended");
  // Some come back late, as after the loss of their machine: the others have gone on without them.
  const bool late = replicas() > 1 && !faults_.healed() && faults_.below(4) == 0;
  time_.post(seconds(1 + faults_.below(late ? 1800 : 60)), [this, &replica] { start(replica); });
}

void World::pause(std::int64_t at, LogTime until) {
  Replica& replica = replicas_[static_cast<std::size_t>(at)];
  replica.life->paused = until;
  if (replica.role_hub == nullptr) return;
  replica.role_hub->store().pause();
  time_.post({(until - time_.now()).ns}, [&replica, life = replica.life] {
    if (!life->over && replica.role_hub != nullptr) replica.role_hub->store().resume();
  });
}

void World::lose_ring(LogTime until) {
  ring_.down = true;
  time_.post({(until - time_.now()).ns}, [this] { ring_.down = false; });
}

void World::restore_ring(Duration span, std::uint64_t jump) {
  time_.post(span, [this, jump, saved = ring_.save()] {
    if (faults_.healed()) return;
    faults_.begins(EpisodeKind::ring_restores, {}, "to version " + std::to_string(saved.version));
    ring_.restore(saved, jump);
  });
}

void World::say_again(std::int64_t at) {
  if (reenactment_)
    reenactment_->say_again(server(at).name());
  else if (at > 0)
    member(at - 1).register_again();
  else
    people_->say_again();
}

void World::heal() {
  if (people_) people_->end();
  if (reenactment_) reenactment_->end();
  disasters_->end();
  faults_.heal();
  ring_.faults = {};
  roles_.wrong_reads = 0;
  ring_.down = false;
  for (std::int64_t at = 0; at < servers(); ++at) server(at).mend();
  for (Replica& replica : replicas_) replica.clock->mend();
  record_.healed = time_.now();
  say("world", "faults heal");
}

std::optional<Failure> World::failure() const {
  for (const auto& checker : checkers_)
    if (!checker->failures().empty()) return checker->failures().front();
  return std::nullopt;
}

// From one moment at which something is due to the next.
void World::run_to(LogTime until) {
  while (!failure()) {
    LogTime next = until;
    for (Replica& replica : replicas_) {
      if (replica.process == nullptr) continue;
      if (!replica.life->over && time_.now() < replica.life->paused) {
        next = std::min(next, replica.life->paused);
        continue;
      }
      Result<void> settled;
      if (!replica.life->over) settled = replica.process->settle();
      if (!settled) say(replica.name, settled.error().message);
      replica.behind = replica.role_hub != nullptr && replica.role_hub->is_behind();
      if (!settled || replica.life->over || replica.behind)
        end(replica);
      else
        next = std::min(next, replica.process->next_due());
    }
    if (time_.now() >= until) break;
    time_.advance_to(std::max(std::min(next, time_.next_due()), time_.now()));
  }
}

std::optional<Failure> World::run() {
  for (Replica& replica : replicas_) start(replica);
  run_to(time_.now() + minutes(storm_.minutes));
  heal();
  run_to(time_.now() + minutes(storm_.settle_minutes));
  record_.quiet = time_.now();
  say("world", "an hour of quiet");
  run_to(time_.now() + kQuiet);
  if (!failure())
    for (const auto& checker : checkers_) checker->ended();
  return failure();
}

void Checker::fail(std::string what, Seq seq) {
  failures_.push_back({std::string(name()), std::move(what), seq, world_.now()});
}

}  // namespace fairlead::simulation
