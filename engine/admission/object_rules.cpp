// The rules about annotations, and about the objects that claims name.
#include <array>
#include <utility>

#include "engine/admission/pair_text.h"
#include "engine/admission/rules.h"
#include "engine/fold/queues/queue_annotations.h"
#include "engine/fold/queues/queues.h"
#include "schema/debounce_parameter.h"

namespace fairlead {

namespace {

bool removes(const Question& question, Kind kind) {
  return question.request.key.kind == kind &&
         question.request.operation == AdmissionOperation::remove;
}

const ClusterQueueFacts* queue_facts(const std::optional<AdmissionObject>& object) {
  return object ? std::get_if<ClusterQueueFacts>(&object->facts) : nullptr;
}

// An update changes the value of one pair.
struct PairChange {
  QuotaKey pair;
  Amount was = 0;
  std::optional<Amount> is;  // nullopt: the pair is gone
};

std::vector<PairChange> changed_pairs(const ClusterQueueFacts& before,
                                      const ClusterQueueFacts& after,
                                      const ResourceAliases& aliases) {
  std::vector<PairChange> changes;
  if (before.groups == after.groups) return changes;
  // Both are read in the same way, even where a queue covers an alias and the name that it
  // replaces. All pairs at once: anybody may send a review of 3 MiB of flavors.
  const auto old_amounts = amounts_in(before.groups, aliases);
  const auto new_amounts = amounts_in(after.groups, aliases);
  for (const ResourceGroup& group : before.groups)
    for (const FlavorQuotas& flavor : group.flavors)
      for (const ResourceQuota& quota : flavor.resources) {
        const QuotaKey pair{flavor.name, canonical_resource(aliases, quota.name)};
        const auto was = old_amounts.find(pair);
        const auto is = new_amounts.find(pair);
        if (was == old_amounts.end()) continue;
        if (is == new_amounts.end())
          changes.push_back({pair, was->second, std::nullopt});
        else if (is->second != was->second)
          changes.push_back({pair, was->second, is->second});
      }
  return changes;
}

// What the hub does about the change: it writes `ours` again, or adds the pair again.
std::string answer_to(const PairChange& change, Amount ours) {
  const std::string value = amount_text(change.pair.resource, ours);
  return change.is ? ": the hub will set it back to " + value + ". "
                   : ": the hub will add the pair again with " + value + ". ";
}

std::string pair_is(const PairChange& change, Amount ours) {
  return "nominalQuota of (" + change.pair.flavor + ", " + change.pair.resource + ") is " +
         amount_text(change.pair.resource, ours);
}

// Short: a warning has 240 characters, and the way out must be among them.
std::string owned_text(const PairEntry& owned, const PairChange& change) {
  const Amount granted = owned.quota.value_or(change.was);
  return pair_is(change, granted) + " by ClusterResourceClaim " + owned.claims.text() +
         answer_to(change, granted) + "Change the claim, or the annotation fairlead.io/base-quota";
}

std::string followed_text(const PairChange& change) {
  return pair_is(change, change.was) + " by the queue's workers" + answer_to(change, change.was) +
         "Change the annotations fairlead.io/quota-from, quota-percent or base-quota";
}

// The text behind "annotation fairlead.io/name: ", which the message of a reader begins with.
std::string without_name(const std::string& message, const std::string& annotation) {
  const std::string prefix = "annotation fairlead.io/" + annotation + ": ";
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

Objection unreadable(const std::string& annotation, const std::string& why) {
  return {"metadata.annotations[fairlead.io/" + annotation + "]", CauseType::invalid,
          without_name(why, annotation)};
}

// Why the annotation of a queue cannot be read; empty if it can be, or is none of ours.
std::string fault_of_queue(const std::string& annotation, const std::string& value,
                           const ResourceAliases& aliases) {
  WorkerQuotaTerms terms;
  if (annotation == "base-quota") return read_base_quota(value, aliases, {}).malformed;
  if (annotation == "extend-resource-groups" && value != "true" && value != "false")
    return "expected true or false, got " + value;
  if (annotation == "quota-from")
    terms.from = value;
  else
    // The other annotations are read only of a queue that follows its workers.
    terms.from = "workers";
  if (annotation == "quota-percent") terms.percent = value;
  if (annotation == "quota-reserve") terms.reserve = value;
  WorkerQuota quota;
  read_worker_terms(terms, aliases, quota);
  return quota.malformed;
}

std::string fault_of_claim(const std::string& annotation, const std::string& value) {
  constexpr std::string_view prefix = "debounce.";
  if (!annotation.starts_with(prefix)) return "";
  DebounceSettings probe;
  std::string why_not;
  if (set_debounce_parameter(probe, annotation.substr(prefix.size()), value, why_not)) return "";
  return "\"" + value + "\": " + why_not;
}

}  // namespace

Objections owned_quota(const Question& question) {
  const AdmissionRequest& request = question.request;
  const ClusterQueueFacts* before = queue_facts(request.old_object);
  const ClusterQueueFacts* after = queue_facts(request.object);
  const QueueEntry* queue = question.view.queues.find(request.key.name);
  if (!before || !after || !queue || !queue->set_back) return {};
  Objections objections;
  for (const PairChange& change : changed_pairs(*before, *after, question.view.terms->aliases)) {
    // The hub writes a contested pair as it observed it (overwrites.h), so it sets nothing back.
    if (queue->contested.contains(change.pair)) continue;
    const auto owned = queue->pairs.find(change.pair);
    const bool claimed = owned != queue->pairs.end();
    if (!claimed && !queue->follows_workers) continue;
    // Before the hub has written the pair, or found it as it wants it, it sets nothing back.
    if (claimed && !queue->follows_workers && !owned->second.quota) continue;
    // A value that the hub would write anyway takes nothing away.
    if (claimed && change.is && owned->second.quota == change.is) continue;
    objections.push_back({"spec.resourceGroups", CauseType::forbidden,
                          claimed && !queue->follows_workers ? owned_text(owned->second, change)
                                                             : followed_text(change)});
  }
  return objections;
}

Objections bad_base(const Question& question) {
  const AdmissionRequest& request = question.request;
  if (!request.object) return {};
  Objections objections;
  for (const auto& [annotation, value] : request.object->annotations) {
    // A value that was there before passes: it must not keep people from editing anything else.
    if (request.old_object) {
      const auto& before = request.old_object->annotations;
      const auto was = before.find(annotation);
      if (was != before.end() && was->second == value) continue;
    }
    std::string why;
    if (request.key.kind == Kind::cluster_queue)
      why = fault_of_queue(annotation, value, question.view.terms->aliases);
    if (request.key.kind == Kind::claim) why = fault_of_claim(annotation, value);
    if (!why.empty()) objections.push_back(unreadable(annotation, why));
  }
  return objections;
}

Objections queue_in_use(const Question& question) {
  if (!removes(question, Kind::cluster_queue)) return {};
  const QueueEntry* queue = question.view.queues.find(question.request.key.name);
  if (!queue || queue->claims.count == 0) return {};
  return {{"", CauseType::forbidden,
           "ClusterResourceClaim " + queue->claims.text() +
               " assigns quota to it: what is granted there waits until the queue is back"}};
}

Objections flavor_in_use(const Question& question) {
  if (!removes(question, Kind::resource_flavor)) return {};
  const FlavorEntry* flavor = question.view.flavors.find(question.request.key.name);
  if (!flavor || flavor->claims.count == 0) return {};
  return {{"", CauseType::forbidden,
           "ClusterResourceClaim " + flavor->claims.text() +
               " assigns quota of it: Kueue stops every ClusterQueue that has a missing flavor"}};
}

Objections cluster_in_use(const Question& question) {
  if (!removes(question, Kind::managed_cluster)) return {};
  const ClusterEntry* cluster = question.view.clusters.find(question.request.key.name);
  const ClaimEntry* claim =
      cluster && !cluster->claim.empty() ? question.view.claims.find(cluster->claim) : nullptr;
  const std::string used = claim ? usage_text(question.view, *claim) : "";
  if (used.empty()) return {};
  return {{"", CauseType::forbidden,
           "in use by ClusterResourceClaim " + cluster->claim + ": " + used +
               "; the hub will take its quota back as soon as the cluster is gone"}};
}

}  // namespace fairlead
