#include <algorithm>

#include "replay/audit/audit.h"
#include "tests/simulation/checkers/all.h"
#include "tests/simulation/checkers/reading.h"
#include "tests/simulation/world.h"

namespace fairlead::simulation {
namespace {

// Within this an observed change takes effect for the audit: coalescing, and a write's way.
constexpr Duration kTakesEffectWithin = seconds(30);
// The answers have log time, which a hub whose clock was set goes on with until UTC has caught up.
constexpr Duration kWrongClockMax = hours(1);

// What `audit history` says of the hub's queues is what their API server had: each value was there
// then, the last one is there still, and while no fault disturbs, none that stayed is missing.
class AuditAgrees final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "audit_agrees"; }

  void wrote(const SeenWrite& write) override {
    if (write.server != kHub) return;
    for (const SeenChange& change : write.changes)
      if (change.resource == kQueueResource && change.after != nullptr)
        for (const auto& [pair, nano] : nominals_of(*change.after, {})) {
          auto& values = stored_[change.key][pair];
          if (values.empty() || values.back().second != nano) values.emplace_back(write.time, nano);
        }
  }

  void ended() override {
    const EventLog& log = world().log(0);
    for (const auto& [queue, pairs] : stored_) {
      const auto answer = audit_history({log}, {queue, "", ""}, AuditPosition{log.first_seq()},
                                        AuditPosition{log.last_seq()});
      if (!answer) return fail("audit history " + queue + ": " + answer.error().message);
      std::map<SeenPair, std::vector<Value>> said;
      for (const Json& row : answer->document.at("rows")) {
        const auto nano = nano_of(row.at("new"));
        if (!nano || row.at("tookEffect").is_null()) continue;
        const auto time = parse_rfc3339(row.at("tookEffect").at("time").get<std::string>());
        if (time) said[{row.at("flavor"), row.at("resource")}].emplace_back(*time, *nano);
      }
      for (const auto& [pair, values] : pairs) compare(queue, pair, values, said[pair]);
    }
  }

 private:
  using Value = std::pair<LogTime, Int128>;

  void compare(const std::string& queue, const SeenPair& pair, const std::vector<Value>& stored,
               const std::vector<Value>& said) {
    judges();
    const std::string what = queue + " " + pair.first + " " + pair.second;
    if (said.empty() || said.back().second != stored.back().second)
      return fail("audit history ends with another value of " + what + " than the server has, " +
                  whole(stored.back().second));
    for (const auto& [time, nano] : said)
      if (!was_stored(stored, time, nano))
        fail("audit history says that " + what + " became " + whole(nano) + " at " +
             to_rfc3339(time) + ", when the server never had it");
    if (!world().record().faults.empty()) return;
    for (std::size_t i = 0; i + 1 < stored.size(); ++i)
      if (stored[i + 1].first - stored[i].first > kTakesEffectWithin && !was_said(said, stored[i]))
        fail("audit history does not say that " + what + " became " + whole(stored[i].second) +
             " at " + to_rfc3339(stored[i].first));
  }
  // Whether the server had the value at some time shortly before, or at any time before where
  // faults delay what is observed; our own writes take effect when they are decided.
  bool was_stored(const std::vector<Value>& stored, LogTime time, Int128 nano) const {
    const bool jumped = std::ranges::any_of(world().record().faults, [](const SeenFault& fault) {
      return fault.kind == "clock-jumps";
    });
    const Duration early = jumped ? kWrongClockMax : kTakesEffectWithin;
    for (std::size_t i = 0; i < stored.size(); ++i) {
      if (stored[i].second != nano || stored[i].first > time + early) continue;
      const LogTime until = i + 1 < stored.size() ? stored[i + 1].first : kForever;
      if (!world().record().faults.empty() || until + kTakesEffectWithin >= time) return true;
    }
    return false;
  }
  static bool was_said(const std::vector<Value>& said, const Value& stored) {
    for (const auto& [time, nano] : said)
      if (nano == stored.second && time + kTakesEffectWithin >= stored.first &&
          time <= stored.first + kTakesEffectWithin)
        return true;
    return false;
  }

  std::map<std::string, std::map<SeenPair, std::vector<Value>>> stored_;
};

}  // namespace

std::unique_ptr<Checker> audit_agrees(const World& world) {
  return std::make_unique<AuditAgrees>(world);
}

}  // namespace fairlead::simulation
