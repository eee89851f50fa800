// From the places of a text's values to the tree: every byte is looked at, but for values that the
// caller does not want.
#include <algorithm>
#include <charconv>
#include <cstring>

#include "connectors/kube/json_document.h"
#include "connectors/kube/json_index.h"

namespace fairlead {
namespace {

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

bool is_high_surrogate(unsigned unit) { return unit >= 0xd800 && unit < 0xdc00; }
bool is_low_surrogate(unsigned unit) { return unit >= 0xdc00 && unit < 0xe000; }

// Four hexadecimal digits at `from`.
bool read_unit(const char* from, const char* end, unsigned& unit) {
  if (end - from < 4) return false;
  const auto [stop, error] = std::from_chars(from, from + 4, unit, 16);
  return error == std::errc{} && stop == from + 4;
}

char* put_utf8(char* to, unsigned point) {
  const auto put = [&to](unsigned byte) { *to++ = static_cast<char>(byte); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xc0 | point >> 6);
    put(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    put(0xe0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3f));
    put(0x80 | (point & 0x3f));
  } else {
    put(0xf0 | point >> 18);
    put(0x80 | (point >> 12 & 0x3f));
    put(0x80 | (point >> 6 & 0x3f));
    put(0x80 | (point & 0x3f));
  }
  return to;
}

// Undoes escapes in place (what they stand for is never longer); the new end, null if one is wrong.
char* unescape(char* begin, char* end) {
  char* from = static_cast<char*>(std::memchr(begin, '\\', static_cast<std::size_t>(end - begin)));
  if (from == nullptr) return end;
  char* to = from;
  while (from < end) {
    if (*from != '\\') {
      *to++ = *from++;
      continue;
    }
    if (end - from < 2) return nullptr;
    const char kind = from[1];
    from += 2;
    if (kind != 'u') {
      constexpr std::string_view names = "\"\\/bfnrt";
      constexpr std::string_view means = "\"\\/\b\f\n\r\t";
      const std::size_t which = names.find(kind);
      if (which == std::string_view::npos) return nullptr;
      *to++ = means[which];
      continue;
    }
    unsigned point = 0;
    if (!read_unit(from, end, point)) return nullptr;
    from += 4;
    if (is_high_surrogate(point)) {
      unsigned low = 0;
      if (end - from < 6 || from[0] != '\\' || from[1] != 'u' || !read_unit(from + 2, end, low) ||
          !is_low_surrogate(low))
        return nullptr;
      point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
      from += 6;
    } else if (is_low_surrogate(point)) {
      return nullptr;
    }
    to = put_utf8(to, point);
  }
  return to;
}

}  // namespace

// Builds the tree in the document's own buffers: the text is copied once, strings stay where they
// are in the copy.
class JsonTreeBuilder {
 public:
  JsonTreeBuilder(const JsonIndex& index, JsonDocument& out, std::span<const PlaceRange> without)
      : places_(index.places()), without_(without), out_(out), size_(index.text().size()) {
    out_.nodes_.clear();
    out_.open_.clear();
    out_.characters_.assign(index.text());
    out_.nodes_.reserve(places_.size() / 2 + 1);
    text_ = out_.characters_.data();
    escape_at_ = next_escape(0);
  }

  // False: no JSON, or too deep.
  bool build() {
    for (;;) {
      if (!value()) return false;
      if (opened_) {
        opened_ = false;
        continue;
      }
      // Behind a value: ends of containers, until another value follows.
      for (;;) {
        if (out_.open_.empty()) return at_ == places_.size();
        const char next = here();
        ++at_;
        const bool object = out_.nodes_[out_.open_.back()].kind == JsonKind::object;
        if (next == ',') {
          if (object && !key()) return false;
          break;
        }
        if (next != (object ? '}' : ']')) return false;
        close();
      }
    }
  }
  bool too_deep() const { return too_deep_; }

 private:
  char here() const { return at_ < places_.size() ? text_[places_[at_]] : '\0'; }

  // The value at at_, and where it is a container with content its first key; moves on.
  bool value() {
    if (!without_.empty() && at_ == without_.front().begin) {
      add(JsonKind::null, 0, 0);
      at_ = without_.front().end;
      without_ = without_.subspan(1);
      return true;
    }
    switch (here()) {
      case '{': return open(JsonKind::object, '}');
      case '[': return open(JsonKind::array, ']');
      case '"': {
        std::uint32_t from = 0, size = 0;
        if (!string(from, size)) return false;
        add(JsonKind::string, from, size);
        return true;
      }
      default: return scalar();
    }
  }

