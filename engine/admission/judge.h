// The verdict on a request: what the rules object to, what of it denies, and what is said.
#pragma once

#include <string>
#include <vector>

#include "engine/admission/rules.h"

namespace fairlead {

/// An objection with its rule and what it leads to.
struct Finding {
  AdmissionRule rule{};
  RuleAction action = RuleAction::warn;  ///< deny or warn
  Objection objection;

  friend bool operator==(const Finding&, const Finding&) = default;
};

struct AdmissionVerdict {
  std::vector<Finding> findings;  ///< in the order of the rules
  /// Rules that deny, or that would without the override; each once, in order.
  std::vector<AdmissionRule> refused;
  std::string override_reason;  ///< of the annotation fairlead.io/override, where it was needed
  bool unsynced = false;        ///< the view was, so that claimInvalid alone was asked

  bool denied() const;
  /// A rule would have denied it, and the override made that a warning.
  bool overridden() const { return !override_reason.empty(); }
};

/// Asks every rule that is not off. Admits without a finding what carries a deletionTimestamp.
AdmissionVerdict judge(const AdmissionView& view, const AdmissionRequest& request);

/// Whether the request is not judged at all, because it is the hub's own (`hub_user`, which may be
/// empty) or comes from a controller of kube-system, which must be able to remove anything. A user,
/// not a field manager: any client can choose the latter.
bool passes(const AdmissionRequest& request, const std::string& hub_user);

/// More and longer warnings are cut: the API server cuts at 256 characters each and at 4,096 in
/// all, silently, and drops a warning that has a control character.
inline constexpr std::size_t kWarningsMax = 8;
inline constexpr std::size_t kWarningCharactersMax = 240;

/// Returns the text of a finding for a person: "spec.clusterName: ..."
std::string finding_text(const Finding& finding);
/// Returns `text` of printable ASCII characters alone, at most `characters_max` of them; "..." ends
/// one that was longer.
std::string printable(std::string_view text, std::size_t characters_max);
/// Returns the warnings that the caller gets beside a denial: the findings that do not deny, and
/// whether the hub is not synced. In order, within the bounds above; the last says how many more
/// there are.
std::vector<std::string> warnings_of(const AdmissionVerdict& verdict);

}  // namespace fairlead
