#include "engine/core/first_lists.h"

#include "engine/fold/held.h"
#include "engine/ingest/object_table.h"

namespace fairlead {

void FirstLists::note(const WatchFact& fact) {
  if (const auto* seen = std::get_if<ObjectSeen>(&fact.said))
    if (const Stream stream{fact.source, seen->key.kind}; !complete_.contains(stream))
      named_[stream].find_or_make(TableName(seen->key));
}

std::vector<WatchFact> FirstLists::completed(const State& state, const SourceName& source,
                                             Kind kind) {
  std::vector<WatchFact> missing;
  if (!complete_.emplace(source, kind).second) return missing;
  auto named = named_.extract(Stream{source, kind});
  for (ObjectKey& key : held_objects(state, source, kind))
    if (named.empty() || !named.mapped().find(TableName(key)))
      missing.push_back({source, ObjectMissing{std::move(key), "", ""}});
  return missing;
}

void FirstLists::reconnected(const SourceName& source) {
  std::erase_if(complete_, [&](const Stream& stream) { return stream.first == source; });
  // A list that was being read ends with its connection: what it named may be gone by the next one.
  std::erase_if(named_, [&](const auto& entry) { return entry.first.first == source; });
}

}  // namespace fairlead
