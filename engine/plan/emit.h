// What emitters share: the shape of an intent, and the guards before a write.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/fold/state.h"

namespace fairlead {

inline constexpr std::string_view kFieldManager = "fairlead";
inline constexpr std::string_view kClaimFinalizer = "fairlead.io/claim";

/// The order in which writes of one moment go out.
enum class Rank : std::uint8_t {
  shrink,
  claim_life,
  member,
  grow,
  worker,
  worker_list,
  status,
  release
};

/// One write that an emitter proposes.
struct Proposal {
  Rank rank{};
  PatchIntended intent;
};
using Proposed = std::optional<Proposal>;

/// Whether a write lowers quota: such a write does not wait for the write interval.
enum class Direction : std::uint8_t { lowers, other };

/// What keeps a write of an object back, in the order in which it is looked at.
enum class WriteBar : std::uint8_t { none, unanswered, not_seen_yet, refused, write_interval };
/// What keeps `intent` from being sent now.
WriteBar write_bar(const State& state, const PatchIntended& intent, Direction direction);
/// Without the fraction: metav1.Time has none.
constexpr LogTime whole_seconds(LogTime time) { return {time.ns / 1'000'000'000 * 1'000'000'000}; }

/// The object may be written now: nothing unanswered or not seen yet, not refused a moment ago, the
/// interval has passed.
bool may_write(const State& state, const PatchIntended& intent, Direction direction);
/// A write of the object of the hub is under way, or is sent by itself at once or within the write
/// interval.
bool is_soon_written(const State& state, const ObjectKey& object);

/// apiVersion text: "group/version", or "version" for core.
std::string api_version(Kind kind, const std::string& version);
/// The version that the hub serves of Kueue's group: v1beta2 unless only v1beta1 was seen.
std::string kueue_version(const State& state);

/// What every intent for an object of the hub begins with. `uid` and `resource_version` are of what
/// stands; empty: nothing does, or it does not matter.
PatchIntended hub_intent(Verb verb, ObjectKey target, std::string version, std::string uid = {},
                         std::string resource_version = {});

/// {"apiVersion", "kind", "metadata": {"name", "namespace"?, "uid"?, "resourceVersion"?}}: empty
/// strings are left out.
Json object_head(Kind kind, const std::string& version, const std::string& namespace_,
                 const std::string& name, const std::string& uid,
                 const std::string& resource_version);

/// The intent carries `resource_version` (not empty) instead of the one that State knows: updates
/// that changed nothing are not logged, but move it. An intent for what does not exist carries
/// none.
void carry_version(PatchIntended& intent, const std::string& resource_version);

/// Ascending, without repetition and zeros; at most the newest kReasonSeqsMax.
std::vector<Seq> deciding(std::vector<Seq> seqs);
inline constexpr std::size_t kReasonSeqsMax = 32;

}  // namespace fairlead
