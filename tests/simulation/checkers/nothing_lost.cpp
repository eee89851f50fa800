#include "schema/codec.h"
#include "tests/simulation/checkers/all.h"
#include "tests/simulation/world.h"

namespace fairlead::simulation {
namespace {

// What was acknowledged once stays in the log, at its place and as it was. Nothing is stored twice:
// neither the same version of an object without another one between, nor a second outcome of a
// write.
class NothingLost final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "nothing_lost"; }

  void acknowledged(const SeenEvent& seen) override {
    const Event& event = seen.event;
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
    stored_once(event);
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

  void stored_once(const Event& event) {
    if (const auto* seen = std::get_if<ObjectObserved>(&event.fact)) {
      const auto [at, is_new] = latest_.try_emplace(Object{event.source, seen->key}, *seen);
      if (!is_new && *seen == at->second && !seen->resource_version.empty())
        fail("an observation was stored twice: " + event.source + " " + seen->key.name, event.seq);
      at->second = *seen;
    } else if (const auto* gone = std::get_if<ObjectGone>(&event.fact)) {
      latest_.erase(Object{event.source, gone->key});
    } else if (std::holds_alternative<PatchIntended>(event.fact)) {
      intents_.insert(event.seq);
    } else if (const Seq intent = answered(event.fact); intent != Seq{}) {
      if (!intents_.contains(intent))
        fail("an outcome of seq " + std::to_string(intent.value) + ", which is no intent",
             event.seq);
      if (!outcomes_.insert(intent).second)
        fail("a second outcome of the write of seq " + std::to_string(intent.value), event.seq);
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
  std::set<Seq> intents_, outcomes_;
  std::set<std::string> died_;
};

}  // namespace

std::unique_ptr<Checker> nothing_lost(const World& world) {
  return std::make_unique<NothingLost>(world);
}

}  // namespace fairlead::simulation
