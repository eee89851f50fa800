// The picture that a reflector keeps of the objects of one kind: who they are, and which version of
// them was reported last. Their contents are not kept: State has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/kube/watch/line_fingerprint.h"
#include "engine/base/packed_identity.h"
#include "engine/base/packed_table.h"

namespace fairlead {

/// Not thread-safe; the reflector owns it. A pointer to an object stays valid until that object is
/// erased; other objects may be added and erased meanwhile.
class KnownObjects {
 public:
  struct Object {
    PackedUid uid;
    PackedVersion resource_version;
    LineFingerprint::Hash rest{};  ///< of the line that its facts came from; 0: not known
    std::uint32_t weight = 0;      ///< set_weight()
    bool listed = false;           ///< the list in progress contains it
  };
  struct Unlisted {
    std::string namespace_, name, uid;
  };

  /// Returns the object; null if it is not known. Remembers its name, until the next call, for
  /// add_sought() and erase_sought(), so that a name is put together once a line.
  Object* find(std::string_view namespace_, std::string_view name);
  /// Adds the object whose name the last find() sought. Only if that found none; after it the
  /// object is known, and a second call returns the same one.
  Object& add_sought() { return objects_.find_or_make(sought_); }
  /// Forgets the object whose name the last find() sought; nothing if it is not known.
  void erase_sought();

  /// Sets what the object counts towards weight() and listed_weight().
  void set_weight(Object& object, std::uint32_t weight);
  /// The weight of all known objects.
  std::size_t weight() const { return weight_; }
  /// Forgets all versions, so that every object is reported again.
  void forget_versions();

  /// A list begins: it contains no object yet.
  void begin_list();
  /// The list contains `object`.
  void mark_listed(Object& object);
  /// The weight of the objects in the list so far.
  std::size_t listed_weight() const { return listed_weight_; }
  /// Forgets the objects that the list does not contain. Returns them, sorted by name.
  std::vector<Unlisted> erase_unlisted();

 private:
  PackedTable<Object> objects_;  // by "namespace/name"
  std::size_t weight_ = 0, listed_weight_ = 0;
  std::string sought_;  // by the last find(); a member, so that its memory is kept
};

}  // namespace fairlead
