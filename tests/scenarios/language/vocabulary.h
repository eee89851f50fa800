// The words of the scenario language, as tables: what each kind is called, and which fields of the
// object a word sets. README.md in tests/scenarios describes the notation.
#pragma once

#include <span>
#include <string_view>

namespace fairlead::language {

/// A kind of object, and what a fact about it holds before any of its words.
struct KindRow {
  std::string_view word;
  std::string_view api_version;
  std::string_view kind;
  bool namespaced;
  std::string_view fields;  ///< JSON, merged into the object
  /// What a name of one part means, in which {} is that name; empty: the name alone.
  std::string_view short_name = "";
};
std::span<const KindRow> kinds();

/// An indented line `keyword name words`: its words set fields below `path`. Without a keyword the
/// line begins with the name. In `path`, {1} and {2} are the parts of the name, which a slash
/// separates, and {group} counts the lines `group` before it.
struct EntryRow {
  std::string_view kind;  ///< word of the KindRow
  std::string_view keyword;
  std::string_view path;
};
std::span<const EntryRow> entries();

/// One field that a word sets. Rows of the same scope and form belong to the same word.
///
/// Forms: `flag`, `key={value}`, `prefix:{key}={value}`, `{key}={value}` for any other key, and
/// `key={each}` for a list with commas, whose rows with {each} apply to every item.
/// Values: {value} and {each} as a string, {number}, {time} of 1970-01-01, or a JSON literal.
struct FieldRow {
  std::string_view scope;  ///< a kind's word, `kind keyword.` of an entry, or `*` for every kind
  std::string_view form;
  std::string_view path;
  std::string_view value;
};
std::span<const FieldRow> fields();

}  // namespace fairlead::language
