#include "engine/fleet/model/managed_fields.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/fleet/model/typed_value.h"

namespace fairlead::model {
namespace {

constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/// The identity of an entry; an applier keeps its entry across versions.
struct ManagerKey {
  bool applies = false;
  std::string manager;
  std::string api_version;  ///< empty for appliers
  std::string subresource;

  friend auto operator<=>(const ManagerKey&, const ManagerKey&) = default;
};
struct Ownership {
  FieldSet fields;
  std::string api_version;
  std::string time;
};
using Managers = std::map<ManagerKey, Ownership>;

std::string text_or_empty(const Json& object, const char* key) {
  auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Managers decode(const Json& object) {
  Managers managers;
  auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object()) return managers;
  auto entries = metadata->find("managedFields");
  if (entries == metadata->end() || !entries->is_array()) return managers;
  for (const Json& entry : *entries) {
    if (!entry.is_object() || !entry.contains("fieldsV1")) continue;
    const bool applies = text_or_empty(entry, "operation") == "Apply";
    const std::string version = text_or_empty(entry, "apiVersion");
    // An applier has one entry, whatever the version; an updater has one for each version.
    ManagerKey key{applies, text_or_empty(entry, "manager"), applies ? "" : version,
                   text_or_empty(entry, "subresource")};
    managers[key] = {FieldSet::from_json(entry["fieldsV1"]), version, text_or_empty(entry, "time")};
  }
  return managers;
}

Json encode(const Managers& managers) {
  std::vector<std::pair<ManagerKey, const Ownership*>> order;
  for (const auto& [key, owned] : managers) order.emplace_back(key, &owned);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::tuple(!a.first.applies, a.second->time, a.first.manager, a.second->api_version,
                      a.first.subresource) < std::tuple(!b.first.applies, b.second->time,
                                                        b.first.manager, b.second->api_version,
                                                        b.first.subresource);
  });
  Json entries = Json::array();
  for (const auto& [key, owned] : order) {
    Json entry{{"manager", key.manager},
               {"operation", key.applies ? "Apply" : "Update"},
               {"apiVersion", owned->api_version},
               {"fieldsType", "FieldsV1"},
               {"fieldsV1", owned->fields.to_json()}};
    if (!owned->time.empty()) entry["time"] = owned->time;
    if (!key.subresource.empty()) entry["subresource"] = key.subresource;
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// Removes the fields that no manager owns, because the server writes them.
void strip_system_fields(FieldSet& set) {
  set.drop("f:apiVersion");
  set.drop("f:kind");
  FieldSet system;
  for (const char* name : {"name", "namespace", "creationTimestamp", "selfLink", "uid",
                           "clusterName", "generation", "managedFields", "resourceVersion"})
    system.insert({"f:metadata", std::string("f:") + name});
  system.insert_member("f:metadata");
  set = set.without(system);
}

/// Removes the fields behind another door: a write to the main resource never owns status, one to
/// /status owns nothing else.
void keep_own_part(FieldSet& set, Door door) {
  if (door == Door::status) set.keep_only("f:status");
  if (door == Door::main) set.drop("f:status");
}

std::string subresource_of(Door door) { return door == Door::status ? "status" : ""; }

Json without_managed_fields(Json object) {
  if (auto metadata = object.find("metadata"); metadata != object.end() && metadata->is_object())
    metadata->erase("managedFields");
  return object;
}

std::string describe(const ManagerKey& key, const Ownership& owned) {
  std::string text = to_text(Json(key.manager));
  if (!key.subresource.empty()) text += " with subresource " + to_text(Json(key.subresource));
  if (!key.applies) text += " using " + owned.api_version;
  return text;
}

using Conflicts = std::vector<std::pair<ManagerKey, FieldSet>>;

ApiStatus conflict_status(const Managers& managers, const Conflicts& conflicts) {
  std::map<std::string, std::vector<std::string>> by_manager;
  std::size_t count = 0;
  for (const auto& [key, set] : conflicts)
    for (const FieldPath& path : set.paths()) {
      by_manager[describe(key, managers.at(key))].push_back(path_text(path));
      ++count;
    }
  std::vector<FieldError> causes;
  std::string list;
  for (const auto& [manager, paths] : by_manager) {
    if (!list.empty()) list += "\n";
    list += "conflicts with " + manager + ":";
    for (const std::string& path : paths) {
      causes.push_back({path, "FieldManagerConflict", "conflict with " + manager});
      list += "\n- " + path;
    }
  }
  if (count == 1)
    return apply_conflict(
        "Apply failed with 1 conflict: " + causes.front().message + ": " + causes.front().field,
        causes);
  return apply_conflict("Apply failed with " + std::to_string(count) + " conflicts: " + list,
                        causes);
}

/// Returns the fields of other managers that `change`, made by `self`, changes.
Conflicts conflicts_of(const Managers& managers, const ManagerKey& self, const Comparison& change) {
  Conflicts conflicts;
  const FieldSet dirty = change.modified.united(change.added);
  for (const auto& [key, owned] : managers) {
    if (key == self) continue;
    FieldSet set = owned.fields.intersected(dirty);
    if (!set.empty()) conflicts.emplace_back(key, std::move(set));
  }
  return conflicts;
}

void remove_from_others(Managers& managers, const ManagerKey& self, const Conflicts& conflicts,
                        const Comparison& change) {
  for (const auto& [key, set] : conflicts) managers[key].fields = managers[key].fields.without(set);
  for (auto& [key, owned] : managers)
    if (key != self) owned.fields = owned.fields.without(change.removed);
  std::erase_if(managers, [](const auto& entry) { return entry.second.fields.empty(); });
}

/// Removes from `merged_object` the fields that the applier owned before and no longer applies, and
/// that no other manager owns.
Json pruned(const Json& merged_object, const Managers& managers, const FieldSet& last,
            const SchemaRef& schema) {
  if (last.empty()) return merged_object;
  const FieldSet last_named = with_named_parents(last, schema);
  const FieldSet merged_set = with_named_parents(fields_of(merged_object, schema), schema);
  FieldSet managed;
  for (const auto& [key, owned] : managers) managed = managed.united(owned.fields);

  Json result = without_fields(merged_object, last_named, schema);
  FieldSet kept = with_named_parents(fields_of(result, schema), schema);
  result = without_fields(
      merged_object, merged_set.without(kept.united(with_named_parents(managed, schema))), schema);
  kept = with_named_parents(fields_of(result, schema), schema);
  return without_fields(merged_object, merged_set.without(kept).intersected(last_named), schema);
}

Json with_entries(Json object, const Managers& managers) {
  Json entries = encode(managers);
  if (entries.empty())
    object["metadata"].erase("managedFields");
  else
    object["metadata"]["managedFields"] = std::move(entries);
  return object;
}

/// Drops conflicts with fields that the same user applied client-side before: kubectl is moving to
/// server-side apply.
void forgive_last_applied(const Json& live, const SchemaRef& schema, Conflicts& conflicts) {
  auto metadata = live.find("metadata");
  if (metadata == live.end()) return;
  auto annotations = metadata->find("annotations");
  if (annotations == metadata->end()) return;
  const Json last = read_json(text_or_empty(*annotations, kLastApplied));
  if (!last.is_object()) return;
  // Only values that are still the applied ones change their owner without `force`.
  FieldSet allowed = fields_of(last, schema);
  const Comparison drift = compare(last, live, schema);
  allowed = allowed.without(drift.modified).without(drift.removed);
  for (auto& [key, set] : conflicts) set = set.without(allowed);
  std::erase_if(conflicts, [](const auto& entry) { return entry.second.empty(); });
}

/// Updates the annotation of kubectl's client-side apply after a server-side apply, as a server
/// does, so that a user may go back.
void refresh_last_applied(Json& object, const Json& applied) {
  auto annotations = object["metadata"].find("annotations");
  if (annotations == object["metadata"].end() || !annotations->contains(kLastApplied)) return;
  Json plain = without_managed_fields(applied);
  if (auto own = plain["metadata"].find("annotations"); own != plain["metadata"].end())
    own->erase(kLastApplied);
  (*annotations)[kLastApplied] = to_text(plain) + "\n";
}

}  // namespace

Json track_update(const Json& before, Json after, const SchemaRef& schema,
                  const WriteIdentity& writer) {
  Managers managers = decode(after);
  const Json* sent = nullptr;
  if (auto found = after["metadata"].find("managedFields"); found != after["metadata"].end())
    sent = &*found;
  const bool reset =
      sent != nullptr && sent->is_array() && sent->size() == 1 && sent->front().empty();
  // A list with one empty entry is how a client clears managedFields (Kubernetes documentation of
  // server-side apply).
  if (!reset && (managers.empty() || writer.door == Door::status)) managers = decode(before);
  // An object that was made without managed fields is tracked from its first apply on.
  if (managers.empty() && !before.empty()) return without_managed_fields(std::move(after));

  Comparison change =
      compare(without_managed_fields(before), without_managed_fields(after), schema);
  for (FieldSet* set : {&change.added, &change.modified, &change.removed}) {
    keep_own_part(*set, writer.door);
    strip_system_fields(*set);
  }
  const ManagerKey self{false, writer.manager, writer.api_version, subresource_of(writer.door)};
  remove_from_others(managers, self, conflicts_of(managers, self, change), change);
  const FieldSet gained = change.modified.united(change.added);
  Ownership& own = managers[self];
  own.fields = own.fields.without(change.removed).united(gained);
  own.api_version = writer.api_version;
  if (!gained.empty() || own.time.empty()) own.time = writer.time;
  if (own.fields.empty()) managers.erase(self);
  return with_entries(without_managed_fields(std::move(after)), managers);
}

Outcome<Json> apply_configuration(const Json& live, const Json& applied, const SchemaRef& schema,
                                  const WriteIdentity& writer, ApplyMode mode) {
  const Json live_values = without_managed_fields(live);
  Managers managers = decode(live);
  // Fields that were there before the first apply get an owner, as in Kubernetes, or the applier
  // would take them without a conflict.
  if (managers.empty() && !live.empty())
    managers =
        decode(track_update(Json::object(), live_values, schema,
                            {"before-first-apply", writer.api_version, writer.door, writer.time}));
  Json object = live_values.empty() ? applied : merged(live_values, applied, schema);

  const ManagerKey self{true, writer.manager, "", subresource_of(writer.door)};
  const FieldSet last = managers[self].fields;
  FieldSet set = fields_of(applied, schema);
  keep_own_part(set, writer.door);
  managers[self].fields = set;
  managers[self].api_version = writer.api_version;
  // Before the names are removed from the set: metadata must not be removed with its last label.
  object = pruned(object, managers, last, schema);
  strip_system_fields(managers[self].fields);

  Comparison change = compare(live_values, object, schema);
  for (FieldSet* part : {&change.added, &change.modified, &change.removed}) {
    keep_own_part(*part, writer.door);
    strip_system_fields(*part);
  }
  Conflicts conflicts = conflicts_of(managers, self, change);
  if (writer.manager == "kubectl" && mode == ApplyMode::polite) {
    Conflicts remaining = conflicts;
    forgive_last_applied(live_values, schema, remaining);
    if (!remaining.empty()) return conflict_status(managers, remaining);
  } else if (mode == ApplyMode::polite && !conflicts.empty()) {
    return conflict_status(managers, conflicts);
  }
  remove_from_others(managers, self, conflicts, change);
  // An apply that changes no value keeps the time of its entry; a new entry then has none.
  if (auto own = managers.find(self); own != managers.end() && !change.same())
    own->second.time = writer.time;
  if (writer.manager == "kubectl") refresh_last_applied(object, applied);
  return with_entries(std::move(object), managers);
}

}  // namespace fairlead::model
