// The rules of the validating webhook: each is a function that names what is wrong with a request.
//
// A rule reads the request and a view, nothing else, so it objects to a request to an API server
// and to an object in a file alike. None of them guards anything: the fold checks again what
// matters. docs/webhook.md has them for users.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engine/admission/admission_request.h"
#include "engine/admission/admission_view.h"

namespace fairlead {

/// What is wrong with a field, as API servers call it (metav1.CauseType).
enum class CauseType : std::uint8_t { invalid, duplicate, forbidden };
/// Returns "FieldValueInvalid", "FieldValueDuplicate" or "FieldValueForbidden".
std::string_view text_of(CauseType cause);

/// One thing that a rule objects to.
struct Objection {
  std::string field;  ///< as in "spec.clusterName"; empty where it is about the whole object
  CauseType cause = CauseType::invalid;
  std::string message;  ///< without the field

  friend bool operator==(const Objection&, const Objection&) = default;
};
using Objections = std::vector<Objection>;

/// A request to which the rules are asked, with what several of them need.
struct Question {
  const AdmissionView& view;
  const AdmissionRequest& request;
  /// Of a claim that is created or whose spec changes: what the fold would make of the spec.
  std::optional<std::variant<ClaimTerms, ClaimFault>> understood;

  /// The valid new spec; null if there is none.
  const ClaimTerms* terms() const {
    return understood ? std::get_if<ClaimTerms>(&*understood) : nullptr;
  }
};
Question question_of(const AdmissionView& view, const AdmissionRequest& request);

// Each returns what it objects to; nothing where the request is of no kind or operation that it is
// asked about.

/// The fold would refuse the spec (understand()).
Objections claim_invalid(const Question& question);
/// A claim is created for a cluster that has one.
Objections cluster_taken(const Question& question);
/// The assignments of a resource sum above what is accepted of the cluster, or of a flavor where
/// the flavor bounds. An unknown capacity is not objected to.
Objections over_capacity(const Question& question);
/// The ceiling for a resource is above what is accepted of the cluster.
Objections nominal_above_capacity(const Question& question);
/// The claim names queues or flavors that the hub does not have.
Objections unknown_target(const Question& question);
/// An assignment falls below what runs on its pair.
Objections below_usage(const Question& question);
/// A claim is deleted while workloads run on its pairs.
Objections claim_in_use(const Question& question);
/// An update of a queue changes the value of a pair that claims assign, or drops it.
Objections owned_quota(const Question& question);
/// An annotation fairlead.io/... that was set or changed cannot be read.
Objections bad_base(const Question& question);
/// An object is deleted that claims name; of a ManagedCluster: whose claim is in use.
Objections queue_in_use(const Question& question);
Objections flavor_in_use(const Question& question);
Objections cluster_in_use(const Question& question);

/// A rule with its function.
struct AdmissionRuleFunction {
  AdmissionRule rule;
  Objections (*ask)(const Question& question);
};
/// All rules, in the order in which findings are reported.
std::span<const AdmissionRuleFunction> admission_rules();

}  // namespace fairlead
