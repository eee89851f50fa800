#include "tests/simulation/world.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "schema/event_json.h"

namespace fairlead::simulation {
namespace {

constexpr LogTime kBeginning{1'767'225'600'000'000'000};  // 2026-01-01T00:00:00Z
constexpr Duration kQuiet = hours(1);

constexpr const char* kMemberNames[] = {"east", "north", "west", "south"};

std::string name_of_member(std::int64_t at) {
  const std::int64_t names = std::ssize(kMemberNames);
  return kMemberNames[at % names] + (at < names ? std::string() : std::to_string(at / names));
}

Configuration configuration_of(const Storm& storm) {
  Configuration configuration;
  configuration.headroom.percent.clear();
  configuration.create_claims = false;
  configuration.member_mode = MemberMode::none;
  for (std::int64_t at = 0; at < storm.members; ++at)
    configuration.member_kubeconfigs.push_back({name_of_member(at), "", "virtual", ""});
  return configuration;
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

World::World(const Storm& storm, Lines lines)
    : storm_(storm),
      lines_(std::move(lines)),
      time_(kBeginning),
      faults_(storm_, time_, [this](SeenFault fault) { saw_fault(std::move(fault)); }),
      configuration_(configuration_of(storm)),
      hub_server_(time_, std::string(kHub), storm_, 0, wrote()) {
  record_.began = kBeginning;
  make_objects();
  make_replicas();
  people_ = std::make_unique<People>(*this);
  disasters_ = std::make_unique<Disasters>(*this);
  checkers_ = all_checkers(*this);
  for (const SeenWrite& write : record_.writes)  // what was there before
    for (const auto& checker : checkers_) checker->wrote(write);
}

void World::make_replicas() {
  for (std::int64_t at = 0; at < storm_.replicas; ++at) {
    Replica& replica = replicas_.emplace_back();
    replica.name = "hub-" + std::to_string(at);
    const std::int64_t rate = at % 2 == 0 ? storm_.clock_rate : -storm_.clock_rate;
    replica.clock = std::make_unique<HubClock>(time_, rate);
    replica.log = std::make_unique<KeptLog>(replica.name, faults_,
                                            [this, name = replica.name](const Event& event) {
                                              record_.events.push_back({time_.now(), name, event});
                                              for (const auto& checker : checkers_)
                                                checker->acknowledged(record_.events.back());
                                              if (lines_) say(name, line_of(event));
                                            });
  }
}

World::~World() = default;

void World::make_objects() {
  for (const WorldObject& wanted : hub_objects())
    hub_server_.write("administrator", "POST", wanted.collection, wanted.object);
  for (std::int64_t at = 0; at < storm_.members; ++at) {
    const std::string name = name_of_member(at);
    hub_server_.write("ocm", "POST", kManagedClusters, managed_cluster(name).object);
    hub_server_.write("administrator", "POST", kClaims, claim_of(name));
    members_.push_back(std::make_unique<Member>(time_, name, storm_, at + 1, wrote(), changed()));
  }
}

Server::Wrote World::wrote() {
  return [this](SeenWrite write) {
    write.number = record_.writes.size() + 1;
    record_.writes.push_back(std::move(write));
    const SeenWrite& seen = record_.writes.back();
    for (const auto& checker : checkers_) checker->wrote(seen);
    if (lines_)
      say(seen.who, seen.method + " " + seen.server + seen.path + " " +
                        std::to_string(seen.status) + (seen.answer_lost ? " (unheard)" : ""));
  };
}

Member::Changed World::changed() {
  return [this](SeenCapacity capacity) { record_.capacity.push_back(std::move(capacity)); };
}

void World::say(std::string_view who, const std::string& what) const {
  if (lines_) lines_(to_rfc3339(time_.now()) + " " + std::string(who) + " " + what);
}

void World::saw_fault(SeenFault fault) {
  say(fault.where, fault.kind + " " + fault.what);
  record_.faults.push_back(std::move(fault));
  for (const auto& checker : checkers_) checker->faulted(record_.faults.back());
}

const State* World::state(std::size_t replica) const {
  const auto& hub = replicas_[replica].hub;
  return hub == nullptr ? nullptr : &hub->state();
}

Digest World::digest() const {
  std::string all;
  for (const Replica& replica : replicas_) all += replica.log->chain().hex();
  return sha256(all);
}

void World::start(Replica& replica) {
  std::map<SourceName, Server*> servers{{std::string(kHub), &hub_server_}};
  for (const auto& member : members_) servers[member->name()] = &member->server();
  replica.life = std::make_shared<Life>();
  replica.log->open(replica.life);
  replica.clock->begin(replica.log->last_time());
  replica.hub = std::make_unique<Hub>(
      HubWorld{time_, faults_, replica.life, std::move(servers),
               [this, name = replica.name](const std::string& line) { say(name, line); },
               [this, &replica] {
                 for (const auto& checker : checkers_)
                   checker->turned(replica.name, replica.hub->state(), *replica.log);
               }},
      replica.name, *replica.log, *replica.clock);
  if (const auto begun = replica.hub->begin(configuration_); !begun) {
    say(replica.name, begun.error().message);
    end(replica);
  }
}

void World::end(Replica& replica) {
  replica.life->over = true;
  replica.hub.reset();
  for (const auto& checker : checkers_) checker->died(replica.name);
  say(replica.name, "its process has ended");
  time_.post(seconds(1 + faults_.below(60)), [this, &replica] { start(replica); });
}

void World::kill(std::int64_t at) {
  Replica& replica = replicas_[static_cast<std::size_t>(at)];
  if (replica.hub != nullptr) end(replica);
}

void World::heal() {
  people_->end();
  disasters_->end();
  faults_.heal();
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
      if (replica.hub == nullptr) continue;
      const auto settled = replica.hub->settle();
      if (!settled) say(replica.name, settled.error().message);
      if (!settled || replica.life->over)
        end(replica);
      else
        next = std::min(next, replica.hub->next_due());
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
