// JSON documents that Fairlead writes: bodies of patches, reports, answers.
//
// nlohmann::json keeps object keys sorted, so dump() is canonical: the same value gives the same
// bytes. Watch streams are not read with it (see connectors/kube/document/json_document.h).
//
// A document from elsewhere (an answer, a body in a log or bundle that was brought here) may have
// any shape. nlohmann's typed getters throw for another shape than they expect, and
// operator[] of a constant is undefined for a missing key. So such documents are read by member(),
// text_in(), natural_in() and list_in(), which are defined for every shape, or inside of
// if_well_shaped().
//
// Parser and printer are templates that cost each unit that uses them one to two seconds of the
// compiler's time: both are behind functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fairlead {
/// Throws Json::other_error: what nlohmann asserts is false of a document from elsewhere.
[[noreturn]] void throw_json_fault(const char* what);
}  // namespace fairlead

// In every build: an assertion that a release leaves out would be undefined behaviour there.
#define JSON_ASSERT(holds) \
  (static_cast<bool>(holds) ? static_cast<void>(0) : ::fairlead::throw_json_fault(#holds))

#include <nlohmann/json.hpp>

namespace fairlead {

using Json = nlohmann::json;

/// Lists and objects inside of each other in a text that is read: the printer and copies recurse.
inline constexpr std::size_t kJsonNestingMax = 1000;

/// Returns canonical text: keys sorted bytewise, no white space, invalid UTF-8 replaced.
std::string to_text(const Json& value);

/// Returns the value that `text` is, or a discarded one (`is_discarded()`) if it is not JSON or
/// nested deeper than kJsonNestingMax.
Json read_json(std::string_view text);

/// Reads a text that is JSON unless there is a defect or the log was forged: null then.
Json read_own_json(std::string_view text);

/// Returns a member of `object`; null if it has none of that name, or is not an object.
const Json& member(const Json& object, const char* name);

/// Returns a text that is a member of `object`; empty if there is none.
std::string text_in(const Json& object, const char* name);

/// Returns a natural number that is a member of `object`; nullopt if there is none.
std::optional<std::uint64_t> natural_in(const Json& object, const char* name);

/// Returns a list that is a member of `object`; an empty one if there is none.
const Json& list_in(const Json& object, const char* name);

/// Returns what `read` makes of a document from elsewhere; nullopt if the document has another
/// shape than `read` expects.
template <class Read>
auto if_well_shaped(const Read& read) -> std::optional<decltype(read())> {
  try {
    return read();
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace fairlead
