// The objects of one API server and the recent history of their changes.
//
// One counter numbers every change (the resourceVersion). Past states can be read as far as the
// history reaches, for consistent paging and watches from a version; older history is dropped.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/json.h"

namespace fairlead::model {

/// An object never changes once stored; a change stores another.
using ObjectRef = std::shared_ptr<const Json>;

/// One change of one object. `after` is null for a deletion, `before` for a creation.
struct Change {
  std::uint64_t revision = 0;
  std::string resource;  ///< `plural.group`
  std::string key;       ///< `namespace/name` or `name`
  ObjectRef before;
  ObjectRef after;
  ObjectRef last;  ///< of a deletion: the object as it was, with the revision of the deletion
};

/// Objects in the order of a server's lists: by key, bytewise.
using ObjectsByKey = std::map<std::string, ObjectRef>;

/// Owned by one Model; not thread safe.
class ObjectStore {
 public:
  explicit ObjectStore(std::size_t history_max) : history_max_(history_max) {}

  /// The version of the latest change.
  std::uint64_t revision() const { return revision_; }
  /// The oldest version that can still be read or watched from.
  std::uint64_t compacted() const { return compacted_; }

  ObjectRef find(const std::string& resource, const std::string& key) const;
  const ObjectsByKey& objects(const std::string& resource) const;
  /// All objects, by resource.
  const std::map<std::string, ObjectsByKey>& all() const { return objects_; }
  /// Returns the objects as they were at `revision`, which is in [compacted(), revision()].
  ObjectsByKey objects_at(const std::string& resource, std::uint64_t revision) const;
  /// Returns the changes after `revision`, oldest first.
  std::vector<Change> changes_since(const std::string& resource, std::uint64_t revision) const;

  /// Stores `object` under the next version, which it also writes into its metadata.
  const Change& put(const std::string& resource, const std::string& key, Json object);
  const Change& remove(const std::string& resource, const std::string& key);
  /// Drops all history: every older watch and page gets 410.
  void compact();
  /// Goes back to what `saved` has, without history. Versions go on `jump` above it.
  void restore(const ObjectStore& saved, std::uint64_t jump);

 private:
  const Change& record(Change change);

  std::size_t history_max_;
  std::uint64_t revision_ = 1;
  std::uint64_t compacted_ = 1;
  std::map<std::string, ObjectsByKey> objects_;
  std::deque<Change> history_;
};

}  // namespace fairlead::model
