// A hub that is alone: it leads from its first turn on, with a log of its own.
#pragma once

#include <string>

#include "engine/runtime/leader.h"
#include "tests/simulation/process.h"

namespace fairlead::simulation {

class Hub final : public Process {
 public:
  Hub(const HubWorld& world, const std::string& name, EventLog& log, Clock& clock);

  Result<void> begin(const Configuration& configuration) override;
  Result<void> settle() override;
  LogTime next_due() const override;
  const State& state() const override { return leader_.state(); }

 private:
  const HubWorld world_;
  Inbox inbox_{kInboxFactsMax};
  HubStatus status_;
  Replica replica_;
  Leader leader_;
  Connections connections_;
  HubLoop loop_;
};

/// The settings of a process whose time is the world's.
HubSettings settings_of(const HubWorld& world, const std::string& name,
                        std::size_t facts_max = kBatchFactsMax);

}  // namespace fairlead::simulation
