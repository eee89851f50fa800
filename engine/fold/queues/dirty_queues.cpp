#include "engine/fold/queues/dirty_queues.h"

namespace fairlead {

void note_quota_change(State& state, const std::string& name) {
  if (const auto at = state.queues.by_name.find(name); at != state.queues.by_name.end())
    *at->second.changed = ++*state.queues.quota_changes;
}

void mark_queue_dirty(State& state, const std::string& name) {
  state.queues.dirty.insert(name);
  note_quota_change(state, name);
}

void requote(State& state, const std::string& name) {
  requote_unchanged(state, name);
  note_quota_change(state, name);
}

void requote_unchanged(State& state, const std::string& name) {
  state.queues.dirty_quotas.insert(name);
}

void resolve_conflict(State& state, const std::string& name) {
  const auto at = state.queues.by_name.find(name);
  if (at == state.queues.by_name.end()) return;
  if (!at->second.contested.empty()) note_quota_change(state, name);
  at->second.contested.clear();
  at->second.overwrites.clear();
}

}  // namespace fairlead
