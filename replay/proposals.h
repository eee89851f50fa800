// What the webhook would object to in files: `fairlead plan --admit`.
//
// The rules are the webhook's, and so is the view, made from the State at the end of a dry run or a
// log. Each proposed object is judged alone: none sees what another one proposes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "connectors/kube/document/object_input.h"
#include "engine/admission/judge.h"
#include "engine/fold/state.h"

namespace fairlead {

/// The annotations fairlead.io/... of the hub's objects, as the live objects had them last. State
/// does not keep all of them.
using LiveAnnotations = std::map<ObjectKey, std::map<std::string, std::string>>;
LiveAnnotations live_annotations(const std::vector<InputLine>& live);

/// A proposed object with the objections to it.
struct CheckedProposal {
  std::string api_version;
  AdmissionRequest request;
  AdmissionVerdict verdict;
};
/// Judges the hub's objects among `proposed`, in order: an object that State holds is updated,
/// another created, one with the type DELETED deleted. Objects of other clusters and of kinds
/// without a rule are left out.
std::vector<CheckedProposal> check_proposals(const State& state, const LiveAnnotations& live,
                                             const std::vector<InputLine>& proposed);

/// Whether one of them is denied.
bool any_denied(const std::vector<CheckedProposal>& judged);
/// One JSON object a line and finding: "cluster", "operation", "apiVersion", "kind", "name",
/// "rule", "action" deny|warn, "field", "message".
std::string proposals_json(const std::vector<CheckedProposal>& judged);
/// The findings as a table for people.
std::string proposals_table(const std::vector<CheckedProposal>& judged);

}  // namespace fairlead
