#include "engine/core/batches.h"

#include <map>
#include <optional>
#include <tuple>

#include "engine/base/resource_version.h"

namespace fairlead {

namespace {

// What a fact is about: an object, or (without a key) the stream of a kind.
using Subject = std::tuple<SourceName, Kind, std::optional<ObjectKey>>;

struct SubjectOf {
  const SourceName& source;

  Subject operator()(const ObjectSeen& seen) const { return {source, seen.key.kind, seen.key}; }
  Subject operator()(const ObjectMissing& missing) const {
    return {source, missing.key.kind, missing.key};
  }
  Subject operator()(const ObjectUnchanged& same) const {
    return {source, same.key.kind, same.key};
  }
  template <class Stream>
  Subject operator()(const Stream& stream) const {
    return {source, stream.kind, std::nullopt};
  }
};

// Merges `newer` into `older` if it only reports the same object at a later version.
bool absorbed(const WatchFact& newer, WatchFact& older) {
  const auto* same = std::get_if<ObjectUnchanged>(&newer.said);
  const auto absorb = [&](auto* before) {
    if (!before || before->uid != same->uid ||
        !includes_version(same->resource_version, before->resource_version))
      return false;
    before->resource_version = same->resource_version;
    return true;
  };
  return same && (absorb(std::get_if<ObjectSeen>(&older.said)) ||
                  absorb(std::get_if<ObjectUnchanged>(&older.said)));
}

// Replaces `older` by `newer` if that is a later state of the same object.
bool superseded(WatchFact& newer, WatchFact& older) {
  auto* after = std::get_if<ObjectSeen>(&newer.said);
  const auto* before = std::get_if<ObjectSeen>(&older.said);
  if (!after || !before || after->uid != before->uid ||
      !includes_version(after->resource_version, before->resource_version))
    return false;
  supersede(*before, *after);
  older = std::move(newer);
  return true;
}

}  // namespace

// A batch has one fact of an object or a stream, because all its drafts are compared with the State
// before the batch: a second one begins the next batch, unless both are one fact. Only the last
// batch is looked at, so facts of an object keep their order.
std::vector<std::vector<WatchFact>> into_batches(std::vector<WatchFact> facts,
                                                 std::size_t batch_max) {
  std::vector<std::vector<WatchFact>> batches;
  std::map<Subject, std::size_t> places;  // in the last batch
  for (WatchFact& fact : facts) {
    const Subject subject = std::visit(SubjectOf{fact.source}, fact.said);
    const auto place = places.find(subject);
    if (place != places.end()) {
      WatchFact& before = batches.back()[place->second];
      if (absorbed(fact, before) || superseded(fact, before)) continue;
    }
    if (batches.empty() || place != places.end() || batches.back().size() >= batch_max) {
      batches.emplace_back();
      places.clear();
    }
    places.emplace(subject, batches.back().size());
    batches.back().push_back(std::move(fact));
  }
  return batches;
}

}  // namespace fairlead
