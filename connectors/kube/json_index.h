// Where the values of a JSON text begin: simdjson's first stage, with the best kernel of this
// machine.
//
// The first stage finds every bracket, colon, comma, opening quote and first character of a number
// or word, and checks what only it can check cheaply: UTF-8, closed strings, no control characters
// in them. What follows from the places (the tree, json_document.h; the glance, watch_glance.h) is
// ours.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace fairlead {

/// The values and brackets from places()[begin] to before places()[end].
struct PlaceRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Reusable; holds buffers of the size of its largest text, up to a bound. One thread.
class JsonIndex {
 public:
  JsonIndex();
  ~JsonIndex();
  JsonIndex(const JsonIndex&) = delete;
  JsonIndex& operator=(const JsonIndex&) = delete;

  /// False: no UTF-8, an unclosed string, a control character in a string, nothing at all, or no
  /// memory. The text is not copied; it must outlive the use of places().
  bool find(std::string_view text);
  std::string_view text() const { return text_; }
  /// Offsets in text(), ascending; behind the last one stands, readable and twice, the size of
  /// text(). Valid until the next find().
  std::span<const std::uint32_t> places() const;
  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::string_view text_;
};

}  // namespace fairlead
