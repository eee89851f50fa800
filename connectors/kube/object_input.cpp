#include "connectors/kube/object_input.h"

#include <algorithm>
#include <fstream>
#include <istream>
#include <iterator>

#include "connectors/kube/json_document.h"
#include "connectors/kube/projection.h"
#include "connectors/kube/yaml_document.h"

namespace fairlead {
namespace {

struct TypeWord {
  std::string_view word;
  InputType type;
};
constexpr TypeWord kTypes[] = {
    {"ADDED", InputType::added},
    {"MODIFIED", InputType::modified},
    {"DELETED", InputType::deleted},
    {"BOOKMARK", InputType::bookmark},
    {"ERROR", InputType::error},
    {"SOURCE_STALE", InputType::source_stale},
    {"SOURCE_LOST", InputType::source_lost},
    {"SOURCE_SYNCED", InputType::source_synced},
};

std::optional<InputType> find_type(std::string_view word) {
  for (const TypeWord& row : kTypes)
    if (row.word == word) return row.type;
  return std::nullopt;
}

bool is_control(InputType type) {
  return type == InputType::source_stale || type == InputType::source_lost ||
         type == InputType::source_synced;
}

// Reads the documents of one file.
class FileReader {
 public:
  FileReader(const std::string& file, std::vector<InputLine>& lines) : file_(file), lines_(lines) {}

  Result<void> read(std::string_view text) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    return text[first] == '{' || text[first] == '[' ? read_json(text) : read_yaml(text);
  }

 private:
  Error expected(std::size_t line, std::string_view what) const {
    return {ErrorCode::bad_input, file_ + ":" + std::to_string(line) + ": " + std::string(what)};
  }

  Result<void> read_json(std::string_view text);
  Result<void> read_yaml(std::string_view text) {
    std::optional<JsonFault> fault;
    for (const YamlDocument& one : parse_yaml(text, fault))
      if (auto done = document(one.document.root(), one.line); done.has_error()) return done;
    if (fault) return expected(fault->line, "expected YAML: " + fault->what);
    return {};
  }

  Result<void> document(JsonView value, std::size_t line) {
    if (value.is(JsonKind::array)) {
      for (JsonView item : value)
        if (auto done = document(item, line); done.has_error()) return done;
      return {};
    }
    if (!value.is(JsonKind::object))
      return expected(line, "expected an object with kind and metadata.name, got " +
                                std::string(describe(value.kind())));
    InputLine made;
    made.file = file_;
    made.line = line;
    made.cluster = kHub;
    made.time = lines_.empty() ? LogTime{} : lines_.back().time;
    JsonView type = value["type"];
    const auto known = find_type(type.string());
    // Some kinds (Secret, Event) have a field `type` of their own; a watch event has no kind.
    const bool event = known || value["object"].given() || (type.given() && !value["kind"].given());
    if (!event) return object(value, std::move(made), {});
    if (!known)
      return expected(line,
                      "expected type ADDED, MODIFIED, DELETED, BOOKMARK, ERROR, SOURCE_STALE, "
                      "SOURCE_LOST or SOURCE_SYNCED, got " +
                          canonical_text(type));
    made.type = *known;
    return watch_event(value, std::move(made));
  }

  Result<void> watch_event(JsonView value, InputLine made) {
    if (JsonView cluster = value["cluster"]; cluster.given()) {
      if (cluster.string().empty())
        return expected(made.line, "expected cluster to be the name of an API server, got " +
                                       canonical_text(cluster));
      made.cluster = cluster.string();
    }
    if (JsonView time = value["time"]; time.given()) {
      auto parsed = parse_rfc3339(time.string());
      if (!parsed)
        return expected(made.line,
                        "expected time as in 2026-01-01T00:00:00Z, got " + canonical_text(time));
      if (*parsed < made.time)
        return expected(made.line, "expected a time that is not before " + to_rfc3339(made.time) +
                                       ", got " + std::string(time.string()));
      made.time = *parsed;
    }
    if (is_control(made.type) || made.type == InputType::error) {
      lines_.push_back(std::move(made));
      return {};
    }
    JsonView inner = value["object"];
    if (!inner.is(JsonKind::object))
      return expected(made.line, "expected object to be a Kubernetes object, got " +
                                     std::string(describe(inner.kind())));
    return object(inner, std::move(made), {});
  }

  // `from_list` gives items of a typed list the kind and version that API servers leave out of
  // them.
  struct ListType {
    std::string api_version;
    std::string kind;
  };
  Result<void> object(JsonView value, InputLine made, const ListType& from_list);
  Result<void> list_items(JsonView list, const InputLine& made);

