#include "engine/core/pool_notices.h"

#include <string_view>
#include <utility>

#include "engine/fold/pool/tenants.h"
#include "schema/write_rule.h"

namespace fairlead {

namespace {

class PoolNotices {
 public:
  PoolNotices(const State& state, const PatchIntended& write, Seq seq, LogTime time)
      : state_(state), write_(write), seq_(seq), time_(time) {}

  std::vector<Notice> all() {
    if (!is_tenant(write_.cluster) || !write_.expected) return {};
    if (const auto* pod = std::get_if<PodFacts>(&*write_.expected)) of_pod(*pod);
    if (const auto* facts = std::get_if<NamespaceFacts>(&*write_.expected)) of_namespace(*facts);
    return std::move(notices_);
  }

 private:
  bool decided_by(std::string_view rule) const { return write_.reason.rule == rule; }

  void of_pod(const PodFacts& facts) {
    if (decided_by(rule::kPoolPod) && facts.super_cluster)
      add(NoticeType::normal, "Scheduled", "to super cluster " + *facts.super_cluster);
    else if (facts.reason)
      add(NoticeType::warning, "FailedScheduling", *facts.reason);
  }

  void of_namespace(const NamespaceFacts& facts) {
    if (decided_by(rule::kPoolReason)) {
      if (!facts.reason) return;
      add(NoticeType::warning, "FailedScheduling", *facts.reason);
      if (facts.reason->starts_with("DoesNotFit")) exhausted(*facts.reason);
    } else if (is_rejected_edit()) {
      add(NoticeType::warning, "PlacementRejected", write_.reason.text);
    } else {
      add(NoticeType::normal, "Scheduled",
          "placements " + facts.placements.value_or("none") + ", by " + write_.reason.rule);
    }
  }

  // An edit that is followed to the letter needs no write. An edit that leaves no placements asks
  // for a new decision.
  bool is_rejected_edit() const {
    if (!decided_by(rule::kPoolEdit) && !decided_by(rule::kPoolRestore)) return false;
    const std::string_view change = write_.reason.text;
    return !change.starts_with("none -> ") && !change.starts_with("{} -> ");
  }

  void add(NoticeType type, const char* reason, std::string message) {
    notices_.push_back({seq_, time_, write_.cluster, write_.target, write_.uid, write_.version,
                        type, reason, std::move(message)});
  }

  void exhausted(const std::string& reason) {
    const auto* const of = virtual_cluster_of(state_.pool, std::string(tenant_of(write_.cluster)));
    if (!of) return;
    const auto& [id, seen] = *of;
    notices_.push_back({seq_,
                        time_,
                        std::string(kHub),
                        {Kind::virtual_cluster, id.first, id.second},
                        seen.seen.uid,
                        seen.seen.version,
                        NoticeType::warning,
                        "PoolExhausted",
                        "namespace " + write_.target.name + ": " + reason});
  }

  const State& state_;
  const PatchIntended& write_;
  Seq seq_;
  LogTime time_;
  std::vector<Notice> notices_;
};

}  // namespace

std::vector<Notice> pool_notices_of(const State& state, const PatchIntended& write, Seq seq,
                                    LogTime time) {
  return PoolNotices(state, write, seq, time).all();
}

}  // namespace fairlead
