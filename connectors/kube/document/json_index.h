// The places where the values of a JSON text begin, found by simdjson's first stage with the best
// kernel of this machine.
//
// The first stage finds every bracket, colon, comma, opening quote and first character of a number
// or word, and checks what only it can check cheaply: UTF-8, closed strings, no control characters
// in them. Our own code reads the rest from the places: the tree (json_document.h) and the
// fingerprint (line_fingerprint.h).
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

  /// Finds the places of `text`. False if it is empty or not UTF-8, has an unclosed string or a
  /// control character in a string, or if memory is short. The text is not copied; it must outlive
  /// the use of places().
  bool find(std::string_view text);
  std::string_view text() const { return text_; }
  /// Offsets in text(), ascending. Behind the last one two more are readable, both the size of
  /// text(), so that a walk needs no end test. Valid until the next find().
  std::span<const std::uint32_t> places() const;
  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::string_view text_;
};

}  // namespace fairlead
