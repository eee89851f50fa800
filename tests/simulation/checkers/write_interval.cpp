#include "tests/simulation/checkers/all.h"
#include "tests/simulation/checkers/reading.h"
#include "tests/simulation/world.h"

namespace fairlead::simulation {
namespace {

// An object is written at most once per debounce.writeInterval, unless the write lowers quota: at
// most ceil(T / window) growths in any time T. A write that was refused, or whose answer was lost,
// does not count: it is repeated.
class WriteInterval final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "write_interval"; }

  void wrote(const SeenWrite& write) override {
    if (!write.by_hub() || write.method != "PATCH" || write.status >= 300 ||
        write.changed_nothing())
      return;
    const SeenChange& change = write.changes.front();
    if (change.before == nullptr || change.after == nullptr) return;
    const bool of_windows =
        change.resource.starts_with("multikueue") || change.resource.starts_with("workloads.") ||
        change.resource.starts_with("admissionchecks.") || change.resource.starts_with("fleet");
    if (write.server != kHub || of_windows || write.path.find("/leases") != std::string::npos)
      return;
    const auto last = last_.find(write.path);
    const Duration interval = world().configuration().debounce.write_interval;
    if (last != last_.end() && !lowers(change) && write.sent < last->second + interval)
      fail(write.who + " wrote " + write.path + " " + to_go_duration(write.sent - last->second) +
           " after the write before");
    if (write.answer_lost)
      last_.erase(write.path);
    else
      last_[write.path] = write.sent;
  }

 private:
  bool lowers(const SeenChange& change) const {
    if (change.resource != kQueueResource) return false;
    const auto& aliases = world().configuration().resource_aliases;
    const auto after = nominals_of(*change.after, aliases);
    for (const auto& [pair, nano] : nominals_of(*change.before, aliases)) {
      const auto now = after.find(pair);
      if (now != after.end() && now->second < nano) return true;
    }
    return false;
  }

  std::map<std::string, LogTime> last_;  ///< by path: when the last write that succeeded was sent
};

}  // namespace

std::unique_ptr<Checker> write_interval(const World& world) {
  return std::make_unique<WriteInterval>(world);
}

}  // namespace fairlead::simulation
