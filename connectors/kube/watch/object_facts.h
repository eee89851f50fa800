// From the objects of lists and watch events to watch facts, against what is known of them already.
//
// A stream is not trusted: duplicates, older versions and deletes of unknown objects report
// nothing, and an object under a known name with another uid reports the end of the former one. A
// list is trusted: what it does not contain is missing, and an object in it that is older than
// known means that the server's store was restored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "connectors/kube/document/json_document.h"
#include "connectors/kube/projection/projection.h"
#include "connectors/kube/watch/known_objects.h"
#include "connectors/kube/watch/line_fingerprint.h"
#include "connectors/kube/watch/reflector_output.h"
#include "connectors/kube/watch/watched_collection.h"

namespace fairlead {

/// Not thread-safe; the reflector owns it.
class ObjectFacts {
 public:
  /// Appends to `facts` and counts in `counters`. The references outlive this.
  ObjectFacts(const WatchedCollection& collection, ReportedFacts& facts,
              ReflectorCounters& counters)
      : collection_(collection), facts_(facts), counters_(counters) {}

  /// Every object is reported again, as it has other fields in another version.
  void forget_versions() { known_.forget_versions(); }
  /// The weight of the known objects, and of those in the list so far. An object weighs 1, and 1
  /// more for every kKeptBytesUsual bytes that its facts take.
  std::size_t known() const { return known_.weight(); }
  std::size_t listed() const { return known_.listed_weight(); }
  /// Returns the changes that were reported since the last call. An object that is seen counts with
  /// its weight, and with its raw text where that is kept.
  std::int64_t consume_changes() { return std::exchange(changes_, 0); }
  /// State keeps some 0.6 KiB of a Node, and 4 KiB of a node's slice with a dozen devices.
  static constexpr std::size_t kKeptBytesUsual = 4096;

  void begin_list() { known_.begin_list(); }
  /// An item of the list. `line` is its watch line, `rest` that line's hash; both empty in a page.
  void list(JsonView object, std::string_view line, const LineFingerprint::Hash& rest);
  /// Reports as missing every known object that the list did not contain.
  void report_unlisted();
  /// Returns whether a list showed an object older than known, and forgets that.
  bool consume_went_back();
  /// Returns which objects were refused and why, as far as that is reported, and forgets them.
  std::vector<std::string> consume_refusals() { return std::exchange(refusals_, {}); }

  /// Whether a watch line has the same facts of an object as its last one: the hash of every field
  /// that a projection may read is equal. For handle_known() and handle_changed() of that line.
  bool knows(const LineFingerprint& fingerprint);
  /// The line that knows() knew.
  void handle_known(const LineFingerprint& fingerprint);
  /// An ADDED or MODIFIED object. `fingerprint` is the fingerprint of `line`; null if it has none.
  void handle_changed(JsonView object, const ObjectIdentity& identity, std::string_view line,
                      const LineFingerprint* fingerprint);
  void handle_deleted(JsonView object);

 private:
  enum class Newer : std::uint8_t { yes, same, older };
  Newer is_newer(const KnownObjects::Object& known, std::string_view resource_version);
  KnownObjects::Object* find(std::string_view namespace_, std::string_view name,
                             const LineFingerprint* fingerprint);
  bool report(JsonView object, const ObjectIdentity& identity, std::string_view line);
  void report_missing(ObjectKey key, std::string uid, std::string resource_version);
  void weigh(KnownObjects::Object& known, const ObjectSeen& seen);
  void refuse(const ObjectIdentity& identity, const std::string& why);

  const WatchedCollection& collection_;
  ReportedFacts& facts_;
  ReflectorCounters& counters_;
  KnownObjects known_;
  std::int64_t changes_ = 0;
  std::vector<std::string> refusals_;
  bool went_back_ = false;                 // a list is of an older store
  bool looked_up_ = false;                 // knows() looked the object of the line up,
  KnownObjects::Object* found_ = nullptr;  // and found this
};

}  // namespace fairlead
