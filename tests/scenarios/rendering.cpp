#include "tests/scenarios/rendering.h"

#include <algorithm>

#include "engine/plan/emit.h"

namespace fairlead {
namespace {

// What a condition says when there is nothing to say.
const std::map<std::string, std::string> kUsual = {
    {"Valid", "True"},        {"CapacityKnown", "True"}, {"FullyGranted", "True"},
    {"Damped", "False"},      {"Propagated", "True"},    {"OwnershipConflict", "False"},
    {"DevicesKnown", "True"},
};

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : to_text(value);
}

std::string text_at(const Json& object, const char* key) {
  return object.contains(key) ? text_of(object[key]) : "";
}

// hh:mm:ss of 1970-01-01, where scenarios play; other days with their date.
std::string clock(LogTime time) {
  std::string text = to_rfc3339(time);
  if (text.rfind("1970-01-01T", 0) != 0) return text;
  text = text.substr(11);
  text.pop_back();
  return text;
}

std::string quotas(const Json& groups) {
  std::string out;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (g > 0) out += " | ";
    bool first = true;
    for (const Json& flavor : groups[g].value("flavors", Json::array())) {
      out += (first ? "" : "; ") + text_at(flavor, "name") + ":";
      first = false;
      std::string separator = " ";
      for (const Json& resource : flavor.value("resources", Json::array())) {
        out += separator + text_at(resource, "name") + " " + text_at(resource, "nominalQuota");
        if (resource.contains("lendingLimit"))
          out += " (lend " + text_at(resource, "lendingLimit") + ")";
        if (resource.contains("borrowingLimit"))
          out += " (borrow " + text_at(resource, "borrowingLimit") + ")";
        separator = ", ";
      }
    }
  }
  return out;
}

std::string claim_status(const Json& status) {
  std::string out;
  for (const Json& condition : status.value("conditions", Json::array())) {
    const std::string type = text_at(condition, "type");
    const auto usual = kUsual.find(type);
    if (usual != kUsual.end() && usual->second == text_at(condition, "status")) continue;
    out += (out.empty() ? "" : " ") + type + "=" + text_at(condition, "status") + "/" +
           text_at(condition, "reason");
    if (type == "QuotaOrchestrated" || type == "Released" || type == "DevicesKnown")
      out += " (" + text_at(condition, "message") + ")";
  }
  if (out.empty()) out = "all well";
  for (const Json& grant : status.value("grants", Json::array())) {
    out += "; " + text_at(grant, "clusterQueueName") + "/" + text_at(grant, "flavor") + " " +
           text_at(grant, "resource") + " " + text_at(grant, "granted") + "/" +
           text_at(grant, "assigned");
    if (!text_at(grant, "reason").empty()) out += " " + text_at(grant, "reason");
  }
  for (const Json& over : status.value("overcommitted", Json::array()))
    out += "; overcommitted " + text_at(over, "clusterQueueName") + "/" + text_at(over, "flavor") +
           " " + text_at(over, "resource") + " uses " + text_at(over, "usage") + " of " +
           text_at(over, "granted");
  return out;
}

Json orphaning_rules(const Json& spec) {
  return spec.value("/deleteOption/selectivelyOrphans/orphaningRules"_json_pointer, Json::array());
}

// Whether the object stays at the member when the work is deleted.
bool is_orphaned(const Json& spec, const std::string& resource, const std::string& name) {
  for (const Json& rule : orphaning_rules(spec))
    if (text_at(rule, "resource") == resource && text_at(rule, "name") == name) return true;
  return false;
}

std::string work(const Json& spec) {
  std::string out;
  if (!spec.contains("workload"))
    for (const Json& rule : orphaning_rules(spec))
      out += (out.empty() ? "leaves " : ", ") + text_at(rule, "resource") + " " +
             text_at(rule, "name");
  for (const Json& manifest : spec.value("/workload/manifests"_json_pointer, Json::array())) {
    out += out.empty() ? "" : " & ";
    const std::string kind = text_at(manifest, "kind");
    out += kind + " " + text_at(manifest.value("metadata", Json::object()), "name");
    if ((kind == "ResourceFlavor" || kind == "Namespace") &&
        !is_orphaned(spec, kind == "Namespace" ? "namespaces" : "resourceflavors",
                     text_at(manifest["metadata"], "name")))
      out += " (goes with the work)";
    const Json fields = manifest.value("spec", Json::object());
    if (kind == "ClusterQueue")
      out += " {" + quotas(fields.value("resourceGroups", Json::array())) + "}";
    if (kind == "LocalQueue") out += " -> " + text_at(fields, "clusterQueue");
  }
  return out;
}

