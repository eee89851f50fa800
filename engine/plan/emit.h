// What emitters share: the shape of an intent, and the guards before a write.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/json.h"
#include "engine/fold/state.h"
#include "schema/write_rule.h"

namespace fairlead {

inline constexpr std::string_view kFieldManager = "fairlead";
inline constexpr std::string_view kClaimFinalizer = "fairlead.io/claim";

/// A write that an emitter proposes, if any.
using Proposed = std::optional<PatchIntended>;

/// Whether a write waits for the write interval of its object. One that lowers quota never does.
enum class Pacing : std::uint8_t { by_interval, at_once };
/// What keeps a write of an object back, in the order in which it is checked.
enum class WriteBar : std::uint8_t { none, unanswered, not_seen_yet, refused, write_interval };
/// Returns what keeps `intent` from being sent now.
WriteBar write_bar(const State& state, const PatchIntended& intent,
                   Pacing pacing = Pacing::by_interval);
/// Returns the write with its rank if it may be sent now: no WriteBar applies.
Proposed proposed(const State& state, Rank rank, PatchIntended intent,
                  Pacing pacing = Pacing::by_interval);
/// Adds the write, if any, to `proposals`.
void add(Proposed proposal, std::vector<PatchIntended>& proposals);
/// Cuts the fraction of a second off, because metav1.Time has none.
constexpr LogTime whole_seconds(LogTime time) { return {time.ns / 1'000'000'000 * 1'000'000'000}; }

/// Whether a write of the object of the hub is outstanding, or will be sent without another event,
/// after one conflict or within the write interval.
bool is_soon_written(const State& state, const ObjectKey& object);

/// Returns the reason of a condition for a write that was refused: HubRejected, WriteForbidden
/// where Fairlead lacks the right, WriteUnavailable where the server or a webhook does not answer.
std::string_view refusal_reason(const Refusal& refusal);

/// Returns the apiVersion text: "group/version", or "version" for the core group.
std::string api_version(Kind kind, const std::string& version);
/// Returns the version of Kueue's group that the hub serves: v1beta2 unless only v1beta1 was
/// observed.
std::string kueue_version(const State& state);

/// Returns what every intent for an object of the hub begins with. `uid` and `resource_version` are
/// the observed object's; empty if there is none, or if they do not matter.
PatchIntended hub_intent(Verb verb, ObjectKey target, std::string version, std::string uid = {},
                         std::string resource_version = {});

/// Returns {"apiVersion", "kind", "metadata": {"name", "namespace"?, "uid"?, "resourceVersion"?}}
/// without the fields whose strings are empty.
Json object_head(Kind kind, const std::string& version, const std::string& namespace_,
                 const std::string& name, const std::string& uid,
                 const std::string& resource_version);

/// Makes the intent carry `resource_version` instead of the one in State: updates that changed no
/// facts move it without being logged. Does nothing if it is empty, or for an intent without a
/// version, whose object does not exist.
void carry_version(PatchIntended& intent, const std::string& resource_version);

/// Returns the newest kReasonSeqsMax of `seqs`, ascending, without repetitions and zeros.
std::vector<Seq> deciding(std::vector<Seq> seqs);
inline constexpr std::size_t kReasonSeqsMax = 32;

}  // namespace fairlead
