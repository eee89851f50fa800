#include "tests/simulation/checkers/all.h"
#include "tests/simulation/world.h"

namespace fairlead::simulation {
namespace {

// Between two writes of an object there is debounce.writeInterval of log time, unless the second
// lowers quota: at most ceil(T / window) writes of it in any time T. What has windows of its own
// (MultiKueue's objects, Workloads, fleet claims) is left out, and so is the repetition of a write
// that was refused or got no answer. And what a server took of an object
// is no more than was intended: a request is not sent twice.
class WriteInterval final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "write_interval"; }

  void acknowledged(const SeenEvent& seen) override {
    if (seen.event.seq <= last_seq_) return;
    last_seq_ = seen.event.seq;
    if (const auto* rejected = std::get_if<PatchRejected>(&seen.event.fact))
      return last_.erase(of_intent_[rejected->intent]), void();
    if (const auto* unknown = std::get_if<PatchUnknown>(&seen.event.fact))
      return last_.erase(of_intent_[unknown->intent]), void();
    const auto* intent = std::get_if<PatchIntended>(&seen.event.fact);
    if (intent == nullptr) return;
    const Object object{intent->cluster, intent->target, intent->verb == Verb::apply_status};
    of_intent_[seen.event.seq] = object;
    ++intended_[std::string(intent->cluster) + "/" + intent->target.name];
    const auto [at, is_new] = last_.try_emplace(object, seen.event.log_time);
    judges();
    const Duration interval = world().configuration().debounce.write_interval;
    const bool paced = intent->target.kind == Kind::cluster_queue ||
                       intent->target.kind == Kind::claim ||
                       intent->target.kind == Kind::manifest_work;
    if (!is_new && paced && intent->direction != Direction::lowers &&
        seen.event.log_time < at->second + interval)
      fail(intent->target.name + " is written " + to_go_duration(seen.event.log_time - at->second) +
               " after the write before (" + intent->reason.rule + ")",
           seen.event.seq);
    at->second = seen.event.log_time;
  }

  void wrote(const SeenWrite& write) override {
    if (!write.by_hub() || write.server != kHub || write.changed_nothing()) return;
    for (const SeenChange& change : write.changes) {
      if (!change.resource.starts_with("cluster")) continue;  // queues and claims
      const std::string object = write.server + "/" + change.key;
      if (++taken_[object] > intended_[object])
        fail(write.who + " changed " + change.key + " more often than it intended to");
    }
  }

 private:
  using Object = std::tuple<SourceName, ObjectKey, bool>;
  std::map<Object, LogTime> last_;
  std::map<Seq, Object> of_intent_;
  std::map<std::string, std::uint64_t> intended_, taken_;  ///< by server and name
  Seq last_seq_;
};

}  // namespace

std::unique_ptr<Checker> write_interval(const World& world) {
  return std::make_unique<WriteInterval>(world);
}

}  // namespace fairlead::simulation
