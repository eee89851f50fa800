// Answers questions about the past: what a quota was, who changed it, what differs between two
// moments, and why.
//
// Every answer is computed from the log and its snapshots alone, never from a live State. A
// question costs the fold of the events after the nearest snapshot and a few lookups. An answer is
// one JSON document with the field names below; the text table is made from that document, so a
// program and a person read the same. Amounts are canonical Quantity text and exact, times are RFC
// 3339, events are named by seq. An event that pruning removed from the log is named too, with
// "pruned": true and null for its time and its text.
//
// Every answer has: "kind"; "asOf" {"seq", "time", "eventTime"}: the last event that was folded,
// the moment that was asked for, the time of that event; "configuration" {"seq", "digest"};
// "unseen": the stretches that overlap what was asked for and in which no hub ran or a source of
// the answer was silent (unseen.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "engine/base/json.h"
#include "engine/base/result.h"
#include "engine/fold/observed.h"
#include "engine/log/event_log.h"
#include "snapshots/snapshot_source.h"

namespace fairlead {

struct State;

/// A log, open for reading, and its snapshots (may be null). Both must outlive the question. A log
/// to which another process appends is read up to its end at the time of the question.
struct AuditSource {
  const ReadableLog& log;
  const SnapshotSource* snapshots = nullptr;
  /// What the log folds to, its moment closed, at the event that counts as its end; it has the
  /// nodes that the question reads. null: the end is the log's last event, and its state is folded.
  const State* present = nullptr;
  /// The time of the hub that appends to the log and answers: up to then it saw every change. none:
  /// of a copy.
  std::optional<LogTime> now{};
  /// Receives how far a fold is; may be empty.
  FoldProgress progress{};
};
/// Returns the last event that a question knows of.
Seq last_seq_of(const AuditSource& source);

/// A place in the past. A Seq means the state right after that event, with its moment closed. A
/// LogTime means every event and every deadline until that time.
using AuditPosition = std::variant<Seq, LogTime>;

/// One document. It is a type of its own because a Json converts implicitly to anything.
struct AuditAnswer {
  Json document;
};

/// A pair of a ClusterQueue, as a person writes it: the resource may be an alias.
struct AuditPair {
  std::string queue;
  std::string flavor;
  std::string resource;
};

/// A namespace of a tenant, or a pod in it, for questions about the super cluster pool.
struct AuditPlacement {
  std::string tenant;
  std::string namespace_;
  std::string pod;  ///< empty: the namespace itself
};
/// The decisions that an answer names: from `from` (none: the newest ones) to `to` (none, or later:
/// to the moment).
struct AuditDecisions {
  std::optional<AuditPosition> from;
  std::optional<AuditPosition> to;
};

// Errors of every function below: `bad_input` if a queue, flavor, resource or place does not exist
// (it names what exists nearby); otherwise the error of reading the log.

/// Returns a QuotaAudit: "rows" [{"queue", "flavor", "resource", "nominal" (the current value on
/// the hub; null: no such pair), "desired" (what Fairlead wants there; null: not ours, or unknown),
/// "ours", "base", "overbookPercent", "effective" (effective.h), "borrowingLimit", "lendingLimit",
/// "cohort", "stopPolicy" (null: none), "used" (by Kueue's status; null: not reported), "last" (the
/// row of a QuotaHistory that moved nominal last; null: not among the queue's last events),
/// "grants" [{"cluster", "claim",
/// "assigned", "granted", "contributes" (on the hub now), "reason"}]}]. Where desired is not null
/// it is base + the sum of contributes (times overbookPercent, rounded to the quantum). An empty
/// `queue` means every queue.
Result<AuditAnswer> audit_quota(const AuditSource& source, const AuditPosition& as_of,
                                const std::string& queue);

/// Returns a QuotaHistory: "rows" [{"seq", "time", "flavor", "resource", "old", "new" (null: no
/// such pair), "writer" "fairlead"|"foreign", "rule", "text", "because" [seq, ascending], "answer"
/// {"outcome" "accepted"|"rejected"|"unknown"|"none", "seq", "time", "code", "why"}, "seen" {"seq",
/// "time"} (when the watch reported it), "tookEffect" {"seq", "time"} (since when a QuotaAudit has
/// the new value; null: not yet, or never), "oldUnless", "by" [{"manager", "operation", "time",
/// "subresource"}]}]: every change of a nominalQuota of the queue from `from` to `to`, by seq,
/// found by the log's index. A foreign row with "oldUnless" follows a write of ours that was never
/// answered: "old" is the value that write set, "oldUnless" the value before it, in case the write
/// never arrived. A foreign row has "by" where the log has it: the field managers that owned the
/// queue's spec.resourceGroups when the change was observed, as metadata.managedFields has them,
/// the newest first ("time" may be null). One alone made the change, or the last of several changes
/// within one observation; of several, one did, and the others own the same list. Empty flavor or
/// resource: all. An alias selects every spelling of its resource; another name selects its own
/// rows, or if there are none those of its aliases. "effective" are the changes of the queue's
/// status.effectiveQuotas (effective.h). "settings" are the changes of everything else of the queue
/// that decides who gets quota, by seq: rows of a limit as in "rows", with "field" "borrowingLimit"
/// or "lendingLimit", and those of the other fields (spec_history.h), which are left out where a
/// flavor or resource is given. "note" is null, or reports that the queue had no such flavor or
/// resource. A span without an event has no rows, and its "to" is before its "from"; a
/// span whose ends are reversed is `bad_input`.
///
/// With "multikueueconfig/NAME" as the queue it returns a WorkersHistory, with "cohort/NAME",
/// "resourceflavor/NAME", "admissioncheck/NAME" or "localqueue/NAMESPACE/NAME" an ObjectHistory:
/// "object" {"kind", "namespace", "name"}, "from", "to", "rows" (as "settings"), "effective" (of a
/// Cohort), "note".
Result<AuditAnswer> audit_history(const AuditSource& source, const AuditPair& pair,
                                  const AuditPosition& from, const AuditPosition& to);

/// Returns a QuotaDiff: "from", "to" (as asOf), "quotas", "grants", "capacity", "claims", "workers"
/// (lists of MultiKueueClusters by "multiKueueConfig", with "came" and "went"), "superClusters",
/// "namespaces" and "pods" of tenants (none where a `queue` is given), "configuration", and
/// "queues", "cohorts", "flavors", "checks" and "localQueues" (specs without quotas, but of
/// Cohorts): lists of what differs, each row with its names and "from" and "to" (null: not there),
/// of specs with the fields that differ. A quota has "borrowingLimit" and "lendingLimit" where its
/// queue has them. A claim
/// also has "debounce.PARAMETER" for each annotation. Quotas are named in their queue's spelling. A
/// `queue` that is not empty restricts the answer to that queue, the claims that name it, their
/// clusters, the worker lists that its AdmissionChecks use, these checks, its flavors, the Cohorts
/// above it and its LocalQueues. With the moments exchanged, "came"
/// and "went" are exchanged too, and "note" says so.
Result<AuditAnswer> audit_diff(const AuditSource& source, const AuditPosition& earlier,
                               const AuditPosition& later, const std::string& queue);

/// Returns a QuotaWhy: the derivation of the written value, down to the nodes (fields: explain.h).
Result<AuditAnswer> audit_why(const AuditSource& source, const AuditPair& pair,
                              const AuditPosition& as_of);

/// Returns a QuotaWhyNot: "nominal", "desired", "undamped" (desired if nothing were damped and
/// every member ready), "answer" (the first guard's name; "DueNow" if nominal and desired differ
/// and nothing in the log keeps the write back (a hub that only recommends writes nothing all the
/// same); "NothingDiffers"), "guards" [{"guard", "text", "since", "until", "seq", "cluster"}], the
/// nearest to the write first.
Result<AuditAnswer> audit_why_not(const AuditSource& source, const AuditPair& pair,
                                  const AuditPosition& as_of);

/// One of the two questions above.
using AskAboutPair = Result<AuditAnswer> (*)(const AuditSource& source, const AuditPair& pair,
                                             const AuditPosition& as_of);
/// A queue with more quotas is not answered about as a whole.
inline constexpr std::size_t kPairsAtOnce = 6;
/// Returns a QuotaWhyList: "queue", "answers" [what `ask` returns]: of each pair of a queue, or of
/// one flavor of it; `of` has no resource. Fails with `bad_input`, naming pairs, if it has more
/// than kPairsAtOnce. "unseen" is in the answers.
Result<AuditAnswer> audit_each_pair(const AuditSource& source, const AuditPair& of,
                                    const AuditPosition& as_of, AskAboutPair ask);

/// Returns a WorkersWhy about the worker list of a Placement: "list", "wish" (null: the list need
/// not change), "use", "foreign", "frozenSince", "windowsEnd" {window: time} (when a frozen list is
/// given up), "windows", "checks", and "workers" [{"multiKueueCluster", "cluster", "listed",
/// "decided", "selected", "since", "because" [{"seq", "time"}], "leftOut", "standing" (the verdict
/// of the membership rule), "rank" (null: unknown), "windowsEnd", "credential", "heldBy",
/// "runningCopies"}]. A `cluster` that is not empty, by either of its names, restricts the answer
/// to it.
Result<AuditAnswer> audit_why_workers(const AuditSource& source, const std::string& placement,
                                      const std::string& cluster, const AuditPosition& as_of);

/// Returns a WorkersHistory: "rows" [{"seq", "time", "old", "new" (names of MultiKueueClusters),
/// "writer" "fairlead"|"foreign", and of ours "rule", "text", "because", "intent"}]: every change
/// of the list. "old" is null if it was pruned and no snapshot holds it.
Result<AuditAnswer> audit_history_workers(const AuditSource& source, const std::string& placement,
                                          Seq from, Seq to);

/// Returns a PlacementWhy about a tenant's namespace or pod: "tenant", "namespace", "pod" (of a
/// pod), "seq" (of the last event), "slice" {"cpu", "memory"} (null: none was read), "expected"
/// (how many slices the namespace should have), "placements" {id: slices} (as decided),
/// "superCluster" (of a pod; null: none), "reason" (what is missing now; null: nothing), "clusters"
/// [{"id", "cluster" (the member; null: none has the id), "state" open|closed|away|gone, "slices",
/// "usable" (what the pool may use of it; null: no value yet), "others" (what other namespaces
/// hold), "room" (slices that fit beside them; 0 unless open), "short" (the first resource of which
/// there is not enough for one more slice, or for the pod; absent if there is), "heldBy"
/// [{"resource", and the fields of a "layer" (explain.h)}] (what keeps "usable" from what the
/// cluster offers; absent if nothing does), and of a pod "left" (of the namespace's slices) and
/// "free" (of the cluster), both without the pod itself}], "changes" [{"seq" (null: decided and not
/// written), "time", "rule", "text", "facts" [{"seq", "time", "text", "changed"
/// (event_changes.h)}], "answer"}]: the decisions about the object, the oldest first, and
/// "undecided" (null, or why nothing is decided about it). Amounts are canonical quantities.
Result<AuditAnswer> audit_why_placement(const AuditSource& source, const AuditPlacement& object,
                                        const AuditPosition& as_of,
                                        const AuditDecisions& decisions);
/// Answers likewise with a PlacementWhyNot, whose text begins with what is missing.
Result<AuditAnswer> audit_why_not_placement(const AuditSource& source, const AuditPlacement& object,
                                            const AuditPosition& as_of,
                                            const AuditDecisions& decisions);

/// Returns a PlacementHistory: "rows" [{"time", "seq", "old", "new" (as the annotation says: {id:
/// slices} or, of a pod, the id; text that cannot be read stays text; null: absent), "writer"
/// "fairlead"|"foreign", "rule" (null: another writer), and of ours "text", "because", "answer" and
/// "seen" as in a QuotaHistory}]: every change of a namespace's placements, or of a pod's super
/// cluster, from `from` to `to`.
Result<AuditAnswer> audit_history_placements(const AuditSource& source,
                                             const AuditPlacement& object,
                                             const AuditPosition& from, const AuditPosition& to);

/// Returns a WorkloadWhy about a Workload: "workload", "event" {"seq", "time"} (its last one),
/// "priority", "created", "list" (null: none), "nominated" (as decided), "clusterName" (as
/// observed), "reason" and "message" (of the condition fairlead.io/DevicesReserved; "": there is
/// none), "undecided" (null, or why no cluster is chosen by devices now), "reservation" (null, or
/// {"multiKueueCluster", "cluster", "since", "because" [{"seq", "time"}], "brokenSince",
/// "placedSince", "replacedBy" [claims], "pods" [{"podSet", "node", "claims" [{"entry", "devices"
/// [{"request", "device", "adminAccess"}]}]}]}), "fleetClaims" [{"entry", "claim", "template"
/// (null: the entry names the claim), "event" (null: there is no such claim), "class" {"name",
/// "event" (null: it is missing), "driver", "suitableClusters" (null: all)}, "allocationMode",
/// "allocation" (null, or {"event", "clusters" (null: all), "shareable", "devices" (of a
/// booking)}), "reservedFor", "deallocationRequested"}], "fleetScheduling" (null: its drivers were
/// asked nothing; or {"event", "potentialClusters", "selectedCluster", "unsuitableClusters" {entry:
/// names}}), "clusters" [{"multiKueueCluster", "cluster", "reason" ("": it fits), "detail",
/// "keptBy" (the first entry of "fleetClaims" that cannot be used there;
/// "": none), "events" (that decided it, where no object did), "objects"
/// [{"kind", "name", "seq" (null: not there)}] (what its pods name there), "requests" [{"podSet",
/// "request", "count" (null: all), "devices" [{"device", "resourceSlice", "seq", "why" ("": it
/// could be taken), "usedBy" [objects]}], "otherDevices" (how many do not match)}] (of a refusal:
/// each request as if it were alone), "incompletePools" [{"driver", "pool"}]}], in the order of the
/// list.
Result<AuditAnswer> audit_why_workload(const AuditSource& source, const NamespacedName& id,
                                       const AuditPosition& as_of);
/// Answers likewise with a WorkloadWhyNot, whose text is about the clusters.
Result<AuditAnswer> audit_why_not_workload(const AuditSource& source, const NamespacedName& id,
                                           const AuditPosition& as_of);

/// Returns an AdmissionHistory: "rows" [{"seq", "time", "user", "operation"
/// CREATE|UPDATE|DELETE, "kind", "name", "rules" (that deny), "outcome" denied|overridden, "reason"
/// (of the override), "requestUid"}]: what the webhook refused, and what it admitted because of an
/// override, from `from` to `to`. `object` restricts the answer to objects of that NAME or
/// KIND/NAME; empty: all. Notes that the hub lost are not in the log.
Result<AuditAnswer> audit_admissions(const AuditSource& source, const std::string& object,
                                     const AuditPosition& from, const AuditPosition& to);

/// Who reads a text: a file or pipe, or a terminal that shows colours.
enum class TextFor : std::uint8_t { file, terminal };

/// How a person wants a table.
struct AuditTextStyle {
  TextFor reader = TextFor::file;
  bool wide = false;   ///< every column, however long the lines; else 80 columns where that goes
  bool exact = false;  ///< amounts as the document has them, and not as people read them
};

/// Renders any answer as a table for people.
std::string audit_text(const AuditAnswer& answer, const AuditTextStyle& style = {});

}  // namespace fairlead
