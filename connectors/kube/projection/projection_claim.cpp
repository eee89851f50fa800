// A ClusterResourceClaim. A person writes it, so its faults are kept for the fold to report.
#include <array>
#include <charconv>

#include "connectors/kube/projection/projection_fields.h"
#include "schema/claim_status.h"

namespace fairlead::projection {
namespace {

// Reads spec fields and remembers the first one whose JSON type is not what the schema says.
class ClaimReader {
 public:
  ClaimSpec read(JsonView spec) {
    if (!expect(spec, JsonKind::object, "spec")) return std::move(out_);
    out_.cluster_name = word(spec, "spec", "clusterName");
    out_.nominal_resources = quantities(spec["nominalResources"], "spec.nominalResources");
    assignments(spec["resourceAssignments"]);
    out_.nominal_policy = word(spec, "spec", "nominalPolicy");
    headroom(spec["headroom"]);
    out_.shrink_policy = word(spec, "spec", "shrinkPolicy");
    out_.flavor_capacity = word(spec, "spec", "flavorCapacity");
    return std::move(out_);
  }

 private:
  void malformed(const std::string& path, std::string_view expected, JsonView found) {
    if (!out_.malformed.empty()) return;
    out_.malformed = path + ": expected " + std::string(expected) + ", got ";
    if (found.is(JsonKind::number) && found.text().size() <= 64)
      out_.malformed += found.text();
    else
      out_.malformed += text_of(found.kind());
  }

  // True if there is a value of that kind; a value of another kind is remembered.
  bool expect(JsonView value, JsonKind kind, const std::string& path) {
    if (value.is(kind)) return true;
    if (value.given()) malformed(path, text_of(kind), value);
    return false;
  }

  std::string word(JsonView object, const std::string& path, std::string_view name) {
    JsonView value = object[name];
    if (!expect(value, JsonKind::string, path + "." + std::string(name))) return {};
    return std::string(value.text());
  }

  std::map<std::string, std::string> quantities(JsonView object, const std::string& path) {
    std::map<std::string, std::string> out;
    if (!expect(object, JsonKind::object, path)) return out;
    for (JsonView member : object) {
      if (!member.is(JsonKind::string) && !member.is(JsonKind::number)) {
        malformed(path + "." + std::string(member.key()), "a quantity", member);
        continue;
      }
      auto parsed = Quantity::parse(member.text());
      // In one spelling, so that `1000m` in place of `1` is no change.
      out.insert_or_assign(std::string(member.key()),
                           parsed ? parsed->text() : std::string(member.text()));
    }
    return out;
  }

  std::map<std::string, std::string> percents(JsonView object, const std::string& path) {
    std::map<std::string, std::string> out;
    for (JsonView member : object)
      if (member.is(JsonKind::string) || member.is(JsonKind::number))
        out.insert_or_assign(std::string(member.key()), std::string(member.text()));
      else
        malformed(path + "." + std::string(member.key()), "an integer", member);
    return out;
  }

  void headroom(JsonView value) {
    if (!expect(value, JsonKind::object, "spec.headroom")) return;
    JsonView percent = value["percent"];
    JsonView reserved = value["reserved"];
    if (expect(percent, JsonKind::object, "spec.headroom.percent"))
      out_.headroom.percent = percents(percent, "spec.headroom.percent");
    if (expect(reserved, JsonKind::object, "spec.headroom.reserved"))
      out_.headroom.reserved = quantities(reserved, "spec.headroom.reserved");
  }

  void assignments(JsonView rows) {
    if (!expect(rows, JsonKind::array, "spec.resourceAssignments")) return;
    std::size_t index = 0;
    for (JsonView row : rows) {
      const std::string path = "spec.resourceAssignments[" + std::to_string(index++) + "]";
      if (!row.is(JsonKind::object)) {
        malformed(path, text_of(JsonKind::object), row);
        continue;
      }
      ClaimAssignment assignment;
      assignment.cluster_queue = word(row, path, "clusterQueueName");
      assignment.flavor = word(row, path, "flavor");
      assignment.resources = quantities(row["resources"], path + ".resources");
      assignment.min_resources = quantities(row["minResources"], path + ".minResources");
      if (JsonView priority = row["priority"]; priority.given()) {
        auto value = priority.integer();
        if (value && *value >= INT32_MIN && *value <= INT32_MAX)
          assignment.priority = static_cast<std::int32_t>(*value);
        else
          malformed(path + ".priority", "a 32-bit integer", priority);
      }
      out_.assignments.push_back(std::move(assignment));
    }
  }

  ClaimSpec out_;
};

std::string part_of_status(JsonView value) {
  const bool container = value.is(JsonKind::object) || value.is(JsonKind::array);
  if (!value.given() || (container && value.size() == 0)) return {};
  return canonical_text(value);
}

Digest status_digest(JsonView status) {
  return claim_status_digest([&](std::string_view name) { return part_of_status(status[name]); },
                             [&](std::string_view type) {
                               for (JsonView condition : status["conditions"])
                                 if (condition["type"].string() == type)
                                   return part_of_status(condition);
                               return std::string();
                             });
}

}  // namespace

template <>
ClaimFacts facts_of(JsonView object, ApiReading&) {
  JsonView metadata = object["metadata"];
  ClaimFacts out;
  out.spec = ClaimReader().read(object["spec"]);
  out.created = parse_rfc3339(metadata["creationTimestamp"].string()).value_or(LogTime{});
  out.deleting = deleting(object);
  out.finalizers = string_items(metadata["finalizers"]);
  constexpr std::string_view prefix = "fairlead.io/debounce.";
  for (JsonView annotation : metadata["annotations"])
    if (annotation.key().starts_with(prefix) && annotation.is(JsonKind::string))
      out.debounce.insert_or_assign(std::string(annotation.key().substr(prefix.size())),
                                    std::string(annotation.text()));
  for (JsonView row : object["status"]["grants"])
    if (auto granted = quantity(row["granted"]))
      out.status_grants.push_back({std::string(row["clusterQueueName"].string()),
                                   std::string(row["flavor"].string()),
                                   std::string(row["resource"].string()), granted->text()});
  make_set(out.status_grants);
  out.status_digest = status_digest(object["status"]);
  return out;
}

std::span<const KindProjection> claim_projections() {
  static constexpr std::array kAll{projection_of<ClaimFacts>()};
  return kAll;
}

}  // namespace fairlead::projection
