#include "engine/fold/queues/dirty_queues.h"

namespace fairlead {

void note_quota_change(QueueTables& queues, const std::string& name) {
  if (const auto at = queues.by_name.find(name); at != queues.by_name.end())
    *at->second.changed = ++*queues.quota_changes;
}

void mark_queue_dirty(QueueTables& queues, const std::string& name) {
  queues.dirty.insert(name);
  note_quota_change(queues, name);
}

void requote(QueueTables& queues, const std::string& name) {
  requote_unchanged(queues, name);
  note_quota_change(queues, name);
}

void requote_unchanged(QueueTables& queues, const std::string& name) {
  queues.dirty_quotas.insert(name);
}

void resolve_conflict(QueueTables& queues, const std::string& name) {
  const auto at = queues.by_name.find(name);
  if (at == queues.by_name.end()) return;
  if (!at->second.contested.empty()) note_quota_change(queues, name);
  at->second.contested.clear();
  at->second.overwrites.clear();
}

}  // namespace fairlead
