// Sets of field paths: the fields that a manager owns.
//
// The wire form is metav1.FieldsV1: `f:spec`, `k:{"name":"cpu"}`, `v:"x"` nested in objects. A path
// element is stored in exactly that spelling. Rules: structured-merge-diff's fieldpath.Set.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/base/json.h"

namespace fairlead::model {

/// The path from the root to a field, with elements as in FieldsV1.
using FieldPath = std::vector<std::string>;

/// Returns `.spec.groups[name="a"].x`, as conflicts name a path.
std::string path_text(const FieldPath& path);

/// A set of paths as a tree. A field and a field below it are separate members.
class FieldSet {
 public:
  static FieldSet from_json(const Json& fields_v1);
  Json to_json() const;

  bool empty() const { return members_.empty() && children_.empty(); }
  bool has_member(const std::string& element) const { return members_.contains(element); }
  /// The members below `element`; null if there are none.
  const FieldSet* below(const std::string& element) const;
  const std::map<std::string, FieldSet>& children() const { return children_; }

  void insert(const FieldPath& path);
  void insert_member(const std::string& element) { members_.insert(element); }
  /// Attaches `set` below `element`; an empty one is dropped.
  void attach(const std::string& element, FieldSet set);

  FieldSet united(const FieldSet& other) const;
  FieldSet intersected(const FieldSet& other) const;
  FieldSet without(const FieldSet& other) const;
  /// Removes everything at and below the top-level element.
  void drop(const std::string& element);
  /// Removes everything but what is at and below the top-level element.
  void keep_only(const std::string& element);
  /// Returns every path, parents before children, elements in bytewise order.
  std::vector<FieldPath> paths() const;

  friend bool operator==(const FieldSet&, const FieldSet&) = default;

 private:
  void collect(FieldPath& prefix, std::vector<FieldPath>& found) const;

  std::set<std::string> members_;
  std::map<std::string, FieldSet> children_;
};

}  // namespace fairlead::model
