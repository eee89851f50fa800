#include "engine/runtime/configuration_fields.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <set>
#include <span>
#include <utility>

#include "engine/base/quantity.h"
#include "schema/debounce_parameter.h"

namespace fairlead {
namespace {

[[noreturn]] void refuse(const YAML::Node& node, std::string key, std::string expected) {
  throw RefusedValue{node.Mark(), std::move(key), std::move(expected)};
}

std::string read_text(const YAML::Node& node, const std::string& key, std::string_view expected) {
  if (!node.IsScalar() || node.Scalar().empty()) refuse(node, key, std::string(expected));
  return node.Scalar();
}

std::int64_t read_number(const YAML::Node& node, const std::string& key, std::int64_t min,
                         std::int64_t max) {
  const std::string expected =
      "expected a whole number from " + std::to_string(min) + " to " + std::to_string(max);
  const std::string text = read_text(node, key, expected);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || number < min || number > max) refuse(node, key, expected);
  return number;
}

Duration read_duration(const YAML::Node& node, const std::string& key) {
  constexpr std::string_view expected = "expected a duration such as 15s, 5m or 1h30m";
  const std::string text = read_text(node, key, expected);
  const std::optional<Duration> span =
      text == "0" ? std::optional<Duration>(Duration{}) : parse_go_duration(text);
  if (!span || span->ns < 0 || *span > kDebounceDurationMax)
    refuse(node, key, std::string(expected));
  return *span;
}

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// The last part of a Kubernetes qualified name; with `also` the characters allowed inside besides
/// letters and digits.
bool is_name_part(std::string_view text, std::size_t length_max, std::string_view also) {
  if (text.empty() || text.size() > length_max) return false;
  if (!is_alphanumeric(text.front()) || !is_alphanumeric(text.back())) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return is_alphanumeric(c) || also.find(c) != std::string_view::npos;
  });
}

bool is_object_name(std::string_view text) {
  const bool lower =
      std::none_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  return lower && is_name_part(text, 253, "-.");
}

bool is_resource_name(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return is_name_part(text, 63, "-_.");
  return is_object_name(text.substr(0, slash)) && is_name_part(text.substr(slash + 1), 63, "-_.");
}

bool is_namespaced_name(std::string_view text) {
  const std::size_t slash = text.find('/');
  return slash != std::string_view::npos && is_name_part(text.substr(0, slash), 63, "-") &&
         is_object_name(text.substr(0, slash)) && is_object_name(text.substr(slash + 1));
}

/// The words that a setting may have in the file, each with its value.
template <class T>
using Words = std::span<const std::pair<std::string_view, T>>;

template <class T>
T read_word(const YAML::Node& node, const std::string& key, Words<T> words) {
  std::string expected = "expected one of";
  for (const auto& [word, value] : words) {
    if (node.IsScalar() && node.Scalar() == word) return value;
    expected.append(value == words.front().second ? " " : ", ").append(word);
  }
  refuse(node, key, expected);
}

