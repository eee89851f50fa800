#include "tests/simulation/member.h"

#include <algorithm>
#include <utility>

namespace fairlead::simulation {
namespace {

// What engine/fleet/world.cpp gives each machine.
constexpr std::pair<const char*, std::int64_t> kOffer[] = {
    {"cpu", 96}, {"memory", std::int64_t{128} << 30}, {"nvidia.com/gpu", 1}};
// A kubelet reports its Node every five minutes though nothing changes (nodeStatusReportFrequency).
// A quarter of that: reports would be most of a run.
constexpr Duration kHeartbeat = minutes(20);

}  // namespace

Member::Member(model::VirtualTime& time, std::string name, const Storm& storm, std::int64_t number,
               Server::Wrote wrote, Changed changed)
    : time_(time),
      server_(time, std::move(name), storm, number, std::move(wrote)),
      driver_(time, server_, storm.devices),
      changed_(std::move(changed)) {
  while (joined_ < storm.nodes) join();
  beat();
}

Amounts Member::usable() const {
  Amounts usable;
  for (const Machine& machine : machines_)
    if (!machine.cordoned && !machine.down) {
      for (const auto& [resource, amount] : kOffer)
        usable[{machine.layout.flavor, resource}] += amount;
      if (const std::int64_t devices = driver_.healthy(machine.layout.name))
        usable[{machine.layout.flavor, kAccelerator}] += devices;
    }
  return usable;
}

void Member::report() { changed_({time_.now(), name(), usable()}); }

void Member::write(std::int64_t at) {
  const Machine& of = machine(at);
  const std::string path = kNodes + "/" + of.layout.name;
  server_.write("kubelet", "PATCH", path, {{"spec", node_spec(of)}});
  server_.write("kubelet", "PATCH", path + "/status", {{"status", node_status(of, time_.now())}});
  report();
}

void Member::join() {
  const std::string flavor(joined_ % 2 == 0 ? kOnDemand : kSpot);
  machines_.push_back({{flavor + "-" + std::to_string(joined_), flavor, "rack-a"}});
  ++joined_;
  server_.write("kubelet", "POST", kNodes, node(machines_.back()).object);
  driver_.joined(machines_.back().layout.name);
  write(nodes() - 1);
}

void Member::vanish(std::int64_t at) {
  server_.write("cloud", "DELETE", kNodes + "/" + machine(at).layout.name, nullptr);
  driver_.vanished(machine(at).layout.name);
  machines_.erase(machines_.begin() + at);
  report();
}

void Member::register_again() {
  const Json nodes = server_.read(kNodes);
  for (const Json& known : nodes["items"]) {
    const std::string name = known["metadata"]["name"];
    if (std::ranges::none_of(machines_,
                             [&](const Machine& one) { return one.layout.name == name; }))
      server_.write("cloud", "DELETE", kNodes + "/" + name, nullptr);
  }
  for (std::int64_t at = 0; at < this->nodes(); ++at) {
    (void)server_.try_write("kubelet", "POST", kNodes, node(machine(at)).object);
    write(at);
  }
  driver_.register_again();
}

void Member::change_devices(std::int64_t at, std::int64_t device) {
  driver_.change(machine(at).layout.name, device);
  report();
}

void Member::beat() {
  heartbeat_ = time_.after(kHeartbeat, [this] {
    for (const Machine& machine : machines_) {
      if (machine.down) continue;
      const std::string path = kNodes + "/" + machine.layout.name;
      Json conditions = server_.read(path)["status"]["conditions"];
      if (!conditions.is_array()) continue;
      conditions[0]["lastHeartbeatTime"] = to_rfc3339(time_.now());
      server_.beat(path + "/status", {{"status", {{"conditions", std::move(conditions)}}}});
    }
    beat();
  });
}

}  // namespace fairlead::simulation
