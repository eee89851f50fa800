// The lines that a reflector prints for an operator.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "connectors/kube/watch/diagnostic_line.h"
#include "schema/kind.h"

namespace fairlead {

/// Leaves out a line that repeats the one before, so that a retry does not print the same failure
/// again.
class DiagnosticLines {
 public:
  /// Appends to `out`, which outlives this.
  DiagnosticLines(Kind kind, std::vector<DiagnosticLine>& out) : kind_(kind), out_(out) {}

  void add(const std::string& text) {
    std::string line = line_with(text);
    if (std::exchange(last_, line) != line) out_.push_back({std::move(line)});
  }
  /// Prints a line that reports no failure.
  void note(const std::string& text) { out_.push_back({line_with(text)}); }
  /// Prints what ends a failure.
  void recovered(const std::string& text) {
    out_.push_back({line_with(text), LineAbout::recovery});
    last_.clear();
  }
  /// The failure is over: the next one is printed, even if it is the same.
  void forget() { last_.clear(); }
  /// Whether a failure was printed that is not over.
  bool failing() const { return !last_.empty(); }

  /// The part of a text that a line may quote: texts of objects may hold secrets.
  std::string_view printable(std::string_view text) const {
    return kind_ == Kind::secret ? "(not shown: it may be a piece of a Secret)" : text;
  }

 private:
  std::string line_with(const std::string& text) const {
    return std::string(info(kind_).resource) + ": " + text;
  }

  Kind kind_;
  std::vector<DiagnosticLine>& out_;
  std::string last_;
};

}  // namespace fairlead
