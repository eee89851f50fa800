#include "engine/runtime/configuration.h"

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "engine/base/yaml_tree.h"
#include "engine/runtime/configuration_fields.h"
#include "engine/runtime/configuration_roles.h"
#include "schema/event_json.h"

namespace fairlead {
namespace {

constexpr std::string_view kApiVersion = "fairlead.io/v1alpha1";
constexpr std::string_view kKind = "Configuration";

const ConfigurationField* find_field(const std::string& path) {
  for (const ConfigurationField& field : configuration_fields())
    if (field.path == path) return &field;
  return nullptr;
}

/// `path` and a dot; empty at the root.
std::string prefix_of(const std::string& path) { return path.empty() ? "" : path + "."; }

/// The keys that may occur directly below the section `path`, in order; none if it is not a
/// section.
std::vector<std::string> keys_of(const std::string& path) {
  std::vector<std::string> keys;
  const std::string prefix = prefix_of(path);
  for (const ConfigurationField& field : configuration_fields()) {
    if (!field.path.starts_with(prefix)) continue;
    const std::string rest = field.path.substr(prefix.size());
    const std::string key = rest.substr(0, rest.find('.'));
    if (keys.empty() || keys.back() != key) keys.push_back(key);
  }
  return keys;
}

std::string one_of(const std::vector<std::string>& keys) {
  std::string text = "expected one of";
  for (const std::string& key : keys) text.append(&key == &keys.front() ? " " : ", ").append(key);
  return text;
}

/// What a file says.
struct WholeFile {
  Configuration configuration;
  HubRoleSettings roles;
  MentionedPaths mentioned;
};

void read_section(WholeFile& file, const std::string& path, const YamlNode& node);

/// Reads the value at `path`: a setting or a section of settings.
void read_at(WholeFile& file, const std::string& path, const YamlNode& node) {
  const ConfigurationField* field = find_field(path);
  if (field == nullptr) return read_section(file, path, node);
  file.mentioned[path] = node.line;
  if (field->read_role)
    field->read_role(file.roles, node);
  else
    field->read(file.configuration, node);
}

void read_header(const std::string& key, const YamlNode& node) {
  const std::string_view expected = key == "kind" ? kKind : kApiVersion;
  if (!node.is_scalar() || node.text != expected)
    throw RefusedValue{node.line, key, "expected " + std::string(expected)};
}

/// A key with a dot is never known: dots separate the keys of a path, and would let `a.b` at the
/// root name the setting `b` of section `a`.
bool is_known(const std::string& key, const std::string& path) {
  if (key.empty() || key.find('.') != std::string::npos) return false;
  return find_field(path) != nullptr || !keys_of(path).empty();
}

void read_section(WholeFile& file, const std::string& path, const YamlNode& node) {
  if (node.is_null()) return;
  const std::vector<std::string> keys = keys_of(path);
  if (!node.is_map()) throw RefusedValue{node.line, path, "expected a map; " + one_of(keys)};
  file.mentioned[path] = node.line;
  std::set<std::string> seen;
  for (const auto& entry : node.entries()) {
    const std::string key = entry.first.is_scalar() ? entry.first.text : std::string("?");
    const std::string key_path = prefix_of(path) + key;
    if (!seen.insert(key).second)
      throw RefusedValue{entry.first.line, key_path, "expected it only once"};
    if (path.empty() && (key == "apiVersion" || key == "kind")) {
      read_header(key, entry.second);
    } else if (!is_known(key, key_path)) {
      throw RefusedValue{entry.first.line, key_path, "unknown key; " + one_of(keys)};
    } else {
      read_at(file, key_path, entry.second);
    }
  }
}

Error bad_input(std::string message) { return Error{ErrorCode::bad_input, std::move(message)}; }

std::string place(std::string_view file_name, std::size_t line) {
  return std::string(file_name) + ":" + std::to_string(line);
}

/// The parts of a dotted path, quotes taken off; nullopt if a part is empty or a quote is not
/// closed.
std::optional<std::vector<std::string>> split_path(std::string_view path) {
  std::vector<std::string> parts(1);
  char quote = 0;
  for (const char c : path) {
    if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        parts.back().push_back(c);
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back().push_back(c);
    }
  }
  if (quote != 0) return std::nullopt;
  for (const std::string& part : parts)
    if (part.empty()) return std::nullopt;
  return parts;
}

/// Where PATH ends: the first `=` outside quotes.
std::size_t find_equals(std::string_view setting) {
  char quote = 0;
  for (std::size_t i = 0; i < setting.size(); ++i) {
    const char c = setting[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '=') {
      return i;
    }
  }
  return std::string_view::npos;
}

std::string join(const std::vector<std::string>& parts, std::size_t count) {
  std::string path;
  for (std::size_t i = 0; i < count; ++i) path.append(i == 0 ? "" : ".").append(parts[i]);
  return path;
}

void set_at(WholeFile& file, const std::vector<std::string>& parts, const YamlNode& node) {
  const std::string path = join(parts, parts.size());
  const bool section = !keys_of(path).empty();
  if (section && node.is_null())
    throw RefusedValue{node.line, path, "expected a map; " + one_of(keys_of(path))};
  if (section || find_field(path) != nullptr) return read_at(file, path, node);
  const ConfigurationField* map = find_field(join(parts, parts.size() - 1));
  if (map != nullptr && map->read_entry)
    return map->read_entry(file.configuration, parts.back(), node);
  std::size_t known = parts.size() - 1;
  while (known > 0 && keys_of(join(parts, known)).empty()) --known;
  throw RefusedValue{node.line, path, "unknown key; " + one_of(keys_of(join(parts, known)))};
}

// Reads the documents of a text into `documents`.
std::optional<YamlFault> read_documents(std::string_view text, std::vector<YamlNode>& documents) {
  return read_yaml(text, [&](const YamlNode& root) -> std::optional<YamlFault> {
    documents.push_back(root);
    return std::nullopt;
  });
}

Result<WholeFile> read_file(std::string_view text, std::string_view file_name) {
  try {
    std::vector<YamlNode> documents;
    if (const auto broken = read_documents(text, documents))
      return bad_input(place(file_name, broken->line) + ": expected YAML: " + broken->what);
    if (documents.size() > 1)
      return bad_input(place(file_name, documents[1].line) + ": expected one document");
    // A file that another program is rewriting is empty for a moment; read as a configuration it
    // would reset every setting to its default.
    if (documents.empty() || documents[0].is_null())
      return bad_input(std::string(file_name) +
                       ": the file is empty; expected at least kind: " + std::string(kKind));
    if (!documents[0].is_map())
      return bad_input(place(file_name, documents[0].line) + ": expected a map; " +
                       one_of(keys_of("")));
    WholeFile file;
    read_section(file, "", documents[0]);
    return file;
  } catch (const RefusedValue& refused) {
    return bad_input(place(file_name, refused.line) + ": " + refused.key + ": " + refused.expected);
  }
}

Result<void> apply_to(WholeFile& file, std::string_view setting) {
  const std::size_t equals = find_equals(setting);
  if (equals == std::string_view::npos) return bad_input("expected PATH=VALUE");
  const auto parts = split_path(setting.substr(0, equals));
  if (!parts) return bad_input("expected a dotted path before the =");
  try {
    // On a copy: a section with a bad entry must not leave its good entries applied.
    WholeFile changed = file;
    changed.mentioned.clear();
    std::vector<YamlNode> values;
    if (const auto broken = read_documents(setting.substr(equals + 1), values))
      return bad_input("expected YAML after the =: " + broken->what);
    set_at(changed, *parts, values.empty() ? YamlNode() : values.front());
    for (auto& [path, line] : changed.mentioned) line = 0;  // no line of the file
    changed.mentioned.merge(file.mentioned);
    file = std::move(changed);
    return {};
  } catch (const RefusedValue& refused) {
    return bad_input(refused.key + ": " + refused.expected);
  }
}

}  // namespace

