// Builds the tree from the places of a text's values. It checks every byte, except of values that
// the caller does not want.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "connectors/kube/document/json_document.h"
#include "connectors/kube/document/json_index.h"

namespace fairlead {
namespace {

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

// The kind of a token that is not a string; absent if it is not a value.
JsonKind kind_of(std::string_view token) {
  if (token == "true" || token == "false") return JsonKind::boolean;
  if (token == "null") return JsonKind::null;
  return valid_number(token) ? JsonKind::number : JsonKind::absent;
}

// Undoes escapes in place (a decoded one is never longer); returns the new end, null if one is bad.
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

// Builds the tree in the document's own buffers. The text is copied, because undoing escapes
// changes it, or read in place until there is one to undo; strings keep their place. Behind the
// last place there is one more, of the byte behind the text, which is valid in no position: so no
// step needs an end test.
class JsonTreeBuilder {
 public:
  enum class Text : std::uint8_t { copied, in_place };

  JsonTreeBuilder(const JsonIndex& index, JsonDocument& out, std::span<const PlaceRange> without,
                  Text text)
      : begin_(index.places().data()),
        last_(begin_ + index.places().size()),
        without_(without),
        size_(index.text().size()) {
    if (text == Text::copied) {
      out.characters_.assign(index.text());
      out.read_in_place_ = nullptr;
      text_ = copy_ = out.characters_.data();
    } else {
      text_ = out.read_in_place_ = index.text().data();
    }
    // Where n places are read and d containers are open there are at most (n + d + 1) / 2 values.
    const std::size_t values_max = (index.places().size() + kJsonDepthMax) / 2 + 1;
    if (out.nodes_.size() < values_max) out.nodes_.resize(values_max);
    nodes_ = out.nodes_.data();
  }

  // False: not JSON, or too deep, or an escape in a text that is read in place.
  bool build() {
    const char* const text = text_;
    Walk walk{text, begin_, nodes_, nodes_, next_escape(0)};
    Place skip_at = next_skip();
    struct Open {
      JsonNode* node;
      char end;  // the bracket that closes it
    };
    std::array<Open, kJsonDepthMax + 1> open;  // containers; the first is a sentinel for none
    open[0] = {};
    std::size_t depth = 0;
    for (;;) {
      JsonNode& node = *walk.node;
      node = {JsonKind::null, 0, 0, 0, 0, 1};
      if (open[depth].end == '}' &&
          (text[*walk.at] != '"' || !string(walk, node.key_at, node.key_size) ||
           text[*walk.at++] != ':'))
        return false;
      const char first = text[*walk.at];
      if (walk.at == skip_at) {
        walk.unlike = &node;
        walk.at = begin_ + without_.front().end;
        without_ = without_.subspan(1);
        skip_at = next_skip();
      } else if (first == '"') {
        node.kind = JsonKind::string;
        if (!string(walk, node.text_at, node.text_size)) return false;
      } else if (first == '{' || first == '[') {
        if (depth == kJsonDepthMax) return too_deep_ = true, false;
        const char end = static_cast<char>(first + 2);  // in ASCII
        node.kind = first == '{' ? JsonKind::object : JsonKind::array;
        node.text_at = *walk.at++;
        open[++depth] = {walk.node++, end};
        // An empty one is closed by the loop below.
        if (text[*walk.at] != end) continue;
        --walk.node;
      } else if (!word(walk)) {
        return false;
      }
      ++walk.node;
      // Behind a value: ends of containers, until another value follows.
      for (;;) {
        if (depth == 0) return walk.at == last_;
        const std::uint32_t place = *walk.at++;
        if (text[place] == ',') break;
        if (text[place] != open[depth].end) return false;
        JsonNode& closed = *open[depth--].node;
        closed.span = static_cast<std::uint32_t>(walk.node - &closed);
        // A container in which something is left out or was escaped has no text as it was written.
        if (walk.unlike <= &closed) closed.text_size = place + 1 - closed.text_at;
      }
    }
  }
  bool too_deep() const { return too_deep_; }