constexpr std::array<std::pair<std::string_view, CapacitySource>, 3> kSources{{
    {"nodes", CapacitySource::nodes},
    {"clusterMetrics", CapacitySource::cluster_metrics},
    {"managedCluster", CapacitySource::managed_cluster},
}};
constexpr std::array<std::pair<std::string_view, MemberMode>, 4> kModes{{
    {"auto", MemberMode::automatic},
    {"manifestWork", MemberMode::manifest_work},
    {"bindingPolicy", MemberMode::binding_policy},
    {"none", MemberMode::none},
}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kProfiles{{
    {"placement", "placement"},
    {"cluster", "cluster"},
}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kClearedBy{{
    {"policy", "policy"},
    {"mergePatch", "mergePatch"},
}};
constexpr std::array<std::pair<std::string_view, RuleAction>, 3> kActions{{
    {"deny", RuleAction::deny},
    {"warn", RuleAction::warn},
    {"off", RuleAction::off},
}};
constexpr std::array<std::pair<std::string_view, bool>, 2> kSwitch{
    {{"true", true}, {"false", false}}};

/// A setting of one value: `field` finds it in a Configuration, `read` reads it.
template <class Field, class Read>
ConfigurationField setting(std::string path, Field field, Read read) {
  ConfigurationField row;
  row.read = [path, field, read](Configuration& c, const YAML::Node& node) {
    field(c) = read(node, path);
  };
  row.path = std::move(path);
  return row;
}

template <class Field>
ConfigurationField number(std::string path, Field field, std::int64_t min, std::int64_t max) {
  return setting(std::move(path), field,
                 [min, max](const YAML::Node& node, const std::string& key) {
                   return read_number(node, key, min, max);
                 });
}

template <class Field>
ConfigurationField duration(std::string path, Field field) {
  return setting(std::move(path), field, read_duration);
}

template <class Field, class T, std::size_t n>
ConfigurationField word(std::string path, Field field,
                        const std::array<std::pair<std::string_view, T>, n>& words) {
  return setting(std::move(path), field, [&words](const YAML::Node& node, const std::string& key) {
    return read_word<T>(node, key, words);
  });
}

template <class Field>
ConfigurationField on_off(std::string path, Field field) {
  return word(std::move(path), field, kSwitch);
}

/// A map of resource names; `read_value` reads one entry.
template <class Field, class Read>
ConfigurationField resource_map(std::string path, Field field, Read read_value) {
  ConfigurationField row;
  row.read_entry = [path, field, read_value](Configuration& c, const std::string& key,
                                             const YAML::Node& node) {
    const std::string entry = path + "." + key;
    if (!is_resource_name(key))
      refuse(node, entry, "expected a resource name such as nvidia.com/gpu");
    field(c)[key] = read_value(node, entry);
  };
  row.read = [path, field, one = row.read_entry](Configuration& c, const YAML::Node& node) {
    if (!node.IsMap() && !node.IsNull())
      refuse(node, path, "expected a map of resource names, such as {cpu: ...}");
    field(c).clear();
    for (const auto& entry : node) {
      const std::string key = read_text(entry.first, path, "expected a resource name");
      if (field(c).contains(key)) refuse(entry.first, path + "." + key, "expected it only once");
      one(c, key, entry.second);
    }
  };
  row.path = std::move(path);
  return row;
}

std::int64_t read_percent(const YAML::Node& node, const std::string& key) {
  return read_number(node, key, 0, 100);
}

std::string read_reserved(const YAML::Node& node, const std::string& key) {
  constexpr std::string_view expected = "expected a Quantity of at least 0 such as 500m or 2Gi";
  const std::string text = read_text(node, key, expected);
  const std::optional<Quantity> quantity = Quantity::parse(text);
  if (!quantity || quantity->negative()) refuse(node, key, std::string(expected));
  return quantity->text();
}

std::string read_alias(const YAML::Node& node, const std::string& key) {
  constexpr std::string_view expected = "expected the resource name it stands for";
  const std::string text = read_text(node, key, expected);
  if (!is_resource_name(text) || key == "resourceAliases." + text)
    refuse(node, key, std::string(expected));
  return text;
}

std::string read_namespace(const YAML::Node& node, const std::string& key) {
  const std::string text = read_text(node, key, "expected a namespace");
  if (!is_object_name(text) || !is_name_part(text, 63, "-"))
    refuse(node, key, "expected a namespace");
  return text;
}

std::vector<CapacitySource> read_sources(const YAML::Node& node, const std::string& key) {
  if (!node.IsSequence() || node.size() == 0)
    refuse(node, key, "expected a list of at least one of nodes, clusterMetrics, managedCluster");
  std::vector<CapacitySource> sources;
  for (const YAML::Node& item : node) {
    const auto source = read_word<CapacitySource>(item, key, kSources);
    if (std::find(sources.begin(), sources.end(), source) != sources.end())
      refuse(item, key, "expected " + item.Scalar() + " only once");
    sources.push_back(source);
  }
  return sources;
}

MemberKubeconfig read_kubeconfig(const YAML::Node& node, const std::string& key) {
  constexpr std::string_view expected =
      "expected {cluster, and one of secretRef, file, clusterProfile}";
  if (!node.IsMap()) refuse(node, key, std::string(expected));
  MemberKubeconfig member;
  for (const auto& entry : node) {
    const std::string name = read_text(entry.first, key, expected);
    std::string* field = name == "cluster"          ? &member.cluster
                         : name == "secretRef"      ? &member.secret_ref
                         : name == "file"           ? &member.file
                         : name == "clusterProfile" ? &member.cluster_profile
                                                    : nullptr;
    const std::string path = key + "." + name;
    if (field == nullptr) refuse(entry.first, path, "unknown key; " + std::string(expected));
    if (!field->empty()) refuse(entry.first, path, "expected it only once");
    *field = read_text(entry.second, path, "expected a text");
    if ((name == "secretRef" || name == "clusterProfile") && !is_namespaced_name(*field))
      refuse(entry.second, path, "expected namespace/name");
    // "hub" and "self" already name sources in the log.
    if (name == "cluster" && (!is_object_name(*field) || *field == "hub" || *field == "self"))
      refuse(entry.second, path, "expected the name of a member cluster, other than hub and self");
  }
  const int ways =
      !member.secret_ref.empty() + !member.file.empty() + !member.cluster_profile.empty();
  if (member.cluster.empty() || ways != 1) refuse(node, key, std::string(expected));
  return member;
}

std::vector<MemberKubeconfig> read_kubeconfigs(const YAML::Node& node, const std::string& key) {
  if (!node.IsSequence() && !node.IsNull()) refuse(node, key, "expected a list");
  std::vector<MemberKubeconfig> members;
  std::set<std::string> clusters;
  for (std::size_t i = 0; i < node.size(); ++i) {
    const std::string path = key + "[" + std::to_string(i) + "]";
    members.push_back(read_kubeconfig(node[i], path));
    if (!clusters.insert(members.back().cluster).second)
      refuse(node[i], path + ".cluster", "expected each cluster only once");
  }
  return members;
}

std::vector<std::string> read_names(const YAML::Node& node, const std::string& key) {
  if (!node.IsSequence() && !node.IsNull()) refuse(node, key, "expected a list of names");
  std::vector<std::string> names;
  for (const YAML::Node& item : node) names.push_back(read_text(item, key, "expected a name"));
  return names;
}

ConfigurationField debounce_parameter(const DebounceParameter& parameter) {
  ConfigurationField row;
  row.path = "debounce." + std::string(parameter.name);
  row.read = [&parameter, path = row.path](Configuration& c, const YAML::Node& node) {
    std::string why_not;
    const std::string value = node.IsScalar() ? node.Scalar() : std::string();
    if (!set_debounce_parameter(c.debounce, parameter.name, value, why_not))
      refuse(node, path, why_not);
  };
  return row;
}

RuleAction read_rule_action(const YAML::Node& node, const std::string& key, AdmissionRule rule) {
  const auto action = read_word<RuleAction>(node, key, kActions);
  // A value that the fold would ignore is reported in any case.
  if (rule == AdmissionRule::claim_invalid && action == RuleAction::off)
    refuse(node, key, "expected one of deny, warn");
  return action;
}

ConfigurationField webhook_rules() {
  ConfigurationField row;
  row.path = "webhook.rules";
  row.read_entry = [path = row.path](Configuration& c, const std::string& key,
                                     const YAML::Node& node) {
    const auto rule = parse_admission_rule(key);
    if (!rule) {
      std::string expected = "unknown key; expected one of";
      for (const AdmissionRuleInfo& known : kAdmissionRules)
        expected.append(&known == kAdmissionRules.data() ? " " : ", ").append(known.name);
      refuse(node, path + "." + key, expected);
    }
    c.webhook_rules[*rule] = read_rule_action(node, path + "." + key, *rule);
  };
  row.read = [path = row.path, one = row.read_entry](Configuration& c, const YAML::Node& node) {
    if (!node.IsMap() && !node.IsNull())
      refuse(node, path, "expected a map of rules, such as {ownedQuota: deny}");
    c.webhook_rules.clear();
    std::set<std::string> seen;
    for (const auto& entry : node) {
      const std::string key = read_text(entry.first, path, "expected the name of a rule");
      if (!seen.insert(key).second) refuse(entry.first, path + "." + key, "expected it only once");
      one(c, key, entry.second);
    }
  };
  return row;
}

// Finds a setting in a Configuration.
#define FAIRLEAD_FIELD(member) [](Configuration& c) -> auto& { return c.member; }

std::vector<ConfigurationField> capacity_fields() {
  return {
      setting("kueue.namespace", FAIRLEAD_FIELD(kueue_namespace), read_namespace),
      resource_map("resourceAliases", FAIRLEAD_FIELD(resource_aliases), read_alias),
      setting("capacity.sources", FAIRLEAD_FIELD(capacity_sources), read_sources),
      resource_map("capacity.headroom.percent", FAIRLEAD_FIELD(headroom.percent), read_percent),
      resource_map("capacity.headroom.reserved", FAIRLEAD_FIELD(headroom.reserved), read_reserved),
      number("capacity.overbookPercent", FAIRLEAD_FIELD(overbook_percent), 1, 1'000'000),
      on_off("claims.create", FAIRLEAD_FIELD(create_claims)),
      duration("claims.statusInterval", FAIRLEAD_FIELD(status_interval)),
      word("members.mode", FAIRLEAD_FIELD(member_mode), kModes),
      setting("members.kubeconfigs", FAIRLEAD_FIELD(member_kubeconfigs), read_kubeconfigs),
      number("members.nodesMax", FAIRLEAD_FIELD(member_nodes_max), 1, 1'000'000),
      number("members.changesPerMinute", FAIRLEAD_FIELD(member_changes_per_minute), 0, 1'000'000),
  };
}

std::vector<ConfigurationField> multikueue_fields() {
  return {
      word("multikueue.profile", FAIRLEAD_FIELD(multikueue.profile), kProfiles),
      duration("multikueue.settle", FAIRLEAD_FIELD(multikueue.settle)),
      duration("multikueue.moveWindow", FAIRLEAD_FIELD(multikueue.move_window)),
      duration("multikueue.drainTimeout", FAIRLEAD_FIELD(multikueue.drain_timeout)),
      duration("multikueue.emptyGrace", FAIRLEAD_FIELD(multikueue.empty_grace)),
      duration("multikueue.credentialGrace", FAIRLEAD_FIELD(multikueue.credential_grace)),
      on_off("multikueue.adoptOcmAddon", FAIRLEAD_FIELD(multikueue.adopt_ocm_addon)),
      setting("multikueue.accessProviders", FAIRLEAD_FIELD(multikueue.access_providers),
              read_names),
      on_off("multikueue.dispatcher", FAIRLEAD_FIELD(multikueue.dispatcher)),
      word("multikueue.clearedBy", FAIRLEAD_FIELD(multikueue.cleared_by), kClearedBy),
  };
}

std::vector<ConfigurationField> shell_fields() {
  return {
      on_off("record", FAIRLEAD_FIELD(record)),
      number("writes.inflightMax", FAIRLEAD_FIELD(writes.inflight_max), 1, 10'000),
      number("writes.qps", FAIRLEAD_FIELD(writes.qps), 1, 1'000'000),
      number("writes.burst", FAIRLEAD_FIELD(writes.burst), 1, 1'000'000),
      webhook_rules(),
      number("log.snapshotEvery", FAIRLEAD_FIELD(snapshot_every), 1, 1'000'000'000),
      duration("log.rawRetention", FAIRLEAD_FIELD(raw_retention)),
      on_off("log.exportBeforeUpgrade", FAIRLEAD_FIELD(export_before_upgrade)),
  };
}

#undef FAIRLEAD_FIELD

std::vector<ConfigurationField> all_fields() {
  std::vector<ConfigurationField> fields = capacity_fields();
  for (const DebounceParameter& parameter : kDebounceParameters)
    fields.push_back(debounce_parameter(parameter));
  for (ConfigurationField& field : multikueue_fields()) fields.push_back(std::move(field));
  for (ConfigurationField& field : shell_fields()) fields.push_back(std::move(field));
  return fields;
}

}  // namespace

const std::vector<ConfigurationField>& configuration_fields() {
  static const std::vector<ConfigurationField> fields = all_fields();
  return fields;
}

}  // namespace fairlead
