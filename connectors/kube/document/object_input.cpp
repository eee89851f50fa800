#include "connectors/kube/document/object_input.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <istream>
#include <system_error>

#include "connectors/kube/document/json_document.h"
#include "connectors/kube/document/yaml_document.h"
#include "connectors/kube/projection/projection.h"

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
                                std::string(text_of(value.kind())));
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
                                     std::string(text_of(inner.kind())));
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

// The object of a line, which has a name. One that no API server would have accepted is ignored, as
// in a stream: the line says that it is gone.
std::optional<ObjectSeen> seen_or_gone(JsonView object, InputLine& made) {
  if (auto seen = project(object)) return std::move(*seen);
  const auto [group, version] = split_api_version(object["apiVersion"].string());
  const auto kind = find_kind(group, object["kind"].string());
  if (!kind) return std::nullopt;
  made.type = InputType::deleted;
  ObjectRefusal refused;
  return seen_of(*kind, version, object, identity_of(object), refused);
}

bool is_read(const InputLine& made) {
  return find_kind(split_api_version(made.api_version).group, made.kind).has_value();
}

Result<void> FileReader::object(JsonView value, InputLine made, const ListType& from_list) {
  if (!value.is(JsonKind::object))
    return expected(made.line, "expected an object with kind and metadata.name, got " +
                                   std::string(text_of(value.kind())));
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
    if (made.name.empty()) {
      const std::string generated(metadata["generateName"].string());
      // An object of a kind that is not read matters to nobody, whatever its name will be.
      if (!generated.empty() && !is_read(made)) return {};
      return expected(made.line,
                      "expected " + made.kind + " to have a metadata.name" +
                          (generated.empty() ? "" : ", it has generateName " + generated));
    }
  }
  made.object = to_json(value);
  if (untyped) {
    made.object["kind"] = made.kind;
    made.object["apiVersion"] = made.api_version;
  }
  if (made.type != InputType::bookmark) {
    const JsonDocument typed = untyped ? to_document(made.object) : JsonDocument();
    made.seen = seen_or_gone(untyped ? typed.root() : value, made);
  }
  lines_.push_back(std::move(made));
  return {};
}

Result<void> FileReader::list_items(JsonView list, const InputLine& made) {
  JsonView items = list["items"];
  if (items.given() && !items.is(JsonKind::array))
    return expected(made.line, "expected items of a List to be an array, got " +
                                   std::string(text_of(items.kind())));
  const ListType type{made.api_version, made.kind.substr(0, made.kind.size() - 4)};
  for (JsonView item : items) {
    InputLine one = made;
    one.kind.clear();
    one.api_version.clear();
    if (auto done = object(item, std::move(one), type); done.has_error()) return done;
  }
  return {};
}

// Finds where a JSON value ends by counting brackets outside strings; its text comes in pieces.
class ValueEnd {
 public:
  // The first character of `text` behind the value, which begins in `text` or began before it.
  // npos: it goes on behind `text`.
  std::size_t find(std::string_view text) {
    for (std::size_t at = 0; at < text.size(); ++at)
      if (closes(text[at])) return at + 1;
    return std::string_view::npos;
  }
  bool open() const { return depth_ > 0; }

 private:
  bool closes(char c) {
    if (in_string_) {
      if (!escaped_ && c == '"') in_string_ = false;
      escaped_ = !escaped_ && c == '\\';
      return false;
    }
    in_string_ = c == '"';
    if (c == '{' || c == '[') ++depth_;
    return (c == '}' || c == ']') && depth_ > 0 && --depth_ == 0;
  }

  std::size_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
};

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
    const std::size_t left = text.size() - at;
    std::size_t end = ValueEnd().find(text.substr(at));
    // Only a short one goes to the parser, which names the place where it breaks off but needs many
    // times its size in memory.
    if (end == std::string_view::npos && left > kJsonBytesMax)
      return expected(line, "expected JSON: the document that begins here is not closed after " +
                                std::to_string(left) + " bytes");
    end = end == std::string_view::npos ? text.size() : at + end;
    JsonFault fault;
    auto parsed = parse_json(text.substr(at, end - at), fault, kJsonFileBytesMax);
    if (!parsed) return expected(line + fault.line - 1, "expected JSON: " + fault.what);
    if (auto done = document(parsed->root(), line); done.has_error()) return done;
    pass(end);
  }
}

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

