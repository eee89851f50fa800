#include "tests/simulation/driver.h"

namespace fairlead::simulation {
namespace {

const std::string kDriverName = "accelerator.example.com";

}  // namespace

Driver::Driver(model::VirtualTime& time, Server& server, std::int64_t devices)
    : time_(time), server_(server), devices_(devices) {
  if (devices_ > 0)
    server_.write("driver", "POST", kClasses, device_class(kDriverName, kAccelerator).object);
}

SlicePart Driver::part_of(const std::string& node, const Pool& pool, std::int64_t part) const {
  return {kDriverName, node, pool.generation, part, pool.parts, devices_, pool.broken};
}

// Writes the slice, which may be there.
void Driver::publish(const std::string& node, const Pool& pool, std::int64_t part) {
  const SlicePart slice = part_of(node, pool, part);
  if (server_.try_write("driver", "POST", kSlices, resource_slice(slice).object).is_null())
    (void)server_.try_write("driver", "PATCH", kSlices + "/" + slice_name(slice),
                            {{"spec", {{"devices", devices_of(slice)}}}});
}

void Driver::joined(const std::string& node) {
  if (devices_ > 0) publish(node, pools_[node], 0);
}

void Driver::vanished(const std::string& node) {
  if (pools_.erase(node) > 0) remove_others(node, 0);
}

std::int64_t Driver::healthy(const std::string& node) const {
  const auto pool = pools_.find(node);
  return pool == pools_.end() ? 0 : devices_ - std::ssize(pool->second.broken);
}

void Driver::change(const std::string& node, std::int64_t device) {
  const auto at = pools_.find(node);
  // While it is upgraded it does not report what breaks.
  if (at == pools_.end() || at->second.updating) return;
  Pool& pool = at->second;
  if (pool.broken.contains(device))
    pool.broken.clear();
  else
    pool.broken.insert(device % devices_);
  for (std::int64_t part = 0; part < pool.parts; ++part) publish(node, pool, part);
}

void Driver::upgrade(const std::string& node, Duration span) {
  const auto at = pools_.find(node);
  if (at == pools_.end() || at->second.updating) return;
  Pool& pool = at->second;
  ++pool.generation;
  pool.parts = 2;
  pool.updating = true;
  publish(node, pool, 0);
  time_.post(span, [this, node, generation = pool.generation] { end_upgrade(node, generation); });
}

void Driver::end_upgrade(const std::string& node, std::int64_t generation) {
  const auto at = pools_.find(node);
  if (at == pools_.end() || at->second.generation != generation) return;
  at->second.updating = false;
  publish(node, at->second, 1);
  remove_others(node, generation);
}

void Driver::remove_others(const std::string& node, std::int64_t generation) {
  for (const Json& slice : server_.items(kSlices))
    if (slice["spec"]["pool"]["name"] == node && slice["spec"]["pool"]["generation"] != generation)
      (void)server_.try_write("driver", "DELETE",
                              kSlices + "/" + slice["metadata"]["name"].get<std::string>(),
                              nullptr);
}

void Driver::register_again() {
  if (devices_ == 0) return;
  (void)server_.try_write("driver", "POST", kClasses,
                          device_class(kDriverName, kAccelerator).object);
  std::set<std::string> gone;
  for (const Json& slice : server_.items(kSlices)) gone.insert(slice["spec"]["pool"]["name"]);
  for (const auto& [node, pool] : pools_) {
    gone.erase(node);
    remove_others(node, pool.generation);
    for (std::int64_t part = 0; part < (pool.updating ? 1 : pool.parts); ++part)
      publish(node, pool, part);
  }
  for (const std::string& node : gone) remove_others(node, 0);
}

}  // namespace fairlead::simulation