  bool open(JsonKind kind, char end) {
    if (out_.open_.size() >= kJsonDepthMax) return too_deep_ = true, false;
    add(kind, 0, 0);
    ++at_;
    if (here() == end) {
      ++at_;
      return true;
    }
    out_.open_.push_back(static_cast<std::uint32_t>(out_.nodes_.size() - 1));
    opened_ = true;
    return kind == JsonKind::array || key();
  }

  void close() {
    out_.nodes_[out_.open_.back()].end = static_cast<std::uint32_t>(out_.nodes_.size());
    out_.open_.pop_back();
  }

  bool key() {
    if (here() != '"' || !string(key_at_, key_size_) || here() != ':') return false;
    ++at_;
    return true;
  }

  // Where the next backslash is. Outside of strings there is none in JSON.
  std::size_t next_escape(std::size_t from) const {
    const void* const found = std::memchr(text_ + from, '\\', size_ - from);
    return found == nullptr ? size_
                            : static_cast<std::size_t>(static_cast<const char*>(found) - text_);
  }

  std::size_t end_here() const {
    std::size_t end = at_ + 1 < places_.size() ? places_[at_ + 1] : size_;
    if (text_[end - 1] == '"') return end;              // most do
    while (JsonIndex::is_space(text_[end - 1])) --end;  // ends at the value itself
    return end;
  }

  // Between an opening quote and the next place there is nothing but the string and white space.
  bool string(std::uint32_t& from, std::uint32_t& size) {
    const std::size_t begin = places_[at_] + 1;
    const std::size_t end = end_here() - 1;
    if (end < begin || text_[end] != '"') return false;
    ++at_;
    char* last = text_ + end;
    if (escape_at_ < end) {
      last = unescape(text_ + begin, last);
      if (last == nullptr) return false;
      escape_at_ = next_escape(end);
    }
    from = static_cast<std::uint32_t>(begin);
    size = static_cast<std::uint32_t>(last - (text_ + begin));
    return true;
  }

  bool scalar() {
    if (at_ >= places_.size()) return false;
    const std::uint32_t begin = places_[at_];
    const auto size = static_cast<std::uint32_t>(end_here() - begin);
    const std::string_view token(text_ + begin, size);
    ++at_;
    if (token == "true" || token == "false")
      add(JsonKind::boolean, begin, size);
    else if (token == "null")
      add(JsonKind::null, 0, 0);
    else if (valid_number(token))
      add(JsonKind::number, begin, size);
    else
      return false;
    return true;
  }

  void add(JsonKind kind, std::uint32_t text_at, std::uint32_t text_size) {
    JsonDocument::Node node;
    node.kind = kind;
    node.text_at = text_at;
    node.text_size = text_size;
    node.end = static_cast<std::uint32_t>(out_.nodes_.size() + 1);
    if (!out_.open_.empty()) {
      JsonDocument::Node& parent = out_.nodes_[out_.open_.back()];
      ++parent.text_size;
      if (parent.kind == JsonKind::object) {
        node.key_at = key_at_;
        node.key_size = key_size_;
      }
    }
    out_.nodes_.push_back(node);
  }

  const std::span<const std::uint32_t> places_;
  std::span<const PlaceRange> without_;  // those that are still to come
  JsonDocument& out_;
  const std::size_t size_;
  char* text_ = nullptr;
  std::size_t at_ = 0;  // in places_
  std::uint32_t key_at_ = 0, key_size_ = 0;
  std::size_t escape_at_ = 0;  // of the next backslash that was not undone
  bool opened_ = false;        // a container with content: its first value is next
  bool too_deep_ = false;
};

namespace {

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

bool parse_indexed(const JsonIndex& index, JsonDocument& out, JsonFault& fault,
                   std::span<const PlaceRange> without) {
  JsonTreeBuilder builder(index, out, without);
  if (builder.build()) return true;
  fault = find_fault(index.text(), builder.too_deep());
  return false;
}

JsonFault fault_of(std::string_view text) { return find_fault(text, false); }

std::optional<JsonDocument> parse_json(std::string_view text, JsonFault& fault,
                                       std::size_t bytes_max) {
  if (text.size() > bytes_max) {
    fault = {bytes_max, 1, "longer than " + std::to_string(bytes_max) + " bytes"};
    return std::nullopt;
  }
  thread_local JsonIndex index;
  JsonDocument out;
  if (!index.find(text)) {
    fault = fault_of(text);
    return std::nullopt;
  }
  if (!parse_indexed(index, out, fault)) return std::nullopt;
  return out;
}

Result<JsonDocument> parse_json(std::string_view text) {
  JsonFault fault;
  if (auto document = parse_json(text, fault)) return std::move(*document);
  return Error{ErrorCode::bad_input, "line " + std::to_string(fault.line) + ", byte " +
                                         std::to_string(fault.offset) + ": " + fault.what};
}

}  // namespace fairlead
