#include "engine/fold/multikueue/conditions.h"

#include <algorithm>

#include "engine/fold/condition_message.h"
#include "engine/fold/deadlines.h"
#include "engine/fold/multikueue/multikueue_close.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/multikueue/names.h"
#include "engine/fold/multikueue/nominations.h"
#include "engine/fold/multikueue/rank.h"
#include "engine/fold/multikueue/windows.h"
#include "engine/fold/queues/queue_state.h"
#include "engine/fold/writes/record.h"
#include "engine/fold/writes/retry.h"
#include "engine/fold/writes/write_state.h"

namespace fairlead {

namespace {

struct Subject {
  MultiKueueReader state;
  const std::string& name;
  const CheckRecord& check;
  const WorkerList* list;  ///< null: there is none

  std::string placement() const {
    return state.configuration.kueue_namespace + "/" + check.placement;
  }
};

ConditionWish no(std::string reason, std::string message) {
  return {ConditionStatus::no, std::move(reason), std::move(message)};
}

ConditionWish bad_parameters(const Subject& of) {
  const AdmissionCheckFacts& facts = of.check.seen.facts;
  const std::string head = "AdmissionCheck " + of.name + ": spec.parameters ";
  if (facts.parameters_api_group.empty() && facts.parameters_kind.empty() &&
      facts.parameters_name.empty())
    return no("BadParameters", head + "is missing, expected a Placement");
  if (facts.parameters_api_group != info(Kind::placement).group)
    return no("BadParameters", head + "has apiGroup \"" + facts.parameters_api_group +
                                   "\", expected " + std::string(info(Kind::placement).group));
  if (facts.parameters_kind != info(Kind::placement).name)
    return no("BadParameters",
              head + "has kind \"" + facts.parameters_kind + "\", expected Placement");
  return no("BadParameters", head + "has no name");
}

ConditionWish placement_not_found(const Subject& of) {
  std::string message = "Placement " + of.placement() + " does not exist";
  for (const auto& [id, placement] : of.state.multikueue.placements)
    if (id.second == of.check.placement)
      return no("PlacementNotFound", message + "; the one in namespace " + id.first +
                                         " is not used, it must be in the namespace of Kueue");
  return no("PlacementNotFound", message);
}

std::string profile_hint(const Subject& of) {
  return of.state.multikueue.profiles_off
             ? "; Kueue last reported its feature gate MultiKueueClusterProfile off: it uses no "
               "ClusterProfile"
             : "";
}

std::string secret_hint(const Subject& of) {
  if (!of.state.multikueue.unreadable.contains(Kind::secret)) return "";
  return "; Secrets in namespace " + of.state.configuration.kueue_namespace + " cannot be read";
}

// Returns a text about a refused write of an object of the list; empty if none was refused.
std::string refused_write(const Subject& of) {
  const auto refused = [&](Kind kind, const std::string& name) -> std::string {
    const Refusal* refusal = refusal_of(of.state.writes, {kind, "", name});
    return refusal ? std::string(info(kind).name) + " " + name + ": " + refusal->reason : "";
  };
  if (std::string text = refused(Kind::multikueue_config, of.check.placement); !text.empty())
    return text;
  for (const auto& [name, worker] : of.list->workers)
    if (std::string text = refused(Kind::multikueue_cluster, name); !text.empty()) return text;
  return "";
}

// Returns why there is nothing to dispatch to: the first filter that leaves no cluster.
std::optional<ConditionWish> nothing_to_dispatch_to(const Subject& of) {
  std::size_t with_credential = 0, named = 0, free = 0;
  std::string without;
  for (const auto& [name, worker] : of.list->workers) {
    if (!worker.decided) continue;
    if (!worker.credential) {
      without += (without.empty() ? "" : ", ") + worker.cluster;
      continue;
    }
    ++with_credential;
    if (!worker.usable_name) continue;
    ++named;
    if (!of.list->running.contains(name)) ++free;
  }
  const std::string head = "Placement " + of.placement() + ": ";
  if (of.list->decided.empty())
    return no("NoClustersAvailable", head + "no PlacementDecision names a cluster");
  if (with_credential == 0)
    return no("CredentialsMissing",
              head +
                  "no cluster has a ClusterProfile with a provider that may be used or a Secret "
                  "with the key kubeconfig" +
                  secret_hint(of) + "; without a credential: " + without);
  if (!of.list->foreign.empty())
    return no("MultiKueueConfigError",
              "MultiKueueConfig " + of.check.placement +
                  " exists and was not made by Fairlead (no label app.kubernetes.io/managed-by)");
  // A refused write is the reason only where there is no list yet; else remarks() has it.
  if (of.list->names.empty())
    if (std::string refused = refused_write(of); !refused.empty())
      return no("MultiKueueConfigError", std::move(refused));
  if (named == 0)
    return no("NameTaken", head + "the name of every MultiKueueCluster is taken or not valid");
  if (free == 0)
    return no("WaitingForRunningCopies",
              head + "on every cluster Workloads of an earlier time may still run");
  return std::nullopt;
}

std::optional<ConditionWish> why_idle(const Subject& of) {
  if (!of.check.good) return bad_parameters(of);
  if (!of.state.multikueue.placements.contains(
          {of.state.configuration.kueue_namespace, of.check.placement}))
    return placement_not_found(of);
  if (of.list == nullptr)
    return no("NoClustersAvailable",
              "Placement " + of.placement() + ": no PlacementDecision names a cluster");
  return nothing_to_dispatch_to(of);
}

std::string unreadable(Kind kind) {
  return std::string(info(kind).resource) + " cannot be read (RBAC: list and watch)";
}

// Returns the remarks that a message ends with: settings and scores that are ignored, refused
// writes, and kinds that cannot be read.
std::string remarks(const Subject& of) {
  std::vector<std::string> lines;
  windows_of(of.state.configuration, of.check.seen.facts, &lines);
  if (of.list)
    for (const auto& [name, worker] : of.list->workers)
      for (std::string& line : scores_out_of_range(of.state, of.check.placement, worker.cluster))
        lines.push_back(std::move(line));
  if (of.list && !of.list->names.empty())
    if (std::string refused = refused_write(of); !refused.empty())
      lines.push_back(std::move(refused));
  for (const std::string& name : of.state.multikueue.followers) {
    // The entry stays when the queue goes (forget_queue).
    const Queue& queue = of.state.queues.by_name.at(name);
    const auto& checks = queue.facts.admission_checks;
    if (!queue.workers.malformed.empty() &&
        std::find(checks.begin(), checks.end(), of.name) != checks.end())
      lines.push_back("ClusterQueue " + name + ": " + queue.workers.malformed);
  }
  for (const Kind kind : of.state.multikueue.unreadable)
    if (kind != Kind::mutating_admission_policy)  // DispatcherReady reports it
      lines.push_back(unreadable(kind));
  if (lacks_rights(of.state.writes, Kind::workload))
    lines.push_back(std::string(info(Kind::workload).resource) +
                    " cannot be written (RBAC: patch of workloads/status)");
  std::string text = profile_hint(of);
  for (const std::string& line : lines) text += "; " + line;
  return text;
}

// ---- AllClustersUsed ----

std::string why_left_out(const Subject& of, const std::string& name, const Worker& worker) {
  switch (worker.left_out) {
    case LeftOut::credentials_missing: return "no credential";
    case LeftOut::name_taken: return "MultiKueueCluster " + name + " has another owner";
    case LeftOut::name_invalid: return "MultiKueueCluster " + name + " would not be a valid name";
    case LeftOut::no: break;
  }
  const bool too_many = of.list->decided.size() > workers_max(of.state.multikueue);
  return too_many && !worker.listed && !of.list->running.contains(name) ? "no place left" : "";
}

ConditionWish all_clusters_used(const Subject& of) {
  const WorkerList& list = *of.list;
  std::size_t out_of[4] = {};  // by LeftOut; `no`: those for whom there is no place
  std::size_t decided = 0, out = 0;
  std::string left;
  for (const auto& [name, worker] : list.workers) {
    if (!worker.decided) continue;
    ++decided;
    const std::string why = why_left_out(of, name, worker);
    if (why.empty()) continue;
    ++out;
    ++out_of[static_cast<std::size_t>(worker.left_out)];
    left += (left.empty() ? "" : ", ") + worker.cluster + " (" + why + ")";
  }
  const std::string counts = std::to_string(decided - out) + " of " + std::to_string(decided) +
                             " clusters of Placement " + of.placement() + " used";
  if (out == 0)
    return {ConditionStatus::yes, "AllClustersUsed",
            "every cluster of Placement " + of.placement() + " is used"};
  const auto some = [&](LeftOut which) { return out_of[static_cast<std::size_t>(which)] > 0; };
  const char* reason = some(LeftOut::credentials_missing) ? "CredentialsMissing"
                       : some(LeftOut::name_taken)        ? "NameTaken"
                       : some(LeftOut::name_invalid)      ? "NameInvalid"
                                                          : "TooManyClusters";
  ConditionWish wish = no(reason, counts + ", left out: " + left);
  bound_message(wish.message);
  return wish;
}

// Adopts the condition observed on the check while we have no other result: it is from before this
// log, or from another writer. Its message is not observed, so the reason replaces it.
void adopt_current(ConditionWish& wish, const ConditionFacts& current) {
  if (current.status != ConditionStatus::yes && current.status != ConditionStatus::no) return;
  if (wish.status != current.status || wish.reason != current.reason)
    wish = {current.status, current.reason, current.reason};
}

bool same_word(const ConditionWish& a, const ConditionWish& b) {
  return a.status == b.status && a.reason == b.reason;
}

// Derives AllClustersUsed, which is present while a config is. Another status or reason must last
// for `settle` before it is reported, and so must another message.
void derive_used(const Subject& of, CheckRecord& check, Duration settle, LogTime& next) {
  const ConditionFacts& current = check.seen.facts.all_clusters_used;
  if (!check.good && of.list && !of.list->names.empty()) return adopt_current(check.used, current);
  ConditionWish wish = of.list && check.good ? all_clusters_used(of) : ConditionWish{};
  if (!same_word(wish, check.used_next)) check.used_word_since = of.state.now;
  if (wish.message != check.used_next.message) check.used_message_since = of.state.now;
  check.used_next = std::move(wish);
  if (!check.used.given()) adopt_current(check.used, current);
  if (!of.list || of.list->names.empty()) {
    const bool about_to_be_written = of.list && of.list->wish;
    if (!about_to_be_written) check.used = {};
    return;
  }
  const bool wiped = current.status == ConditionStatus::absent;
  const bool first = (!check.used.given() || wiped) && check.active.given();
  const bool adopted = check.used.message == check.used.reason;
  if (first || (adopted && same_word(check.used, check.used_next))) check.used = check.used_next;
  if (!check.used.given() || check.used == check.used_next) return;
  const bool word = same_word(check.used, check.used_next);
  const LogTime change = (word ? check.used_message_since : check.used_word_since) + settle;
  if (change <= of.state.now)
    check.used = check.used_next;
  else
    next = std::min(next, change);
}

// ---- DispatcherReady ----

ConditionWish clearing_policy_missing(const Subject& of) {
  std::string message =
      "AdmissionCheck " + of.name +
      ": no Workload is nominated, for Kueue could not clear the nomination and never admit it: "
      "apply docs/dispatcher/clear-nominations.yaml of Fairlead, or Kueue's "
      "MutatingAdmissionPolicy clear-nominated-cluster-names with its binding, or set "
      "multikueue.clearedBy to mergePatch if Kueue runs with its gate WorkloadRequestUseMergePatch";
  if (of.state.multikueue.unreadable.contains(Kind::mutating_admission_policy))
    message += "; " + unreadable(Kind::mutating_admission_policy);
  return no("ClearingPolicyMissing", std::move(message));
}

// Present while the dispatcher is on. It changes without a delay, because it reports whether
// Workloads are nominated now.
ConditionWish dispatcher_ready(const Subject& of) {
  if (!of.state.configuration.multikueue.dispatcher) return {};
  const auto clearer = clearer_of_nominations(of.state);
  if (!clearer) return clearing_policy_missing(of);
  switch (clearer->by) {
    case ClearedBy::unasked: break;
    case ClearedBy::policy:
      return {ConditionStatus::yes, "DispatcherReady",
              "MutatingAdmissionPolicy " + clearer->policy + " clears nominations"};
    case ClearedBy::merge_patch:
      return {ConditionStatus::yes, "DispatcherReady",
              "multikueue.clearedBy is mergePatch: Kueue clears nominations itself"};
  }
  return {};
}

void derive_active(const Subject& of, CheckRecord& check, Duration settle, LogTime& next) {
  auto idle = why_idle(of);
  if (!idle) {
    check.idle_since.reset();
    if (of.list && !of.list->names.empty())
      check.active = {ConditionStatus::yes, "Active",
                      "MultiKueueConfig and MultiKueueCluster generated" + remarks(of)};
    else
      adopt_current(check.active, check.seen.facts.active);
    bound_message(check.active.message);
    return;
  }
  if (!check.idle_since) check.idle_since = of.state.now;
  // Only the first False waits for `settle`. Once it is reported, another reason follows at once.
  const bool said =
      check.active.status == ConditionStatus::no ||
      (!check.active.given() && check.seen.facts.active.status == ConditionStatus::no);
  if (!said && *check.idle_since + settle > of.state.now) {
    adopt_current(check.active, check.seen.facts.active);
    next = std::min(next, *check.idle_since + settle);
    return;
  }
  idle->message += remarks(of);
  bound_message(idle->message);
  check.active = std::move(*idle);
}

// The last Active of a check that is being deleted: False before its config is deleted. The same
// write removes AllClustersUsed, and after it no condition is desired.
ConditionWish last_word(const MultiKueue& multikueue, const std::string& name,
                        const CheckRecord& check) {
  const std::string placement = left_placement(check);
  const auto list = multikueue.lists.find(placement);
  const bool goes = list != multikueue.lists.end() && list->second.dissolve;
  const AdmissionCheckFacts& current = check.seen.facts;
  if (!goes || (current.active.status != ConditionStatus::yes &&
                current.all_clusters_used.status == ConditionStatus::absent))
    return {};
  return no("NoClustersAvailable", "AdmissionCheck " + name +
                                       " is being deleted, and MultiKueueConfig " + placement +
                                       " with it");
}

}  // namespace

std::string left_placement(const CheckRecord& check) {
  const AdmissionCheckFacts& facts = check.seen.facts;
  if (!facts.deleting || facts.controller_name != kPlacementController) return "";
  // A check that was first observed while being deleted has only its present parameters.
  if (check.placement.empty() && check.good) return facts.parameters_name;
  return check.placement;
}

std::vector<const CheckRecord*> leaving_checks_of(MultiKueueReader state,
                                                  const std::string& placement) {
  std::vector<const CheckRecord*> checks;
  for (const auto& [name, check] : state.multikueue.checks)
    if (left_placement(check) == placement) checks.push_back(&check);
  return checks;
}

void recompute_check(MultiKueueRoom state, const std::string& name) {
  CheckRecord& check = state.multikueue.checks.at(name);
  LogTime next = kForever;
  if (check.ours) {
    const auto list = state.multikueue.lists.find(check.placement);
    const Subject of{state, name, check,
                     list == state.multikueue.lists.end() ? nullptr : &list->second};
    const Duration settle = check.good && of.list
                                ? of.list->windows.settle
                                : windows_of(state.configuration, check.seen.facts).settle;
    derive_active(of, check, settle, next);
    derive_used(of, check, settle, next);
    check.dispatcher = dispatcher_ready(of);
  } else {
    check.idle_since.reset();
    check.dispatcher = {};
    check.used = check.used_next = {};
    check.active = last_word(state.multikueue, name, check);
  }
  state.deadlines.set(CheckDeadline{name}, next);
}

}  // namespace fairlead
