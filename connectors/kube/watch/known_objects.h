// The picture that a reflector keeps of the objects of one kind: who they are, and which version of
// them was reported last. Their contents are not kept: State has them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "connectors/kube/watch/line_fingerprint.h"

namespace fairlead {

/// Not thread-safe; the reflector owns it. Pointers to an object stay valid until it is erased.
class KnownObjects {
 public:
  struct Object {
    std::string uid;
    std::string resource_version;
    LineFingerprint::Hash rest{};  ///< of the line that its facts came from; 0: not known
    bool listed = false;           ///< the list in progress contains it
  };
  struct Unlisted {
    std::string namespace_, name, uid;
  };

  /// Returns the object; null if it is not known. add_sought() and erase_sought() are about the
  /// object of the last call.
  Object* find(std::string_view name_space, std::string_view name);
  /// Adds the object that find() did not find.
  Object& add_sought() { return objects_[sought_]; }
  /// Forgets the object that find() found.
  void erase_sought();

  std::size_t size() const { return objects_.size(); }
  /// Forgets all versions, so that every object is reported again.
  void forget_versions();

  /// A list begins: it contains no object yet.
  void begin_list();
  /// The list contains `object`.
  void mark_listed(Object& object);
  /// The number of objects in the list so far.
  std::size_t listed() const { return listed_; }
  /// Forgets the objects that the list does not contain. Returns them, sorted by name.
  std::vector<Unlisted> erase_unlisted();

 private:
  // By "namespace/name".
  struct NameHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const {
      return std::hash<std::string_view>{}(name);
    }
  };

  std::unordered_map<std::string, Object, NameHash, std::equal_to<>> objects_;
  std::size_t listed_ = 0;
  std::string sought_;  // by the last find(); a member, so that its memory is kept
};

}  // namespace fairlead