Error not_readable(const std::string& file) {
  const int reason = errno;
  std::error_code ignored;
  const std::string what = file == "-" ? "standard input cannot be read"
                           : std::filesystem::is_directory(file, ignored)
                               ? "expected a file, got a directory"
                               : "cannot be read: " + std::generic_category().message(reason);
  return {ErrorCode::bad_input, file + ": " + what};
}

// Reads a file piece by piece, up to the first document that is too long.
class Input {
 public:
  Input(const std::string& file, std::size_t document_bytes_max)
      : file_(file), bytes_max_(document_bytes_max) {}

  Result<std::string> read(std::istream& in) {
    for (;;) {
      const std::size_t before = text_.size();
      const std::size_t begun = before - begin_;
      const std::size_t piece = begun < bytes_max_ ? std::min(kPieceBytes, bytes_max_ - begun) : 0;
      if (piece == 0 && in.peek() != std::istream::traits_type::eof()) return too_long();
      text_.resize(before + piece);
      in.read(text_.data() + before, static_cast<std::streamsize>(piece));
      const auto size = static_cast<std::size_t>(in.gcount());
      text_.resize(before + size);
      // A directory opens, but does not read.
      if (in.bad()) return not_readable(file_);
      if (size == 0 || size < piece) return std::move(text_);
      pass_documents();
    }
  }

 private:
  Error expected(const std::string& what) const {
    return {ErrorCode::bad_input, file_ + ":" + what};
  }
  Error too_long() const {
    const auto begin = text_.begin() + static_cast<std::ptrdiff_t>(begin_);
    return expected(std::to_string(1 + std::count(text_.begin(), begin, '\n')) +
                    ": expected a document of up to " + std::to_string(bytes_max_) +
                    " bytes, which begins here, got a longer one");
  }

  // Each line that begins with --- starts a new YAML document.
  void pass_yaml() {
    bytes_max_ = std::min(bytes_max_, kInputYamlBytesMax);
    // Three bytes back: the end of the last piece may have cut the mark.
    const std::size_t from = std::max(begin_, passed_ - std::min<std::size_t>(passed_, 3));
    const std::size_t mark = std::string_view(text_).substr(from).rfind("\n---");
    if (mark != std::string_view::npos) begin_ = from + mark + 1;
    passed_ = text_.size();
  }

  // Moves begin_ behind the complete documents.
  void pass_documents() {
    const std::size_t first = text_.find_first_not_of("\xef\xbb\xbf \t\r\n");
    if (first == std::string::npos) return;
    if (text_[first] != '{' && text_[first] != '[') return pass_yaml();
    while (passed_ < text_.size()) {
      const std::size_t opened = end_.open() ? passed_ : text_.find_first_of("{[", passed_);
      if (opened == std::string::npos) break;
      if (!end_.open()) begin_ = opened;
      const std::size_t size = end_.find(std::string_view(text_).substr(opened));
      passed_ = size == std::string_view::npos ? text_.size() : opened + size;
      if (!end_.open()) begin_ = passed_;
    }
  }

  const std::string& file_;
  std::size_t bytes_max_;  // of a document
  std::string text_;
  std::size_t passed_ = 0;  // bytes that were scanned
  std::size_t begin_ = 0;   // of the document that is not complete
  ValueEnd end_;
};

}  // namespace

Result<void> read_objects_text(std::string_view text, const std::string& file,
                               std::vector<InputLine>& lines) {
  return FileReader(file, lines).read(text);
}

Result<std::vector<InputLine>> read_objects(const std::vector<std::string>& files,
                                            std::istream& standard_input,
                                            std::size_t document_bytes_max) {
  std::vector<InputLine> lines;
  for (const std::string& file : files) {
    Input input(file, document_bytes_max);
    std::ifstream opened;
    if (file != "-") opened.open(file, std::ios::binary);
    if (!opened) return not_readable(file);
    const auto text = input.read(file == "-" ? standard_input : opened);
    if (!text) return text.error();
    if (auto done = read_objects_text(*text, file, lines); done.has_error()) return done.error();
  }
  return lines;
}

}  // namespace fairlead
