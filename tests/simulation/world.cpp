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

}  // namespace

World::World(const Storm& storm, Lines lines)
    : storm_(storm),
      lines_(std::move(lines)),
      time_(kBeginning),
      configuration_(configuration_of(storm)),
      hub_server_(time_, std::string(kHub), static_cast<std::uint64_t>(storm.seed), wrote()) {
  make_objects();
  people_ = std::make_unique<People>(*this);
  record_.began = kBeginning;
  for (std::int64_t at = 0; at < storm_.replicas; ++at) {
    Replica& replica = replicas_.emplace_back();
    replica.name = "hub-" + std::to_string(at);
    replica.log = std::make_unique<KeptLog>([this, name = replica.name](const Event& event) {
      record_.events.push_back({time_.now(), name, event});
      for (const auto& checker : checkers_) checker->acknowledged(record_.events.back());
      if (!lines_) return;
      const ObjectKey* key = object_of(event.fact);
      say(name, std::to_string(event.seq.value) + " " + std::string(fact_name(event.fact)) + " " +
                    event.source +
                    (key == nullptr
                         ? std::string()
                         : " " + std::string(info(key->kind).name) + " " +
                               (key->namespace_.empty() ? "" : key->namespace_ + "/") + key->name));
    });
  }
  checkers_ = all_checkers(*this);
  for (const SeenWrite& write : record_.writes)  // what was there before
    for (const auto& checker : checkers_) checker->wrote(write);
}

World::~World() = default;

void World::make_objects() {
  for (const WorldObject& wanted : hub_objects())
    hub_server_.write("administrator", "POST", wanted.collection, wanted.object);
  for (std::int64_t at = 0; at < storm_.members; ++at) {
    const std::string name = name_of_member(at);
    hub_server_.write("ocm", "POST", kManagedClusters, managed_cluster(name).object);
    hub_server_.write("administrator", "POST", kClaims, claim_of(name));
    members_.push_back(std::make_unique<Member>(time_, name,
                                                static_cast<std::uint64_t>(storm_.seed + at + 1),
                                                storm_.nodes, wrote(), changed()));
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

void World::fault(SeenFault fault) {
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
  replica.hub = std::make_unique<Hub>(
      HubWorld{time_, std::move(servers),
               [this, name = replica.name](const std::string& line) { say(name, line); },
               [this, &replica] {
                 for (const auto& checker : checkers_)
                   checker->turned(replica.name, replica.hub->state(), *replica.log);
               }},
      replica.name, *replica.log, time_);
  const auto begun = replica.hub->begin(configuration_);
  check(begun.has_value(), "a hub begins on its log");
}

std::optional<Failure> World::failure() const {
  for (const auto& checker : checkers_)
    if (!checker->failures().empty()) return checker->failures().front();
  return std::nullopt;
}

// From one moment at which something is due to the next.
void World::run_to(LogTime end) {
  while (!failure()) {
    LogTime next = std::min(end, time_.next_due());
    for (Replica& replica : replicas_) {
      const auto settled = replica.hub->settle();
      check(settled.has_value(), "a hub goes on");
      next = std::min(next, replica.hub->next_due());
    }
    next = std::min(next, time_.next_due());
    if (time_.now() >= end) break;
    time_.advance_to(std::max(next, time_.now()));
  }
}

std::optional<Failure> World::run() {
  for (Replica& replica : replicas_) start(replica);
  run_to(time_.now() + minutes(storm_.minutes));
  people_->end();
  record_.healed = time_.now();
  say("world", "faults heal");
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