 private:
  using Place = const std::uint32_t*;
  // The state that changes from value to value: a local variable, read by inlined functions only,
  // so that it stays in registers whatever is stored.
  struct Walk {
    const char* text;
    Place at;
    JsonNode* node;    // the next one
    JsonNode* unlike;  // the last one (if not the root) that is not as it was written
    std::size_t escape_at;
  };

  Place next_skip() const { return without_.empty() ? nullptr : begin_ + without_.front().begin; }

  // Where the next backslash is. Outside of strings there is none in JSON.
  std::size_t next_escape(std::size_t from) const {
    const void* const found = std::memchr(text_ + from, '\\', size_ - from);
    return found == nullptr ? size_
                            : static_cast<std::size_t>(static_cast<const char*>(found) - text_);
  }

  // Where the value at `at` ends: between it and the next place there is white space at most.
  std::uint32_t end_of(Place at) const {
    std::uint32_t end = at[1];
    while (JsonIndex::is_space(text_[end - 1])) --end;  // ends at the value itself
    return end;
  }

  [[gnu::always_inline]] bool string(Walk& walk, std::uint32_t& at, std::uint32_t& size) const {
    const std::uint32_t begin = *walk.at + 1;
    std::uint32_t end = walk.at[1] - 1;
    if (walk.text[end] != '"') [[unlikely]] {
      end = end_of(walk.at) - 1;
      if (walk.text[end] != '"') return false;
    }
    if (end < begin) [[unlikely]]
      return false;
    ++walk.at;
    at = begin;
    size = end - begin;
    if (walk.escape_at >= end) [[likely]]
      return true;
    const Plain plain = without_escapes(begin, size, walk.escape_at);
    if (plain.size != size) walk.unlike = walk.node;
    size = plain.size;
    walk.escape_at = plain.escape_at;
    return plain.good;
  }

  // A value that is neither a string nor a container.
  [[gnu::always_inline]] bool word(Walk& walk) const {
    if (walk.at == last_) return false;
    JsonNode& node = *walk.node;
    node.text_at = *walk.at;
    node.text_size = end_of(walk.at) - *walk.at;
    node.kind = kind_of({walk.text + node.text_at, node.text_size});
    ++walk.at;
    return node.kind != JsonKind::absent;
  }

  // The result of undoing a string's escapes.
  struct Plain {
    bool good = false;  // false: one is wrong, or cannot be undone here
    std::uint32_t size = 0;
    std::size_t escape_at = 0;  // the next one
  };
  // Undoes the escapes of the string that begins at `from`; `escape_at` is before its end.
  [[gnu::noinline]] Plain without_escapes(std::uint32_t from, std::uint32_t size,
                                          std::size_t escape_at) const {
    const std::size_t end = from + size;
    if (escape_at < from) escape_at = next_escape(from);  // it was in a value that is left out
    if (escape_at >= end) return {true, size, escape_at};
    if (copy_ == nullptr) return {};
    const char* const last = unescape(copy_ + from, copy_ + end);
    if (last == nullptr) return {};
    return {true, static_cast<std::uint32_t>(last - (copy_ + from)), next_escape(end)};
  }

  const Place begin_, last_;
  std::span<const PlaceRange> without_;  // those that are still to come
  const std::size_t size_;
  const char* text_ = nullptr;
  char* copy_ = nullptr;  // the same, if it may be changed
  JsonNode* nodes_ = nullptr;
  bool too_deep_ = false;
};

namespace {

// Finds where a text stops being JSON, with messages and offsets that do not depend on the CPU's
// kernel (simdjson's do).
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
    // Behind these words the message quotes the text, which may hold a secret.
    for (const char* quoting : {"; last read: '", " parsing '"})
      if (auto at = what.find(quoting); at != std::string::npos) what.erase(at);
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
  JsonTreeBuilder builder(index, out, without, JsonTreeBuilder::Text::copied);
  if (builder.build()) return true;
  out = {};
  fault = find_fault(index.text(), builder.too_deep());
  return false;
}

bool parse_in_place(const JsonIndex& index, JsonDocument& out,
                    std::span<const PlaceRange> without) {
  return JsonTreeBuilder(index, out, without, JsonTreeBuilder::Text::in_place).build();
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
