// Marks hub queues, whose quota is compared when the present moment closes. Internal to the fold.
#pragma once

#include <string>

#include "engine/fold/queues/queue_state.h"

namespace fairlead {

/// Marks the queue, the claims that name it and their clusters: they are planned again when the
/// present moment closes.
void mark_queue_dirty(QueueTables& queues, const std::string& name);

/// Marks only the queue's quota: it is compared when the present moment closes, without the claims
/// that name the queue.
void requote(QueueTables& queues, const std::string& name);

/// Does the same where no input of the quota changed: only the time to write it may have come.
void requote_unchanged(QueueTables& queues, const std::string& name);

/// Notes that an input of the queue's quota changed, or whether it is written: values derived from
/// it (Queue::changed) are stale. mark_queue_dirty and requote call it.
void note_quota_change(QueueTables& queues, const std::string& name);

/// Ends an OwnershipConflict of the queue, so that its pairs are written again: a claim that names
/// it was edited, its terms changed, or an orchestrator decides its quota.
void resolve_conflict(QueueTables& queues, const std::string& name);

}  // namespace fairlead
