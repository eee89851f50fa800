// Answers questions about the past: what a quota was, who changed it, what differs between two
// moments, and why.
//
// Every answer is computed from the log and its snapshots alone, never from a live State. A
// question costs the fold of the events after the nearest snapshot and a few lookups. An answer is
// one JSON document, whose fields are in ui/answers.d.ts, by "kind"; the text table is made from
// that document, so a program and a person read the same.
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

/// Returns a QuotaAudit. An empty `queue` means every queue.
Result<AuditAnswer> audit_quota(const AuditSource& source, const AuditPosition& as_of,
                                const std::string& queue);

/// Returns a QuotaHistory: every change from `from` to `to`, found by the log's index. Empty flavor
/// or resource: all. An alias selects every spelling of its resource; another name selects its own
/// rows, or if there are none those of its aliases. A span whose ends are reversed is `bad_input`.
///
/// With "multikueueconfig/NAME" as the queue it returns a WorkersHistory, with "cohort/NAME",
/// "resourceflavor/NAME", "admissioncheck/NAME" or "localqueue/NAMESPACE/NAME" an ObjectHistory.
Result<AuditAnswer> audit_history(const AuditSource& source, const AuditPair& pair,
                                  const AuditPosition& from, const AuditPosition& to);

/// Returns a QuotaDiff. A `queue` that is not empty restricts it to that queue and what concerns
/// it. With the moments exchanged, "came" and "went" are exchanged too, and "note" says so.
Result<AuditAnswer> audit_diff(const AuditSource& source, const AuditPosition& earlier,
                               const AuditPosition& later, const std::string& queue);

/// Returns a QuotaWhy: the derivation of the written value, down to the nodes.
Result<AuditAnswer> audit_why(const AuditSource& source, const AuditPair& pair,
                              const AuditPosition& as_of);

/// Returns a QuotaWhyNot: the guards that keep the pair from being written, or from being larger.
Result<AuditAnswer> audit_why_not(const AuditSource& source, const AuditPair& pair,
                                  const AuditPosition& as_of);

/// One of the two questions above.
using AskAboutPair = Result<AuditAnswer> (*)(const AuditSource& source, const AuditPair& pair,
                                             const AuditPosition& as_of);
/// A queue with more quotas is not answered about as a whole.
inline constexpr std::size_t kPairsAtOnce = 6;
/// Returns a QuotaWhyList: what `ask` returns of each pair of a queue, or of one flavor of it; `of`
/// has no resource. Fails with `bad_input`, naming pairs, if it has more than kPairsAtOnce.
Result<AuditAnswer> audit_each_pair(const AuditSource& source, const AuditPair& of,
                                    const AuditPosition& as_of, AskAboutPair ask);

/// Returns a WorkersWhy about the worker list of a Placement. A `cluster` that is not empty, by
/// either of its names, restricts the answer to it.
Result<AuditAnswer> audit_why_workers(const AuditSource& source, const std::string& placement,
                                      const std::string& cluster, const AuditPosition& as_of);

/// Returns a WorkersHistory: every change of the list.
Result<AuditAnswer> audit_history_workers(const AuditSource& source, const std::string& placement,
                                          Seq from, Seq to);

/// Returns a PlacementWhy about a tenant's namespace or pod.
Result<AuditAnswer> audit_why_placement(const AuditSource& source, const AuditPlacement& object,
                                        const AuditPosition& as_of,
                                        const AuditDecisions& decisions);
/// Answers likewise with a PlacementWhyNot, whose text begins with what is missing.
Result<AuditAnswer> audit_why_not_placement(const AuditSource& source, const AuditPlacement& object,
                                            const AuditPosition& as_of,
                                            const AuditDecisions& decisions);

/// Returns a PlacementHistory: every change of a namespace's placements, or of a pod's super
/// cluster, from `from` to `to`.
Result<AuditAnswer> audit_history_placements(const AuditSource& source,
                                             const AuditPlacement& object,
                                             const AuditPosition& from, const AuditPosition& to);

/// Returns a WorkloadWhy: where the pods of a Workload that uses devices have their places.
Result<AuditAnswer> audit_why_workload(const AuditSource& source, const NamespacedName& id,
                                       const AuditPosition& as_of);
/// Answers likewise with a WorkloadWhyNot, whose text is about the clusters.
Result<AuditAnswer> audit_why_not_workload(const AuditSource& source, const NamespacedName& id,
                                           const AuditPosition& as_of);

/// Returns an AdmissionHistory: what the webhook refused, and what it admitted because of an
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
