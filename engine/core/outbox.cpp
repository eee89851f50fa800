#include "engine/core/outbox.h"

#include <iterator>

#include "engine/base/resource_version.h"
#include "engine/core/pool_notices.h"

namespace fairlead {

void Outbox::intended(const State& state, const Event& intent) {
  if (auto replaced = applier_.enqueue(intent)) outcomes_.push_back(*std::move(replaced));
  auto notices =
      pool_notices_of(state, std::get<PatchIntended>(intent.fact), intent.seq, intent.log_time);
  if (!notices.empty()) expected_notices_[intent.seq] = std::move(notices);
}

void Outbox::give_up(std::string_view why) {
  std::vector<EventDraft> given_up = applier_.give_up(why);
  outcomes_.insert(outcomes_.end(), std::make_move_iterator(given_up.begin()),
                   std::make_move_iterator(given_up.end()));
}

std::vector<EventDraft> Outbox::draft(const State& state, LogTime now) {
  // The answers follow with the next call, because waiting() stays true. One to a write among these
  // makes no second outcome: the applier has dropped the write.
  if (!outcomes_.empty()) {
    for (const EventDraft& outcome : outcomes_) {
      resolve_notices(outcome);
      if (const auto* unknown = std::get_if<PatchUnknown>(&outcome.fact))
        look_for_observation(state, unknown->intent);
    }
    return std::exchange(outcomes_, {});
  }
  std::vector<EventDraft> outcomes;
  for (WriteAnswer& answer : std::exchange(answers_, {})) {
    look_for_result(state, answer);
    auto outcome = applier_.answered(answer, now);
    if (!outcome) continue;
    if (const auto* accepted = std::get_if<PatchAccepted>(&outcome->fact)) note(state, *accepted);
    resolve_notices(*outcome);
    outcomes.push_back(*std::move(outcome));
  }
  return outcomes;
}

// Moves the notices of an accepted write to the ones to send; drops them if it was not accepted.
void Outbox::resolve_notices(const EventDraft& outcome) {
  const auto* const accepted = std::get_if<PatchAccepted>(&outcome.fact);
  const auto* const rejected = std::get_if<PatchRejected>(&outcome.fact);
  const Seq intent = accepted   ? accepted->intent
                     : rejected ? rejected->intent
                                : std::get<PatchUnknown>(outcome.fact).intent;
  const auto expected = expected_notices_.extract(intent);
  if (!accepted || expected.empty()) return;
  notices_.insert(notices_.end(), std::make_move_iterator(expected.mapped().begin()),
                  std::make_move_iterator(expected.mapped().end()));
}

// The stream may be faster than the answer. If it has brought the version that the write made, the
// answer's version is cleared, so that State does not wait for an observation of it.
void Outbox::look_for_result(const State& state, WriteAnswer& answer) {
  const auto key = state.writes.outstanding.find(answer.intent);
  if (key == state.writes.outstanding.end()) return;
  const WriteKey& target = key->second;
  if (answer.result == WriteResult::unknown) look_for_observation(state, answer.intent);
  // State waits for no observation after a claim's status write: there the version stays, as the
  // record of what the write made.
  const bool claim_status = target.status && target.object.kind == Kind::claim;
  if (includes_version(ingest_.newest_version(target.cluster, target.object),
                       answer.resource_version)) {
    if (!claim_status) answer.resource_version.clear();
  } else if (answer.result == WriteResult::accepted) {
    ingest_.wrote(target.cluster, target.object, answer.uid, answer.resource_version);
  }
}

// A write without an answer is resolved by an observation after it, which may be there already.
void Outbox::look_for_observation(const State& state, Seq intent) {
  const auto key = state.writes.outstanding.find(intent);
  if (key == state.writes.outstanding.end()) return;
  const WriteKey& target = key->second;
  const PatchIntended& sent = state.writes.by_key.at(target).outstanding->intent;
  if (auto fact = ingest_.observed_since(target.cluster, target.object, sent.version,
                                         sent.resource_version))
    observed_before_.push_back(*std::move(fact));
}

// Called before the outcome is folded, while State still holds the previous status.
void Outbox::note(const State& state, const PatchAccepted& accepted) {
  const auto key = state.writes.outstanding.find(accepted.intent);
  if (key == state.writes.outstanding.end()) return;
  const WriteState& write = state.writes.by_key.at(key->second);
  const PatchIntended& intent = write.outstanding->intent;
  const LogTime time = write.last_write.value_or(state.now);
  for (Notice& each : notices_of(intent, write.status().body, accepted.intent, time))
    notices_.push_back(std::move(each));
}

}  // namespace fairlead