std::string names(const Json& list) {
  std::string out;
  for (const Json& name : list) out += (out.empty() ? "" : ", ") + name.get<std::string>();
  return "[" + out + "]";
}

std::string multikueue_cluster(const Json& spec) {
  const Json source = spec.value("clusterSource", spec);
  return source.contains("kubeConfig")
             ? "Secret " + text_at(source["kubeConfig"], "location")
             : "ClusterProfile " + text_at(source.at("clusterProfileRef"), "name");
}

std::string conditions(const Json& status) {
  std::string out;
  for (const Json& condition : status.value("conditions", Json::array()))
    out += (out.empty() ? "" : "; ") + text_at(condition, "type") + "=" +
           text_at(condition, "status") + "/" + text_at(condition, "reason") + " (" +
           text_at(condition, "message") + ")";
  return out;
}

std::string workload_status(const Json& status) {
  std::string out;
  for (const Json& check : status.value("admissionChecks", Json::array()))
    out += (out.empty() ? "" : " ") + text_at(check, "name") + "=" + text_at(check, "state");
  if (status.contains("nominatedClusterNames"))
    out += " nominated " + names(status["nominatedClusterNames"]);
  if (status.contains("conditions")) out += " " + conditions(status);
  return out;
}

// [selectors] & namespaces t (create only) & localqueues t/ a b
std::string policy(const Json& spec) {
  std::string out = text_of(spec["clusterSelectors"]);
  for (const Json& clause : spec.value("downsync", Json::array())) {
    out += " & " + text_of(clause["resources"][0]);
    if (clause.contains("namespaces")) out += " " + text_of(clause["namespaces"][0]) + "/";
    for (const Json& name : clause["objectNames"]) out += " " + text_of(name);
    if (clause.value("createOnly", false)) out += " (create only)";
  }
  return out;
}

// for [sim] | to be deallocated
std::string fleet_claim_status(const Json& status) {
  std::string out;
  for (const Json& one : status.value("reservedFor", Json::array()))
    out += (out.empty() ? "" : ", ") + text_at(one, "name");
  out = "for [" + out + "]";
  return status.value("deallocationRequested", false) ? out + " to be deallocated" : out;
}

// [w1, w2] selected w1
std::string fleet_scheduling(const Json& spec) {
  const std::string out = names(spec.value("potentialClusters", Json::array()));
  return spec.contains("selectedCluster") ? out + " selected " + text_at(spec, "selectedCluster")
                                          : out;
}

std::string summary(const PatchIntended& intent) {
  if (intent.body.empty()) return "";
  const Json body = Json::parse(intent.body);
  const Json spec = body.value("spec", Json::object());
  if (intent.target.kind == Kind::multikueue_config)
    return names(spec.value("clusters", Json::array()));
  if (intent.target.kind == Kind::multikueue_cluster) return multikueue_cluster(spec);
  if (intent.verb == Verb::apply_status && intent.target.kind == Kind::admission_check)
    return conditions(body.value("status", Json::object()));
  if (intent.target.kind == Kind::workload)
    return workload_status(body.value("status", Json::object()));
  if (intent.verb == Verb::apply_status && intent.target.kind == Kind::claim)
    return claim_status(body.value("status", Json::object()));
  if (intent.verb == Verb::apply_status && intent.target.kind == Kind::fleet_resource_claim)
    return fleet_claim_status(body.value("status", Json::object()));
  if (intent.target.kind == Kind::fleet_scheduling) return fleet_scheduling(spec);
  if (intent.target.kind == Kind::cluster_queue)
    return quotas(spec.value("resourceGroups", Json::array()));
  if (intent.target.kind == Kind::manifest_work) return work(spec);
  if (intent.target.kind == Kind::binding_policy) return policy(spec);
  if (intent.target.kind == Kind::claim && spec.contains("clusterName"))
    return "of " + text_at(spec, "clusterName") + " " + to_text(spec["nominalResources"]);
  Json rest = body;
  for (const char* key : {"apiVersion", "kind"}) rest.erase(key);
  for (const char* key : {"name", "namespace", "uid", "resourceVersion"})
    if (rest.contains("metadata")) rest["metadata"].erase(key);
  return to_text(rest);
}

