#include "connectors/kube/document/json_document.h"

#include <algorithm>
#include <charconv>

#include "engine/base/check.h"
#include "engine/base/quantity.h"

namespace fairlead {

std::string_view text_of(JsonKind kind) {
  switch (kind) {
    case JsonKind::absent: return "nothing";
    case JsonKind::null: return "null";
    case JsonKind::boolean: return "a boolean";
    case JsonKind::number: return "a number";
    case JsonKind::string: return "a string";
    case JsonKind::array: return "an array";
    case JsonKind::object: return "an object";
  }
  return "nothing";
}

std::optional<std::int64_t> JsonView::integer() const {
  if (!is(JsonKind::number)) return std::nullopt;
  std::string_view token = text();
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error != std::errc{} || end != token.data() + token.size()) return std::nullopt;
  return value;
}

std::size_t JsonView::size() const {
  return static_cast<std::size_t>(std::distance(begin(), end()));
}

std::uint32_t JsonDocument::keep(std::string_view text) {
  const auto at = static_cast<std::uint32_t>(characters_.size());
  characters_.append(text);
  return at;
}

JsonNode& JsonDocument::add(JsonKind kind, std::string_view key) {
  JsonNode node{kind, 0, 0, 0, 0, 1};
  if (open_.empty()) {
    check(nodes_.empty(), "a JSON document has one root");
  } else if (nodes_[open_.back()].kind == JsonKind::object) {
    node.key_at = keep(key);
    node.key_size = static_cast<std::uint32_t>(key.size());
  }
  return nodes_.emplace_back(node);
}

void JsonDocument::open(JsonKind array_or_object, std::string_view key) {
  add(array_or_object, key);
  open_.push_back(static_cast<std::uint32_t>(nodes_.size() - 1));
}

void JsonDocument::close() {
  check(!open_.empty(), "a JSON container is open");
  nodes_[open_.back()].span = static_cast<std::uint32_t>(nodes_.size() - open_.back());
  open_.pop_back();
}

void JsonDocument::leaf(JsonKind kind, std::string_view key, std::string_view text) {
  JsonNode& node = add(kind, key);
  node.text_at = keep(text);
  node.text_size = static_cast<std::uint32_t>(text.size());
}

namespace {

bool is_plain(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; }

void append_quoted(std::string& out, std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += '"';
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t from = at;
    while (at < text.size() && is_plain(text[at])) ++at;
    out.append(text, from, at - from);
    if (at == text.size()) break;
    const char c = text[at];
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        out += "\\u00";
        out += digits[byte >> 4];
        out += digits[byte & 15];
    }
  }
  out += '"';
}

void append_canonical(std::string& out, JsonView value);

void append_member(std::string& out, JsonView member) {
  if (out.back() != '{') out += ',';
  append_quoted(out, member.key());
  out += ':';
  append_canonical(out, member);
}

// Whether members are in order, each once, as API servers send them.
bool in_order(JsonView object) {
  std::string_view before;
  for (JsonView member : object) {
    if (member.key() <= before) return false;
    before = member.key();
  }
  return true;
}

void append_object(std::string& out, JsonView object) {
  out += '{';
  if (in_order(object)) {
    for (JsonView member : object) append_member(out, member);
    out += '}';
    return;
  }
  std::vector<std::pair<std::string_view, std::size_t>> order;  // name, place
  std::vector<JsonView> members;
  order.reserve(object.size());
  members.reserve(object.size());
  for (JsonView member : object) {
    order.emplace_back(member.key(), members.size());
    members.push_back(member);
  }
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i) {
    // Of equal names the last one counts, as everywhere in Kubernetes.
    if (i + 1 < order.size() && order[i + 1].first == order[i].first) continue;
    append_member(out, members[order[i].second]);
  }
  out += '}';
}

