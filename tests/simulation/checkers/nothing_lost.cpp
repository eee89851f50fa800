#include "schema/codec.h"
#include "tests/simulation/checkers/all.h"
#include "tests/simulation/world.h"

namespace fairlead::simulation {
namespace {

// What was acknowledged once stays in the log, at its place and as it was. Nothing is stored twice:
// neither the same version of an object without another one between, nor a second outcome of a
// write. And no quota or claim is written whose intent, with just this body, was not durable when
// the request was sent.
class NothingLost final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "nothing_lost"; }

  void acknowledged(const SeenEvent& seen) override {
    const Event& event = seen.event;
    judges();
    Seq& last = last_[seen.replica];
    if (event.seq.value > last.value + 1)
      fail(seen.replica + " acknowledged seq " + std::to_string(event.seq.value) + " after " +
               std::to_string(last.value),
           event.seq);
    last = std::max(last, event.seq);
    const auto [at, is_new] = records_.emplace(event.seq, encode(event));
    if (!is_new) {
      if (at->second != encode(event))
        fail("seq " + std::to_string(event.seq.value) + " was acknowledged as another event before",
             event.seq);
      return;
    }
    stored_once(event, seen.time);
  }

  void wrote(const SeenWrite& write) override {
    const bool ours = write.path.find("/clusterqueues/") != std::string::npos ||
                      write.path.find("/clusterresourceclaims") != std::string::npos;
    if (!write.by_hub() || !ours || write.body.empty()) return;
    const auto durable = durable_bodies_.find(write.body);
    if (durable == durable_bodies_.end() || durable->second > write.sent)
      fail(write.who + " sent " + write.method + " " + write.path +
           " before its intent was durable: " + write.body);
  }

  void turned(std::string_view replica, const State&, const EventLog& log) override {
    // A process that began again on its log.
    if (const auto died = died_.find(std::string(replica)); died != died_.end()) {
      died_.erase(died);
      holds(replica, log);
    }
  }
  void died(std::string_view replica) override { died_.emplace(replica); }
  void ended() override {
    for (std::size_t at = 0; at < world().replicas(); ++at)
      if (world().state(at) != nullptr) holds("hub-" + std::to_string(at), world().log(at));
  }

 private:
  using Object = std::pair<SourceName, ObjectKey>;

  void stored_once(const Event& event, LogTime now) {
    if (const auto* seen = std::get_if<ObjectObserved>(&event.fact)) {
      const auto [at, is_new] = latest_.try_emplace(Object{event.source, seen->key}, *seen);
      // After a conflict the next observation is wanted, whatever it shows.
      const bool wanted = conflicted_.erase(Object{event.source, seen->key}) > 0;
      if (!is_new && *seen == at->second && !seen->resource_version.empty() && !wanted &&
          open_[Object{event.source, seen->key}].empty())
        fail("an observation was stored twice: " + event.source + " " + seen->key.name, event.seq);
      at->second = *seen;
    } else if (const auto* gone = std::get_if<ObjectGone>(&event.fact)) {
      latest_.erase(Object{event.source, gone->key});
    } else if (const auto* intent = std::get_if<PatchIntended>(&event.fact)) {
      intents_.insert(event.seq);
      durable_bodies_.try_emplace(intent->body, now);
      // An observation that repeats an earlier one counts while a write of its object is open: the
      // hub concludes the write from it. The answer may be logged before that observation.
      latest_.erase(Object{intent->cluster, intent->target});
      open_[Object{intent->cluster, intent->target}].insert(event.seq);
      object_of_[event.seq] = Object{intent->cluster, intent->target};
    } else if (const Seq write = answered(event.fact); write != Seq{}) {
      if (!std::holds_alternative<PatchUnknown>(event.fact)) open_[object_of_[write]].erase(write);
      const auto* const rejected = std::get_if<PatchRejected>(&event.fact);
      if (rejected && rejected->http_code == 409) conflicted_.insert(object_of_[write]);
      if (!intents_.contains(write))
        fail("an outcome of seq " + std::to_string(write.value) + ", which is no intent",
             event.seq);
      if (!outcomes_.insert(write).second)
        fail("a second outcome of the write of seq " + std::to_string(write.value), event.seq);
    }
  }
  static Seq answered(const Fact& fact) {
    if (const auto* accepted = std::get_if<PatchAccepted>(&fact)) return accepted->intent;
    if (const auto* rejected = std::get_if<PatchRejected>(&fact)) return rejected->intent;
    if (const auto* unknown = std::get_if<PatchUnknown>(&fact)) return unknown->intent;
    return {};
  }

  // The log of a replica, from its beginning, against all that it acknowledged.
  void holds(std::string_view replica, const EventLog& log) {
    const Seq last = last_[std::string(replica)];
    if (log.last_seq() < last)
      return fail("the log of " + std::string(replica) + " ends at seq " +
                      std::to_string(log.last_seq().value) + ", but " + std::to_string(last.value) +
                      " was acknowledged",
                  next(log.last_seq()));
    auto reader = log.read(log.first_seq());
    if (!reader) return fail(reader.error().message);
    for (;;) {
      auto event = (*reader)->next();
      if (!event) return fail(event.error().message);
      if (!*event || (*event)->seq > last) return;
      const auto record = records_.find((*event)->seq);
      if (record != records_.end() && record->second != encode(**event))
        return fail(
            "the log of " + std::string(replica) + " has another event than was acknowledged",
            (*event)->seq);
    }
  }

  std::map<std::string, Seq> last_;
  std::map<Seq, std::string> records_;
  std::map<Object, ObjectObserved> latest_;
  std::map<std::string, LogTime> durable_bodies_;  ///< of intents: since when
  std::map<Object, std::set<Seq>> open_;           ///< intents of which no answer was heard
  std::map<Seq, Object> object_of_;
  std::set<Object> conflicted_;  ///< not observed since a write of it was refused as a conflict
  std::set<Seq> intents_, outcomes_;
  std::set<std::string> died_;
};

}  // namespace

std::unique_ptr<Checker> nothing_lost(const World& world) {
  return std::make_unique<NothingLost>(world);
}

}  // namespace fairlead::simulation
