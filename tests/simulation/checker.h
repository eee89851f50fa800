// A property that holds in every run. A checker watches a run and says when it is broken.
//
// One file per checker in checkers/, listed in checkers/all.cpp. A checker judges by the record of
// the world (record.h) and by what it keeps itself; it changes nothing, so a run with it is the run
// without it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/fold/state.h"
#include "engine/log/event_log.h"
#include "tests/simulation/record.h"

namespace fairlead::simulation {

class World;

/// A broken property. The run ends with the first.
struct Failure {
  std::string checker;
  std::string what;  ///< the invariant, and how it is broken
  Seq seq;           ///< the first bad event; 0: none is known
  LogTime time;
};

class Checker {
 public:
  /// `world` outlives it, and is complete when the first call comes.
  explicit Checker(const World& world) : world_(world) {}
  virtual ~Checker() = default;
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  /// As the file is called.
  virtual std::string_view name() const = 0;

  /// A server has carried out or refused this write.
  virtual void wrote(const SeenWrite& /*write*/) {}
  /// The event is durable in the log of a replica. Of a replicated log each replica calls, and a
  /// replica that was started again may call again for events that others had.
  virtual void acknowledged(const SeenEvent& /*event*/) {}
  /// A replica has ended a turn: its State and its log. In a burst State may be ahead of what is
  /// durable.
  virtual void turned(std::string_view /*replica*/, const State& /*state*/,
                      const EventLog& /*log*/) {}
  /// A replica has printed this line, or posted this KubeEvent.
  virtual void heard(std::string_view /*replica*/, const std::string& /*text*/) {}
  virtual void faulted(const SeenFault& /*fault*/) {}
  /// The process of a replica has ended, without a farewell, and begins again later.
  virtual void died(std::string_view /*replica*/) {}
  /// The world's last word, after the hour of quiet.
  virtual void ended() {}

  const std::vector<Failure>& failures() const { return failures_; }
  /// How often it has judged something that could have been wrong.
  std::uint64_t judged() const { return judged_; }

 protected:
  const World& world() const { return world_; }
  void fail(std::string what, Seq seq = {});
  /// It judges something that could be wrong.
  void judges() { ++judged_; }

 private:
  const World& world_;
  std::uint64_t judged_ = 0;
  std::vector<Failure> failures_;
};

using Checkers = std::vector<std::unique_ptr<Checker>>;
/// Returns one of each.
Checkers all_checkers(const World& world);

}  // namespace fairlead::simulation