bool kind_shown(const std::string& kind, const std::set<std::string>& show) {
  const bool all = std::none_of(show.begin(), show.end(), [](const std::string& word) {
    return word != "status" && word != "raw" && word != "state";
  });
  return all || show.count(kind) > 0;
}

bool shown(const PatchIntended& intent, const std::set<std::string>& show) {
  if (show.count("state") > 0) return false;
  if (intent.verb == Verb::apply_status) return show.count("status") > 0;
  return kind_shown(std::string(info(intent.target.kind).name), show);
}

constexpr std::size_t kColumns = 100;

// `words` in lines of up to kColumns, broken at blanks.
void wrap(const std::string& words, std::size_t indent, std::string& out) {
  std::string line(indent, ' ');
  bool empty = true;
  for (std::size_t at = 0; at <= words.size();) {
    const std::size_t end = std::min(words.find(' ', at), words.size());
    const std::string word = words.substr(at, end - at);
    if (!empty && line.size() + 1 + word.size() > kColumns) {
      out += line + "\n";
      line = std::string(indent + 4, ' ');
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
    at = end + 1;
  }
  out += line + "\n";
}

// Each part that ends in `;`, `&` or `|` outside of brackets is a line of its own.
void wrap_parts(const std::string& text, std::string& out) {
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '{' || c == '[') ++depth;
    if (c == ')' || c == '}' || c == ']') --depth;
    if (depth != 0 || (c != ';' && c != '&' && c != '|') || text[i + 1] != ' ') continue;
    wrap(text.substr(begin, i + 1 - begin), 2, out);
    begin = i + 2;
  }
  wrap(text.substr(begin), 2, out);
}

// `/path: value` of each field.
void fields(const Json& value, const Json::json_pointer& path, std::string& out) {
  if (value.is_structured() && !value.empty()) {
    for (const auto& [key, inner] : value.items())
      fields(inner,
             value.is_array() ? path / static_cast<std::size_t>(std::stoul(key)) : path / key, out);
    return;
  }
  wrap(path.to_string() + ": " + to_text(value), 2, out);
}

// What follows a header on its line, or below it where that would be too long.
std::string below(const std::string& header, const std::string& text) {
  if (text.empty()) return header + "\n";
  if (header.size() + 2 + text.size() <= kColumns) return header + "  " + text + "\n";
  std::string out = header + "\n";
  if (text.starts_with('{') && Json::accept(text))
    fields(Json::parse(text), Json::json_pointer(), out);
  else
    wrap_parts(text, out);
  return out;
}

// What a write to a tenant leaves of our annotations, each a line, by their names without the
// domain. One goes on the header's line.
std::string annotations(const std::string& header, const PatchIntended& intent) {
  const Json body = Json::parse(intent.body);
  const Json all = body.value("/metadata/annotations"_json_pointer, Json::object());
  if (all.empty()) return header + "  (no annotation of ours)\n";
  std::string lines;
  for (const auto& [name, value] : all.items())
    wrap(name.substr(name.find('/') + 1) + ": " + text_of(value), 2, lines);
  const bool one_line = all.size() == 1 && header.size() + lines.size() <= kColumns;
  return header + (one_line ? "" : "\n") + lines;
}

bool is_to_tenant(const PatchIntended& intent) {
  return intent.target.kind == Kind::namespace_ || intent.target.kind == Kind::pod;
}

}  // namespace

std::string render(const DryRun& dry_run, const std::set<std::string>& show) {
  std::string out;
  for (const PlannedWrite& write : dry_run.writes()) {
    const PatchIntended& intent = write.intent;
    if (!shown(intent, show)) continue;
    std::string header = clock(write.time) + " ";
    if (intent.cluster != kHub) header += "[" + intent.cluster + "] ";
    header +=
        std::string(text_of(intent.verb)) + " " + std::string(info(intent.target.kind).name) + " ";
    if (!intent.target.namespace_.empty()) header += intent.target.namespace_ + "/";
    header += intent.target.name;
    if (is_to_tenant(intent) && show.count("raw") == 0)
      out += annotations(header, intent);
    else
      out += below(header, show.count("raw") > 0 ? intent.body : summary(intent));
  }
  if (show.count("state") > 0)
    for (const auto& [id, object] : dry_run.written_objects())
      if (kind_shown(std::get<2>(id), show)) out += below(std::get<0>(id), to_text(object));
  return out;
}

}  // namespace fairlead
