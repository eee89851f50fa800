#include "connectors/kube/watch/object_facts.h"

#include <bit>
#include <string>
#include <utility>

#include "connectors/kube/watch/kept_bytes.h"
#include "engine/base/made.h"
#include "engine/base/resource_version.h"

namespace fairlead {
namespace {

constexpr std::uint64_t kRefusalsReported = 16;
constexpr std::size_t kFactsUsual = 32;  // from one chunk of a stream

// Reserves memory for the facts of one chunk, with the first of them.
void make_room(ReportedFacts& facts) {
  if (facts.empty()) facts.reserve(kFactsUsual);
}

}  // namespace

void ObjectFacts::list(JsonView object, std::string_view line, const LineFingerprint::Hash& rest) {
  const Kind kind = collection_.kind();
  auto seen = project_as(kind, collection_.version(), object);
  if (seen.has_error()) {
    if (const ObjectIdentity identity = identity_of(object); !identity.name.empty())
      refuse(identity, seen.error().message);
    else
      ++counters_.malformed;
    return;
  }
  if (!*seen) return;
  ObjectSeen& found = **seen;
  found.raw =
      line.empty() ? RawObject{raw_to_keep(kind, object), nullptr} : raw_of_line(kind, line);
  auto* const at = known_.find(found.key.namespace_, found.key.name);
  KnownObjects::Object& known = at ? *at : known_.add_sought();
  if (!at) known_.set_weight(known, 1);
  known_.mark_listed(known);
  // A restored store may give the versions that were lost to other contents, so a version alone
  // does not say that the object is the known one. Its hash does; items of pages have none, and are
  // reported where a write would be derived from the wrong content.
  const bool same_content =
      rest == LineFingerprint::Hash{} ? !is_written(kind) : rest == known.rest;
  const bool same = !known.resource_version.empty() && known.uid == found.uid &&
                    known.resource_version == found.resource_version && same_content;
  if (same) {
    ++counters_.duplicates;
    return;
  }
  if (!known.uid.empty() && known.uid != found.uid) report_missing(found.key, known.uid.text(), {});
  // The list was requested after every event of the stream: a lower version means that the store
  // was restored.
  found.went_back =
      known.uid == found.uid && is_lower_version(found.resource_version, known.resource_version);
  went_back_ = went_back_ || found.went_back;
  known.uid = PackedUid(found.uid);
  known.resource_version = PackedVersion(found.resource_version);
  // In a page it is 0, which is not the hash of any line: so the object's next line is read.
  known.rest = rest;
  weigh(known, found);
  facts_.emplace_back(std::move(found));
}

void ObjectFacts::report_unlisted() {
  for (auto& [namespace_, name, uid] : known_.erase_unlisted())
    report_missing({collection_.kind(), std::move(namespace_), std::move(name)}, std::move(uid),
                   {});
}

void ObjectFacts::report_missing(ObjectKey key, std::string uid, std::string resource_version) {
  facts_.emplace_back(ObjectMissing{std::move(key), std::move(uid), std::move(resource_version)});
  ++changes_;
}

void ObjectFacts::weigh(KnownObjects::Object& known, const ObjectSeen& seen) {
  const std::size_t bytes = kept_bytes(seen.facts);
  known_.set_weight(known, static_cast<std::uint32_t>(1 + bytes / kKeptBytesUsual));
  changes_ += static_cast<std::int64_t>(1 + (bytes + seen.raw.text.size()) / kKeptBytesUsual);
}

bool ObjectFacts::consume_went_back() { return std::exchange(went_back_, false); }

// `found_` is a pointer into known_, and known_ remembers the name that was looked up last. Both
// are used until the end of the line: nothing may look up, add or erase another object between this
// and handle_known() or handle_changed() of the same line. The decoder asks for one line at a time
// and hands it out before it reads the next, so nothing does.
bool ObjectFacts::knows(const LineFingerprint& fingerprint) {
  looked_up_ = false;
  // ADDED and DELETED begin and end an object, and are always read.
  if (fingerprint.type != "MODIFIED" || fingerprint.name.empty() || fingerprint.uid.empty() ||
      fingerprint.resource_version.empty())
    return false;
  found_ = known_.find(fingerprint.namespace_, fingerprint.name);
  looked_up_ = true;
  return found_ && found_->uid == fingerprint.uid && found_->rest == fingerprint.rest;
}

ObjectFacts::Newer ObjectFacts::is_newer(const KnownObjects::Object& known,
                                         std::string_view resource_version) {
  if (known.resource_version == resource_version) {
    ++counters_.duplicates;
    return Newer::same;
  }
  if (!is_lower_version(resource_version, known.resource_version)) return Newer::yes;
  ++counters_.older;
  return Newer::older;
}

void ObjectFacts::handle_known(const LineFingerprint& fingerprint) {
  ++counters_.events;
  ++counters_.unchanged;
  KnownObjects::Object& known = *found_;
  if (is_newer(known, fingerprint.resource_version) != Newer::yes) return;
  known.resource_version = PackedVersion(fingerprint.resource_version);
  // The next write of an object carries its newest version, so that is reported; for kinds that we
  // never write no fact is needed.
  if (!is_written(collection_.kind())) return;
  make_room(facts_);
  facts_.emplace_back(ObjectUnchanged{
      {collection_.kind(), std::string(fingerprint.namespace_), std::string(fingerprint.name)},
      collection_.version(),
      known.uid.text(),
      known.resource_version.text()});
}

// The object of the line; knows() has mostly looked it up. The names are compared, because the
// fingerprint reads the namespace of a kind that has none, and because the parsed line decides. In
// either case known_ has sought this name last, as add_sought() and erase_sought() need.
KnownObjects::Object* ObjectFacts::find(std::string_view namespace_, std::string_view name,
                                        const LineFingerprint* fingerprint) {
  const bool looked_up = fingerprint && looked_up_ && fingerprint->name == name &&
                         fingerprint->namespace_ == namespace_;
  return looked_up ? found_ : known_.find(namespace_, name);
}

void ObjectFacts::handle_changed(JsonView object, const ObjectIdentity& identity,
                                 std::string_view line, const LineFingerprint* fingerprint) {
  const Kind kind = collection_.kind();
  const std::string_view namespace_ = is_namespaced(kind) ? identity.namespace_ : "";
  const auto missing = [&](const PackedUid& uid) {
    report_missing({kind, std::string(namespace_), std::string(identity.name)}, uid.text(), {});
  };
  auto* const at = find(namespace_, identity.name, fingerprint);
  if (at) {
    const KnownObjects::Object& known = *at;
    const bool same = known.uid == identity.uid;
    if (same && !known.resource_version.empty() &&
        is_newer(known, identity.resource_version) != Newer::yes)
      return;
    if (!known.uid.empty() && !same) missing(known.uid);  // its DELETED never came
  }
  if (!report(object, identity, line)) {
    // As if it were gone: so it is after a list, too.
    if (at && at->uid == identity.uid) missing(at->uid);
    known_.erase_sought();
    return;
  }
  KnownObjects::Object& known = at ? *at : known_.add_sought();
  if (known.uid != identity.uid) known.uid = PackedUid(identity.uid);
  known.resource_version = PackedVersion(identity.resource_version);
  known.rest = fingerprint ? fingerprint->rest : LineFingerprint::Hash{};
  weigh(known, std::get<ObjectSeen>(facts_.back()));
}

// False if the object is refused.
bool ObjectFacts::report(JsonView object, const ObjectIdentity& identity, std::string_view line) {
  const Kind kind = collection_.kind();
  make_room(facts_);
  ObjectRefusal refused;
  if (const std::string other = other_kind(kind, object); !other.empty()) {
    refuse(identity, other);
    return false;
  }
  facts_.emplace_back(std::in_place_type<ObjectSeen>, Made([&] {
                        return seen_of(kind, collection_.version(), object, identity, refused);
                      }));
  if (refused) {
    facts_.pop_back();
    refuse(identity, refused.why());
    return false;
  }
  std::get<ObjectSeen>(facts_.back()).raw = raw_of_line(kind, line);
  return true;
}

// The first ones are reported, then the 32nd, 64th, 128th...: a server may send any number.
void ObjectFacts::refuse(const ObjectIdentity& identity, const std::string& why) {
  ++counters_.malformed;
  if (++counters_.refused > kRefusalsReported && !std::has_single_bit(counters_.refused)) return;
  const std::string in = identity.namespace_.empty() ? "" : std::string(identity.namespace_) + "/";
  refusals_.push_back(in + std::string(identity.name) + " is refused: " + why);
}

void ObjectFacts::handle_deleted(JsonView object) {
  const Kind kind = collection_.kind();
  if (const std::string other = other_kind(kind, object); !other.empty())
    return refuse(identity_of(object), other);
  JsonView metadata = object["metadata"];
  const std::string uid(metadata["uid"].string());
  ObjectKey key{kind, is_namespaced(kind) ? std::string(metadata["namespace"].string()) : "",
                std::string(metadata["name"].string())};
  const auto* const found = known_.find(key.namespace_, key.name);
  const bool other = found && !uid.empty() && found->uid != uid;
  if (!found || other) {
    ++counters_.unknown_deletes;
    return;
  }
  known_.erase_sought();
  report_missing(std::move(key), uid, std::string(metadata["resourceVersion"].string()));
}

}  // namespace fairlead
