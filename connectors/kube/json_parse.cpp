// The only file that sees simdjson. Its On-Demand interface does not validate what it skips, so
// everything is visited.
#include <simdjson.h>

#include <algorithm>
#include <cstring>

#include "connectors/kube/json_document.h"

namespace fairlead {
namespace {

namespace od = simdjson::ondemand;

// A parser keeps buffers of the size of its largest document; above this they are given back.
constexpr std::size_t kParserKeepsMax = std::size_t{1} << 20;

constexpr std::size_t kFaultBytesMax = 200;

bool valid_number(std::string_view token) {
  std::size_t at = 0;
  auto digits = [&] {
    const std::size_t from = at;
    while (at < token.size() && token[at] >= '0' && token[at] <= '9') ++at;
    return at - from;
  };
  if (at < token.size() && token[at] == '-') ++at;
  const std::size_t whole_at = at;
  const std::size_t whole = digits();
  if (whole == 0 || (whole > 1 && token[whole_at] == '0')) return false;
  if (at < token.size() && token[at] == '.') {
    ++at;
    if (digits() == 0) return false;
  }
  if (at < token.size() && (token[at] == 'e' || token[at] == 'E')) {
    ++at;
    if (at < token.size() && (token[at] == '+' || token[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == token.size();
}

std::string_view trim(std::string_view token) {
  while (!token.empty() && std::strchr(" \t\r\n", token.back()) != nullptr) token.remove_suffix(1);
  return token;
}

// Walks one value. False means malformed or too deep.
class Walk {
 public:
  explicit Walk(JsonDocument& out) : out_(out) {}

  template <class Value>
  bool value(Value& from, std::string_view key, std::size_t depth) {
    od::json_type type;
    if (from.type().get(type) != simdjson::SUCCESS) return false;
    switch (type) {
      case od::json_type::object: return object(from, key, depth);
      case od::json_type::array: return array(from, key, depth);
      case od::json_type::string: {
        std::string_view text;
        if (from.get_string().get(text) != simdjson::SUCCESS) return false;
        out_.leaf(JsonKind::string, key, text);
        return true;
      }
      case od::json_type::number: return number(from, key);
      case od::json_type::boolean: {
        bool yes = false;
        if (from.get_bool().get(yes) != simdjson::SUCCESS) return false;
        out_.leaf(JsonKind::boolean, key, yes ? "true" : "false");
        return true;
      }
      case od::json_type::null: {
        bool null = false;
        if (simdjson::simdjson_result<bool>(from.is_null()).get(null) != simdjson::SUCCESS || !null)
          return false;
        out_.leaf(JsonKind::null, key, {});
        return true;
      }
    }
    return false;
  }

  bool too_deep() const { return too_deep_; }

 private:
  template <class Value>
  bool number(Value& from, std::string_view key) {
    // The raw token runs up to the next structural character; reading past it moves the cursor on.
    std::string_view token;
    if (simdjson::simdjson_result<std::string_view>(from.raw_json_token()).get(token) !=
        simdjson::SUCCESS)
      return false;
    token = trim(token);
    if (!valid_number(token)) return false;
    out_.leaf(JsonKind::number, key, token);
    return true;
  }

  template <class Value>
  bool array(Value& from, std::string_view key, std::size_t depth) {
    if (depth >= kJsonDepthMax) return too_deep_ = true, false;
    od::array items;
    if (from.get_array().get(items) != simdjson::SUCCESS) return false;
    out_.open(JsonKind::array, key);
    for (auto item : items) {
      od::value inner;
      if (item.get(inner) != simdjson::SUCCESS || !value(inner, {}, depth + 1)) return false;
    }
    out_.close();
    return true;
  }

  template <class Value>
  bool object(Value& from, std::string_view key, std::size_t depth) {
    if (depth >= kJsonDepthMax) return too_deep_ = true, false;
    od::object members;
    if (from.get_object().get(members) != simdjson::SUCCESS) return false;
    out_.open(JsonKind::object, key);
    for (auto member : members) {
      od::field field;
      std::string_view name;
      if (std::move(member).get(field) != simdjson::SUCCESS ||
          field.unescaped_key().get(name) != simdjson::SUCCESS)
        return false;
      od::value inner = field.value();
      if (!value(inner, name, depth + 1)) return false;
    }
    out_.close();
    return true;
  }

  JsonDocument& out_;
  bool too_deep_ = false;
};

// Says where a text stops being JSON, in words and offsets that do not depend on the CPU's kernel
// (simdjson's do).
struct FaultFinder : nlohmann::json_sax<Json> {
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return deeper(); }
  bool key(string_t&) override { return true; }
  bool end_object() override { return --depth, true; }
  bool start_array(std::size_t) override { return deeper(); }
  bool end_array() override { return --depth, true; }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& why) override {
    found = true;
    offset = position == 0 ? 0 : position - 1;
    what = why.what();
    // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error ...": keep
    // the last part.
    if (auto at = what.find("column "); at != std::string::npos)
      if (auto colon = what.find(": ", at); colon != std::string::npos) what.erase(0, colon + 2);
    return false;
  }
  bool deeper() { return ++depth <= kJsonDepthMax; }

  std::size_t depth = 0;
  std::size_t offset = 0;
  bool found = false;
  std::string what;
};

JsonFault find_fault(std::string_view text, bool too_deep) {
  JsonFault fault;
  FaultFinder finder;
  if (too_deep) {
    fault.what = "nested deeper than " + std::to_string(kJsonDepthMax);
  } else {
    Json::sax_parse(text, &finder);
    fault.what = finder.found ? finder.what : "no valid JSON";
    if (fault.what.size() > kFaultBytesMax)
      fault.what.resize(kFaultBytesMax);  // it quotes the text
    fault.offset = finder.found ? std::min(finder.offset, text.size())
                                : std::min(text.find('\0'), text.size());
  }
  fault.line =
      1 + static_cast<std::size_t>(std::count(
              text.begin(), text.begin() + static_cast<std::ptrdiff_t>(fault.offset), '\n'));
  return fault;
}

}  // namespace

std::optional<JsonDocument> parse_json(std::string_view text, JsonFault& fault,
                                       std::size_t bytes_max) {
  if (text.size() > bytes_max) {
    fault = {bytes_max, 1, "longer than " + std::to_string(bytes_max) + " bytes"};
    return std::nullopt;
  }
  thread_local od::parser parser;
  thread_local std::string padded;
  padded.clear();
  padded.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  padded.append(text);

  JsonDocument out;
  out.reserve(text.size());
  Walk walk(out);
  bool good = false;
  {
    od::document document;
    bool scalar = false;
    if (parser.iterate(padded.data(), text.size(), padded.capacity()).get(document) ==
            simdjson::SUCCESS &&
        document.is_scalar().get(scalar) == simdjson::SUCCESS)
      good = walk.value(document, {}, 0) &&
             (scalar || document.current_location().error() == simdjson::OUT_OF_BOUNDS);
    // A lone scalar carries no structure that simdjson would check for trailing text: let the
    // strict reader decide.
    // (It takes a NUL for the end.)
    if (good && scalar) good = Json::accept(text) && text.find('\0') == std::string_view::npos;
  }
  if (text.size() > kParserKeepsMax) {
    parser = od::parser();
    padded = std::string();
  }
  if (good) return out;
  fault = find_fault(text, walk.too_deep());
  return std::nullopt;
}

Result<JsonDocument> parse_json(std::string_view text) {
  JsonFault fault;
  if (auto document = parse_json(text, fault)) return std::move(*document);
  return Error{ErrorCode::bad_input, "line " + std::to_string(fault.line) + ", byte " +
                                         std::to_string(fault.offset) + ": " + fault.what};
}

}  // namespace fairlead
