// The maps that an expression sees of a device: attributes and capacities by domain and id.
//
// Nothing is built: a lookup reads the facts. A name `domain/id` is split at its first slash; one
// without a slash belongs to the driver's domain. Where a device has both spellings of one name the
// qualified one counts, as for constraints in the scheduler (k8s.io/dynamic-resource-allocation
// structured lookupAttribute).
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/devices/cel/value.h"
#include "schema/kinds/devices.h"

namespace fairlead::cel {

/// What an expression is evaluated on.
struct DeviceView {
  std::string_view driver;
  const DeviceFacts& facts;
};

/// Returns the attribute `id` of `domain`. A fault about `about` if it is not published or its text
/// is malformed.
Value attribute(const DeviceView& device, std::string_view domain, std::string_view id,
                std::string_view about);
bool has_attribute(const DeviceView& device, std::string_view domain, std::string_view id);

/// Returns the capacity `id` of `domain`, a quantity; else a fault, as attribute() does.
Value capacity(const DeviceView& device, std::string_view domain, std::string_view id,
               std::string_view about);
bool has_capacity(const DeviceView& device, std::string_view domain, std::string_view id);

/// Returns `allowMultipleAllocations`.
bool is_shared(const DeviceView& device);

/// Whether `map` (a value of one of the four kinds of maps) has `key`: a domain in which something
/// is published, or an id.
bool has_key(const DeviceView& device, const Value& map, std::string_view key);

/// Returns how many keys `map` has.
std::int64_t count_keys(const DeviceView& device, const Value& map);

/// Whether two maps have the same keys and equal values.
bool equal_maps(const DeviceView& device, const Value& a, const Value& b);

}  // namespace fairlead::cel
