// The answers that a page holds which was saved as a file: about one queue, or one namespace of a
// tenant, and one span.
#pragma once

#include <cstddef>
#include <string>

#include "engine/base/result.h"
#include "engine/main/service/question_service.h"

namespace fairlead {

struct SavedQuestion {
  std::string queue;       ///< empty: none
  std::string namespace_;  ///< TENANT/NAME, of the pool; empty: none
  std::string from, to;    ///< positions (position.h); both empty: where something moves
};

/// Bounds of what is saved. Moments are spread over the span if there are more; of the rest the
/// newest is saved.
inline constexpr std::size_t kSavedMomentsMax = 300;  ///< of each pair, worker list and namespace
inline constexpr std::size_t kSavedPodsMax = 20;      ///< of the namespace, at the span's end
inline constexpr std::size_t kSavedListsMax = 20;
inline constexpr std::size_t kSavedWaitsMax = 50;  ///< Workloads of the queue that wait at the end
inline constexpr std::size_t kSavedEventsMax = 500;    ///< in the view of the log
inline constexpr std::size_t kSavedRecordsMax = 2000;  ///< events with their raw object

/// Asks `questions` what the views of the page ask, and verifies the log. Returns {"queue",
/// "namespace", "from", "to", "log", "pool" (null: there is none), "overview" (of this queue, its
/// clusters, and the worker lists), "hour", "diff", "proof", "series" [documents], "history"
/// {object: document}, "why" and "whyNot" {object: {time: document}}, "events" {where: lines},
/// "records" {seq: line}, "changes" {seq: text}, "times" {seq: event_times.h}, "suppressed"
/// {cluster: document}}. An object is "QUEUE FLAVOR RESOURCE", the queue's name,
/// "multikueueconfig/NAME", or a namespace or pod of a tenant. Fails with `bad_input` if there is
/// no such queue or a position is none, and as the log fails to be read.
Result<AuditAnswer> saved_answers(const QuestionService& questions, const SavedQuestion& question);

}  // namespace fairlead
