// Questions about the past: what a quota was, who changed it, what differs between two moments, and
// why.
//
// Everything is answered from the log and its snapshots alone, never from a live State: a question
// costs the fold of the events behind the nearest snapshot and a few lookups. An answer is one JSON
// document with the field names below; the table for people is made of that document, so a program
// and a person read the same. Amounts are canonical Quantity text and exact, times are RFC 3339,
// events are named by seq. What pruning took from the log is named too, with "pruned": true and
// null for its time and what it said.
//
// Every answer: "kind", and "asOf" {"seq", "time", "eventTime"}: the last event that was folded,
// the moment that was asked for, the time of that event. "configuration" {"seq", "digest"}.
// "unseen": the stretches without a hub, or without what the answer rests on, into which what was
// asked for falls (unseen.h).
#pragma once

#include <string>
#include <variant>

#include "engine/base/json.h"
#include "engine/base/result.h"
#include "engine/log/event_log.h"
#include "snapshots/snapshot_source.h"

namespace fairlead {

/// What is asked: a log, open for reading, and its snapshots (may be null). Both outlive the
/// question; a log that somebody appends to is read as far as it was when the question came.
struct AuditSource {
  const EventLog& log;
  const SnapshotSource* snapshots = nullptr;
};

/// An event (the state right after it, its moment decided), or a moment (everything until then, and
/// every deadline until then).
using AuditPosition = std::variant<Seq, LogTime>;

/// One document (a type of its own, because a Json converts to anything).
struct AuditAnswer {
  Json document;
};

/// A pair of a ClusterQueue, as a person writes it: the resource may be an alias.
struct AuditPair {
  std::string queue;
  std::string flavor;
  std::string resource;
};

// Errors of all: `bad_input` names what exists nearby if a queue, flavor, resource or place is not
// there; what cannot be read of the log otherwise.

/// QuotaAudit: "rows" [{"queue", "flavor", "resource", "nominal" (as it stands on the hub; null: no
/// such pair), "desired" (what Fairlead wants there; null: not ours, or unknown), "ours", "base",
/// "overbookPercent", "effective" (effective.h), "grants" [{"cluster", "claim", "assigned",
/// "granted", "contributes" (on the hub now), "reason"}]}]. Where desired is not null it is base +
/// the sum of contributes (times overbookPercent, to the quantum). `queue` empty: every queue.
Result<AuditAnswer> audit_quota(const AuditSource& source, const AuditPosition& as_of,
                                const std::string& queue);

/// QuotaHistory: "rows" [{"seq", "time", "flavor", "resource", "old", "new" (null: no such pair),
/// "writer" "fairlead"|"foreign", "rule", "text", "because" [seq, ascending], "answer" {"outcome"
/// "accepted"|"rejected"|"unknown"|"none", "seq", "time", "code", "why"}, "seen" {"seq", "time"}
/// (when the watch showed it), "oldUnless"}]: every change of a nominalQuota of the queue from
/// `from` to `to`, by seq, found by the log's index. A foreign row with "oldUnless" came behind a
/// write of ours that was never answered: "old" is what that write made, "oldUnless" what stood if
/// it never came. Empty flavor or resource: all. An alias means every spelling of its resource,
/// another name its own rows, or where there are none those of its aliases. "effective" are the
/// changes of what the queue shows in status.effectiveQuotas (effective.h). "note" is null, or says
/// that the queue had no such flavor or resource. A span in which no event lies, "to" is then
/// before "from", has no rows; one that is named backwards is `bad_input`.
Result<AuditAnswer> audit_history(const AuditSource& source, const AuditPair& pair,
                                  const AuditPosition& from, const AuditPosition& to);

/// QuotaDiff: "from", "to" (as asOf), "quotas", "grants", "capacity", "claims", "workers" (lists of
/// MultiKueueClusters by "multiKueueConfig", with "came" and "went"), "configuration": lists of
/// what differs, each row with its names and "from" and "to" (null: not there). A claim has also
/// "debounce.PARAMETER" where it is annotated. Quotas are told as their queue spells them. `queue`
/// not empty: only it, the claims that name it, their clusters, and the worker lists that its
/// AdmissionChecks use. The other way round, what came is told as what went.
Result<AuditAnswer> audit_diff(const AuditSource& source, const AuditPosition& earlier,
                               const AuditPosition& later, const std::string& queue);

/// QuotaWhy: from the written value down to the nodes; explain.h has its fields.
Result<AuditAnswer> audit_why(const AuditSource& source, const AuditPair& pair,
                              const AuditPosition& as_of);

/// QuotaWhyNot: "nominal", "desired", "undamped" (desired if nothing were damped and every member
/// ready), "answer" (the first guard's name; "DueNow" if nominal and desired differ and nothing
/// in the log keeps the write back (a hub that only recommends writes nothing all the same);
/// "NothingDiffers"), "guards" [{"guard", "text", "since", "until", "seq", "cluster"}], the nearest
/// to the write first.
Result<AuditAnswer> audit_why_not(const AuditSource& source, const AuditPair& pair,
                                  const AuditPosition& as_of);

/// WorkersWhy: the worker list of a Placement: "list", "wish" (null: as it stands), "use",
/// "foreign", "frozenSince", "windowsEnd" {window: time} (when a frozen list is given up),
/// "windows", "checks", and "workers" [{"multiKueueCluster", "cluster", "listed", "decided",
/// "selected", "since", "because" [{"seq", "time"}], "leftOut", "standing" (what the membership
/// rule says), "rank" (null: unknown), "windowsEnd", "credential", "heldBy", "runningCopies"}].
/// `cluster` not empty: only that one, by either name.
Result<AuditAnswer> audit_why_workers(const AuditSource& source, const std::string& placement,
                                      const std::string& cluster, const AuditPosition& as_of);

/// WorkersHistory: "rows" [{"seq", "time", "old", "new" (names of MultiKueueClusters), "writer"
/// "fairlead"|"foreign", and of ours "rule", "text", "because", "intent"}]: every change of the
/// list. "old" is null where it was pruned and no snapshot tells it.
Result<AuditAnswer> audit_history_workers(const AuditSource& source, const std::string& placement,
                                          Seq from, Seq to);

/// Any answer as a table for people.
std::string audit_text(const AuditAnswer& answer);

}  // namespace fairlead
