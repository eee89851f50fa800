// From the places of a text's values to the tree: every byte is looked at, but for values that the
// caller does not want.
#include <algorithm>
#include <array>
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

// What a token that is no string stands for; absent: nothing.
JsonKind kind_of(std::string_view token) {
  if (token == "true" || token == "false") return JsonKind::boolean;
  if (token == "null") return JsonKind::null;
  return valid_number(token) ? JsonKind::number : JsonKind::absent;
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
// are in the copy. Behind the last place there is one more, of the NUL behind the copy, which fits
// nowhere: so no step asks whether it is the last.
class JsonTreeBuilder {
 public:
  JsonTreeBuilder(const JsonIndex& index, JsonDocument& out, std::span<const PlaceRange> without)
      : begin_(index.places().data()),
        last_(begin_ + index.places().size()),
        at_(begin_),
        without_(without),
        size_(index.text().size()) {
    out.characters_.assign(index.text());
    text_ = out.characters_.data();
    escape_at_ = next_escape(0);
    // Where n places are read and d containers are open there are at most (n + d + 1) / 2 values.
    const std::size_t values_max = (index.places().size() + kJsonDepthMax) / 2 + 1;
    if (out.nodes_.size() < values_max) out.nodes_.resize(values_max);
    nodes_ = out.nodes_.data();
    find_skip();
  }

  // False: no JSON, or too deep.
  bool build() {
    std::array<std::uint32_t, kJsonDepthMax> open;  // containers
    std::size_t depth = 0;
    bool in_object = false;  // the innermost of them is one
    for (;;) {
      Piece key, text;
      if (in_object && (here() != '"' || !string(key) || text_[*at_++] != ':')) return false;
      const char first = here();
      if (at_ == skip_at_) {
        unlike_ = count_;
        add(JsonKind::null, key, text);
        leave_out();
      } else if (first == '"') {
        if (!string(text)) return false;
        add(JsonKind::string, key, text);
      } else if (first == '{' || first == '[') {
        if (depth == kJsonDepthMax) return too_deep_ = true, false;
        open[depth++] = count_;
        in_object = first == '{';
        text.at = *at_++;
        add(in_object ? JsonKind::object : JsonKind::array, key, text);
        if (here() != first + 2) continue;  // the bracket that closes, in ASCII
      } else {
        if (at_ == last_) return false;
        text = {*at_, end_here() - *at_};
        const JsonKind kind = kind_of({text_ + text.at, text.size});
        if (kind == JsonKind::absent) return false;
        ++at_;
        add(kind, key, text);
      }
      // Behind a value: ends of containers, until another value follows.
      for (;;) {
        if (depth == 0) return at_ == last_;
        const std::uint32_t place = *at_++;
        if (text_[place] == ',') break;
        if (text_[place] != (in_object ? '}' : ']')) return false;
        JsonNode& closed = nodes_[open[--depth]];
        closed.span = count_ - open[depth];
        if (unlike_ <= open[depth]) closed.text_size = place + 1 - closed.text_at;
        in_object = depth > 0 && nodes_[open[depth - 1]].kind == JsonKind::object;
      }
    }
  }
  bool too_deep() const { return too_deep_; }

 private:
  // Of the text.
  struct Piece {
    std::uint32_t at = 0, size = 0;
  };

  char here() const { return text_[*at_]; }

  void leave_out() {
    at_ = begin_ + without_.front().end;
    without_ = without_.subspan(1);
    find_skip();
  }
  void find_skip() { skip_at_ = without_.empty() ? nullptr : begin_ + without_.front().begin; }

  // Where the next backslash is. Outside of strings there is none in JSON.
  std::size_t next_escape(std::size_t from) const {
    const void* const found = std::memchr(text_ + from, '\\', size_ - from);
    return found == nullptr ? size_
                            : static_cast<std::size_t>(static_cast<const char*>(found) - text_);
  }

  // Where the value at at_ ends: between it and the next place there is white space at most.
  std::uint32_t end_here() const {
    std::uint32_t end = at_[1];
    if (text_[end - 1] == '"') return end;              // most do
    while (JsonIndex::is_space(text_[end - 1])) --end;  // ends at the value itself
    return end;
  }

  // Inlined, so that the state of the walk stays in registers.
  [[gnu::always_inline]] bool string(Piece& out) {
    out.at = *at_ + 1;
    const std::uint32_t end = end_here() - 1;
    if (end < out.at || text_[end] != '"') return false;
    ++at_;
    out.size = end - out.at;
    if (escape_at_ >= end) return true;
    const char* const last = unescape(text_ + out.at, text_ + end);
    if (last == nullptr) return false;
    if (last != text_ + end) unlike_ = count_;
    out.size = static_cast<std::uint32_t>(last - (text_ + out.at));
    escape_at_ = next_escape(end);
    return true;
  }

  void add(JsonKind kind, Piece key, Piece text) {
    nodes_[count_++] = {kind, key.at, key.size, text.at, text.size, 1};
  }

  const std::uint32_t* const begin_;  // places
  const std::uint32_t* const last_;
  const std::uint32_t* at_;
  std::span<const PlaceRange> without_;     // those that are still to come
  const std::uint32_t* skip_at_ = nullptr;  // where the first of them begins
  const std::size_t size_;
  char* text_ = nullptr;
  JsonNode* nodes_ = nullptr;
  std::uint32_t count_ = 0;
  std::uint32_t unlike_ = 0;   // the last node (if not the root) that is not as it was written
  std::size_t escape_at_ = 0;  // of the next backslash that was not undone
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
  out = {};
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
