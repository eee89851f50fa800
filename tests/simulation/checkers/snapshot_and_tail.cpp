#include <optional>
#include <set>

#include "engine/fold/evolve.h"
#include "snapshots/snapshot_store.h"
#include "snapshots/state_codec.h"
#include "tests/simulation/checkers/all.h"
#include "tests/simulation/world.h"

namespace fairlead::simulation {
namespace {

// From each snapshot that a replica kept, the rest of its log folds to what the whole log folds to.
// A snapshot is of what was durable: the log has the commit that it ends with, for ever.
class SnapshotAndTail final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "snapshot_and_tail"; }

  // Also when a process ends: the next one begins with these snapshots.
  void died(std::string_view replica) override {
    for (std::size_t at = 0; at < world().replicas(); ++at)
      if (replica == name_of(at)) compare(at);
  }
  void ended() override {
    for (std::size_t at = 0; at < world().replicas(); ++at) compare(at);
  }

 private:
  static std::string name_of(std::size_t at) { return "hub-" + std::to_string(at); }

  void compare(std::size_t at) {
    const SnapshotStore* const kept = world().snapshots(at);
    if (kept == nullptr) return;
    const auto snapshots = kept->list();
    if (!snapshots) return fail(snapshots.error().message);
    const EventLog& log = world().log(at);
    std::optional<Digest> whole;
    for (const SnapshotInfo& info : *snapshots) {
      if (!compared_.emplace(name_of(at), info.log_digest.hex()).second) continue;
      judges();
      if (!whole) whole = folded(log, {});
      if (!whole) return fail("the log of " + name_of(at) + " cannot be read");
      compare(name_of(at), info, *kept, log, *whole);
    }
  }

  void compare(const std::string& replica, const SnapshotInfo& info, const SnapshotStore& kept,
               const EventLog& log, const Digest& whole) {
    const std::string what = replica + "'s snapshot of seq " + std::to_string(info.seq.value);
    if (info.seq > log.last_seq())
      return fail(what + " is of an event that its log lacks", info.seq);
    const auto chain = log.chain_at(info.seq);
    if (!chain || *chain != info.log_digest)
      return fail(what + " is of another history than its log", info.seq);
    const auto bytes = kept.bytes(info.seq);
    if (!bytes) return fail(bytes.error().message);
    auto snapshot = read_snapshot(*bytes);
    if (!snapshot) return fail(what + ": " + snapshot.error().message, info.seq);
    if (folded(log, std::move(snapshot->state)) != whole)
      fail(what + " and the rest of the log fold to another State than the whole log", info.seq);
  }

  // With the last moment closed: a snapshot may be of before or after that.
  static std::optional<Digest> folded(const EventLog& log, State state) {
    auto reader = log.read(next(state.seq));
    if (!reader) return std::nullopt;
    DirtySet ignored;
    while (state.seq < log.last_seq()) {
      const auto event = (*reader)->next();
      if (!event || !*event) return std::nullopt;
      evolve(state, **event, ignored);
    }
    run_until(state, log.last_time(), ignored);
    return state_digest(state);
  }

  std::set<std::pair<std::string, std::string>> compared_;  ///< by the chain there
};

}  // namespace

std::unique_ptr<Checker> snapshot_and_tail(const World& world) {
  return std::make_unique<SnapshotAndTail>(world);
}

}  // namespace fairlead::simulation
