#include "engine/devices/device_use.h"

namespace fairlead {

std::string text(const DeviceId& id) { return id.driver + "/" + id.pool + "/" + id.device; }

std::vector<DeviceUse> pin_uses(const ClaimAllocation& allocation,
                                const PublishedDevice& published) {
  std::vector<DeviceUse> uses;
  for (const AllocatedDevice& result : allocation.devices) {
    // A device with adminAccess is not allocated by it: others may have it.
    if (result.admin) continue;
    DeviceUse use;
    use.device = {result.driver, result.pool, result.device};
    use.share = !result.share.empty() || !result.consumed.empty();
    use.consumed = result.consumed;
    const DeviceFacts* facts = published(use.device);
    use.cost = facts ? UseCost::pinned : UseCost::unknown;
    if (facts && facts->extras) use.counters = facts->extras->consumes;
    uses.push_back(std::move(use));
  }
  return uses;
}

}  // namespace fairlead