Result<Configuration> read_configuration(std::string_view text, std::string_view file_name) {
  auto file = read_file(text, file_name);
  if (!file) return file.error();
  return std::move(file->configuration);
}

Result<void> apply_setting(Configuration& configuration, std::string_view setting) {
  WholeFile file{configuration, {}, {}};
  if (auto applied = apply_to(file, setting); !applied) return applied;
  configuration = std::move(file.configuration);
  return {};
}

Result<HubRoleSettings> read_role_settings(std::string_view text, std::string_view file_name,
                                           const std::vector<std::string>& settings) {
  WholeFile file;
  if (!text.empty()) {
    auto read = read_file(text, file_name);
    if (!read) return read.error();
    file = std::move(*read);
  }
  for (const std::string& setting : settings)
    if (auto applied = apply_to(file, setting); !applied)
      return in_context("--set " + setting, applied.error());
  try {
    complete_roles(file.roles, file.mentioned);
    return std::move(file.roles);
  } catch (const RefusedValue& refused) {
    const std::string where = refused.line == 0 ? "--set" : place(file_name, refused.line);
    return bad_input(where + ": " + refused.key + ": " + refused.expected);
  }
}

std::string to_yaml(const Configuration& configuration) {
  Json file = to_json(configuration);
  file["apiVersion"] = kApiVersion;
  file["kind"] = kKind;
  return write_yaml(file);
}

}  // namespace fairlead
