// Plays a driver of fleet claims: the controller beside a licence server, which gives each licence
// to one cluster at a time.
//
// It does what docs/fleet-claims/licence_driver.py does. Not played: Immediate claims, parameters,
// finalizers.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "engine/fleet/api.h"
#include "engine/fleet/fleet.h"

namespace fairlead {

inline constexpr std::string_view kLicenceDriver = "licences.example.com";

/// Owned by one thread.
class LicenceDriver {
 public:
  LicenceDriver(model::SharedModel& hub, FleetLogger logger)
      : hub_(hub, "licence-driver"), logger_(std::move(logger)) {}

  /// Serves the claims of its classes, at most once a second.
  void look(LogTime now);
  std::uint64_t writes() const { return writes_; }

 private:
  void deallocate(const Json& claim);
  void serve(const Json& scheduling, const std::set<std::string>& classes);
  void write_status(const Json& claim, Json status);

  const Api hub_;
  const FleetLogger logger_;
  LogTime next_look_;
  std::uint64_t writes_ = 0;
};

}  // namespace fairlead