  const std::string& file_;
  std::vector<InputLine>& lines_;
};

Result<void> FileReader::object(JsonView value, InputLine made, const ListType& from_list) {
  if (!value.is(JsonKind::object))
    return expected(made.line, "expected an object with kind and metadata.name, got " +
                                   std::string(describe(value.kind())));
  made.kind = value["kind"].string();
  made.api_version = value["apiVersion"].string();
  const bool untyped = made.kind.empty() && !from_list.kind.empty();
  if (untyped) made.kind = from_list.kind;
  if (untyped && made.api_version.empty()) made.api_version = from_list.api_version;
  if (made.kind.empty()) return expected(made.line, "expected an object with a kind");
  if (made.kind == "List" || (made.kind.ends_with("List") && value["items"].is(JsonKind::array)))
    return list_items(value, made);

  JsonView metadata = value["metadata"];
  made.resource_version = metadata["resourceVersion"].string();
  if (made.type != InputType::bookmark) {
    made.name = metadata["name"].string();
    made.namespace_ = metadata["namespace"].string();
    if (made.name.empty())
      return expected(made.line, "expected " + made.kind + " to have a metadata.name");
  }
  made.object = to_json(value);
  if (untyped) {
    made.object["kind"] = made.kind;
    made.object["apiVersion"] = made.api_version;
  }
  if (made.type != InputType::bookmark) {
    const JsonDocument typed = untyped ? to_document(made.object) : JsonDocument();
    auto seen = project(untyped ? typed.root() : value);
    if (seen.has_error()) return expected(made.line, seen.error().message);
    made.seen = std::move(*seen);
  }
  lines_.push_back(std::move(made));
  return {};
}

Result<void> FileReader::list_items(JsonView list, const InputLine& made) {
  JsonView items = list["items"];
  if (items.given() && !items.is(JsonKind::array))
    return expected(made.line, "expected items of a List to be an array, got " +
                                   std::string(describe(items.kind())));
  const ListType type{made.api_version, made.kind.substr(0, made.kind.size() - 4)};
  for (JsonView item : items) {
    InputLine one = made;
    one.kind.clear();
    one.api_version.clear();
    if (auto done = object(item, std::move(one), type); done.has_error()) return done;
  }
  return {};
}

// The end of the JSON value that starts at `at`: brackets are counted outside strings. text.size()
// if it never ends.
std::size_t value_end(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  bool in_string = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\') ++at;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return at + 1;
  }
  return text.size();
}

Result<void> FileReader::read_json(std::string_view text) {
  std::size_t line = 1;
  std::size_t at = 0;
  auto pass = [&](std::size_t to) {
    line +=
        static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                            text.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
    at = to;
  };
  for (;;) {
    const std::size_t start = text.find_first_not_of(" \t\r\n", at);
    if (start == std::string_view::npos) return {};
    pass(start);
    if (text[at] != '{' && text[at] != '[')
      return expected(line, "expected JSON: a document starts with { or [");
    const std::size_t end = value_end(text, at);
    JsonFault fault;
    auto parsed = parse_json(text.substr(at, end - at), fault, kJsonFileBytesMax);
    if (!parsed) return expected(line + fault.line - 1, "expected JSON: " + fault.what);
    if (auto done = document(parsed->root(), line); done.has_error()) return done;
    pass(end);
  }
}

// nullopt if reading fails (a directory opens, but does not read).
std::optional<std::string> read_all(std::istream& in) {
  try {
    return std::string(std::istreambuf_iterator<char>(in), {});
  } catch (const std::ios_base::failure&) {
    return std::nullopt;
  }
}

}  // namespace

Result<void> read_objects_text(std::string_view text, const std::string& file,
                               std::vector<InputLine>& lines) {
  return FileReader(file, lines).read(text);
}

Result<std::vector<InputLine>> read_objects(const std::vector<std::string>& files,
                                            std::istream& standard_input) {
  std::vector<InputLine> lines;
  for (const std::string& file : files) {
    std::optional<std::string> text;
    if (file == "-") {
      text = read_all(standard_input);
    } else {
      std::ifstream in(file, std::ios::binary);
      if (in) text = read_all(in);
    }
    if (!text) return Error{ErrorCode::bad_input, file + ":1: expected a readable file"};
    if (auto done = read_objects_text(*text, file, lines); done.has_error()) return done.error();
  }
  return lines;
}

}  // namespace fairlead