void append_canonical(std::string& out, JsonView value) {
  switch (value.kind()) {
    case JsonKind::absent:
    case JsonKind::null: out += "null"; break;
    case JsonKind::boolean:
    case JsonKind::number: out += value.text(); break;
    case JsonKind::string: append_quoted(out, value.text()); break;
    case JsonKind::array: {
      out += '[';
      bool first = true;
      for (JsonView item : value) {
        if (!first) out += ',';
        first = false;
        append_canonical(out, item);
      }
      out += ']';
      break;
    }
    case JsonKind::object: append_object(out, value); break;
  }
}

Json number_json(JsonView value) {
  if (auto integer = value.integer()) return *integer;
  std::string_view token = value.text();
  std::uint64_t natural = 0;
  auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), natural);
  if (error == std::errc{} && end == token.data() + token.size()) return natural;
  // `1e3` and `1.0` are integers too; Go prints them as such.
  constexpr Int128 nano_per_unit = 1'000'000'000;
  // (Short tokens only: more than nine decimals would be rounded.)
  const bool short_token = token.size() <= 11 && token.find("e-") == std::string_view::npos &&
                           token.find("E-") == std::string_view::npos;
  if (auto exact = Quantity::parse(token);
      short_token && exact && exact->nano() % nano_per_unit == 0) {
    const Int128 units = exact->nano() / nano_per_unit;
    if (saturate(units) == units) return saturate(units);
  }
  Json parsed = read_json(token);
  return parsed.is_discarded() ? Json(std::string(token)) : parsed;
}

void add_json(JsonDocument& document, const Json& value, std::string_view key) {
  switch (value.type()) {
    case Json::value_t::object:
      document.open(JsonKind::object, key);
      for (const auto& [name, member] : value.items()) add_json(document, member, name);
      document.close();
      break;
    case Json::value_t::array:
      document.open(JsonKind::array, key);
      for (const Json& item : value) add_json(document, item, {});
      document.close();
      break;
    case Json::value_t::string:
      document.leaf(JsonKind::string, key, value.get_ref<const std::string&>());
      break;
    case Json::value_t::boolean:
      document.leaf(JsonKind::boolean, key, value.get<bool>() ? "true" : "false");
      break;
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
    case Json::value_t::number_float: document.leaf(JsonKind::number, key, value.dump()); break;
    case Json::value_t::null:
    case Json::value_t::binary:
    case Json::value_t::discarded: document.leaf(JsonKind::null, key, {}); break;
  }
}

// Adds the size of `value` in canonical form, where nothing is to be escaped; false if there are
// members out of order in it. White space and escapes only make a written text longer than that, so
// one of this size has neither.
bool add_size(std::size_t& size, JsonView value) {
  const bool object = value.is(JsonKind::object);
  if (!object && !value.is(JsonKind::array)) {
    size += value.given() ? value.text().size() : 4;
    size += value.is(JsonKind::string) ? 2 : 0;
    return true;
  }
  size += value.begin() == value.end() ? 2 : 1;  // each member has a comma or bracket behind it
  std::string_view before;
  for (JsonView member : value) {
    const std::string_view key = member.key();
    if (object && key <= before) return false;
    before = key;
    size += object ? key.size() + 4 : 1;
    if (!add_size(size, member)) return false;
  }
  return true;
}

}  // namespace

std::string canonical_text(JsonView value) {
  std::size_t size = 0;
  if (const auto written = value.written();
      !written.empty() && add_size(size, value) && size == written.size())
    return std::string(written);  // of equal size: it has no white space, and is canonical already
  std::string out;
  append_canonical(out, value);
  return out;
}

Json to_json(JsonView value) {
  switch (value.kind()) {
    case JsonKind::absent:
    case JsonKind::null: return nullptr;
    case JsonKind::boolean: return value.is_true();
    case JsonKind::number: return number_json(value);
    case JsonKind::string: return std::string(value.text());
    case JsonKind::array: {
      Json out = Json::array();
      for (JsonView item : value) out.push_back(to_json(item));
      return out;
    }
    case JsonKind::object: {
      Json out = Json::object();
      for (JsonView member : value) out[std::string(member.key())] = to_json(member);
      return out;
    }
  }
  return nullptr;
}

JsonDocument to_document(const Json& value) {
  JsonDocument document;
  add_json(document, value, {});
  return document;
}

}  // namespace fairlead
