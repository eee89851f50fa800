#include "engine/plan/emit.h"

#include <algorithm>

#include "engine/fold/writes/interval.h"
#include "engine/fold/writes/record.h"

namespace fairlead {

bool is_soon_written(const State& state, const ObjectKey& object) {
  const WriteState* write = write_of(state.writes, object);
  if (!write) return false;
  // An answer is near, but a doubt may take all of kDoubt to end.
  if (write->outstanding) return !write->outstanding->doubted_until;
  // A first conflict ends with the next observation, or after kConflictRetry. Other refusals, and
  // conflicts that repeat, last long enough to be reported.
  if (write->refusal) return write->refusal->attempts <= 1 && is_conflict(*write->refusal);
  const Duration interval = write_interval(state, of_object(kHub, object));
  return write->last_write && *write->last_write + interval > state.now;
}

// While a write is unanswered or not observed yet, State is older than the object: what would be
// planned of it now may be what that write has done already. A write that lowers quota does not
// wait for the interval, since over-quota leaves Pods pending; it waits for the other three all the
// same.
WriteBar write_bar(const State& state, const PatchIntended& intent, Pacing pacing) {
  const WriteKey key = write_key(intent);
  const auto at = state.writes.by_key.find(key);
  if (at == state.writes.by_key.end()) return WriteBar::none;
  const WriteState& write = at->second;
  if (write.outstanding) return WriteBar::unanswered;
  if (write.awaits()) return WriteBar::not_seen_yet;
  // A refused body is not sent again before `retry_at`; another one may be right. After a conflict
  // every body waits: State has not seen yet what it conflicts with.
  if (write.refusal && state.now < write.refusal->retry_at &&
      (is_conflict(*write.refusal) || write.refusal->intent == wish_of(intent)))
    return WriteBar::refused;
  if (pacing == Pacing::at_once || intent.direction == Direction::lowers || !write.last_write)
    return WriteBar::none;
  return *write.last_write + write_interval(state, view_of(key)) <= state.now
             ? WriteBar::none
             : WriteBar::write_interval;
}

std::string_view refusal_reason(const Refusal& refusal) {
  switch (refusal.cause) {
    case RejectionCause::content: return "HubRejected";
    case RejectionCause::outage: return "WriteUnavailable";
    case RejectionCause::rights: return "WriteForbidden";
  }
  return "";
}

Proposed proposed(const State& state, Rank rank, PatchIntended intent, Pacing pacing) {
  intent.rank = rank;
  if (write_bar(state, intent, pacing) != WriteBar::none) return std::nullopt;
  return intent;
}

void add(Proposed proposal, std::vector<PatchIntended>& proposals) {
  if (proposal) proposals.push_back(*std::move(proposal));
}

std::string api_version(Kind kind, const std::string& version) {
  const std::string_view group = info(kind).group;
  return group.empty() ? version : std::string(group) + "/" + version;
}

std::string kueue_version(const State& state) {
  return state.kueue_versions.contains("v1beta1") && !state.kueue_versions.contains("v1beta2")
             ? "v1beta1"
             : "v1beta2";
}

PatchIntended hub_intent(Verb verb, ObjectKey target, std::string version, std::string uid,
                         std::string resource_version) {
  PatchIntended intent;
  intent.cluster = kHub;
  intent.verb = verb;
  intent.target = std::move(target);
  intent.version = std::move(version);
  intent.field_manager = kFieldManager;
  intent.uid = std::move(uid);
  intent.resource_version = std::move(resource_version);
  return intent;
}

Json object_head(Kind kind, const std::string& version, const std::string& namespace_,
                 const std::string& name, const std::string& uid,
                 const std::string& resource_version) {
  Json metadata{{"name", name}};
  if (!namespace_.empty()) metadata["namespace"] = namespace_;
  // With the version alone, an apply to a deleted object would create it
  // (docs/decisions/0012-writes-are-server-side-applies.md).
  if (!uid.empty()) metadata["uid"] = uid;
  if (!resource_version.empty()) metadata["resourceVersion"] = resource_version;
  return Json{{"apiVersion", api_version(kind, version)},
              {"kind", std::string(info(kind).name)},
              {"metadata", std::move(metadata)}};
}

void carry_version(PatchIntended& intent, const std::string& resource_version) {
  // An intent without a version is for an object that does not exist: the version that is known of
  // that name belongs to a deleted one.
  if (resource_version.empty() || intent.resource_version.empty() ||
      intent.resource_version == resource_version)
    return;
  intent.resource_version = resource_version;
  // A delete: the connector makes its preconditions of the intent's own fields.
  if (intent.body.empty()) return;
  Json body = read_own_json(intent.body);
  if (!member(body, "metadata").is_object()) return;  // of a log that was forged
  body["metadata"]["resourceVersion"] = resource_version;
  intent.body = to_text(body);
}

std::vector<Seq> deciding(std::vector<Seq> seqs) {
  std::sort(seqs.begin(), seqs.end());
  seqs.erase(std::unique(seqs.begin(), seqs.end()), seqs.end());
  // Seq 0 belongs to fields that no event has set yet. It sorts to the front, and is there once.
  if (!seqs.empty() && seqs.front() == Seq{}) seqs.erase(seqs.begin());
  if (seqs.size() > kReasonSeqsMax)
    seqs.erase(seqs.begin(), seqs.end() - static_cast<std::ptrdiff_t>(kReasonSeqsMax));
  return seqs;
}

}  // namespace fairlead
