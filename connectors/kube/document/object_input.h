// The input of `fairlead plan`: files of Kubernetes objects, or of watch events, as kubectl prints
// them.
//
// They become one list of lines in the order given, each with its time. The contract is in
// docs/plan.md: a document that is not understood stops the reading with file, line and what was
// expected; a bad value inside an object does not, nor an object that is refused
// (object_refusal.h), which counts as deleted.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/json.h"
#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/ingest/watch_fact.h"

namespace fairlead {

/// The type of a line. `error` (an ERROR event) changes nothing.
enum class InputType : std::uint8_t {
  added,
  modified,
  deleted,
  bookmark,
  error,
  source_stale,
  source_lost,
  source_synced,
};

/// One object of the input, or one control line about a source.
struct InputLine {
  std::string file;
  std::size_t line = 0;  ///< where its document starts, from 1; items of a List have the List's
  LogTime time;
  std::string cluster;  ///< the API server, as a SourceName
  InputType type = InputType::added;

  // Of the object; empty for control lines and ERROR. A BOOKMARK has kind and resource_version
  // only.
  std::string api_version;
  std::string kind;
  std::string namespace_;
  std::string name;
  std::string resource_version;
  std::optional<ObjectSeen>
      seen;     ///< set for the kinds that Fairlead reads; facts of the last state when deleted
  Json object;  ///< as read, with managedFields; null for control lines and ERROR
};

/// The longest JSON document that is read, in bytes: a List of twenty thousand Nodes of 25 kB each.
/// A document that never closes its brackets is read up to here.
inline constexpr std::size_t kInputDocumentBytesMax = std::size_t{512} << 20;
/// The longest YAML document, in bytes: reading it needs 45 bytes of memory for each of them.
inline constexpr std::size_t kInputYamlBytesMax = std::size_t{32} << 20;

/// Reads the files one behind the other; `-` is `standard_input`. Times run on across files. Fails
/// with `bad_input`, naming file and line, for a document longer than `document_bytes_max`, or YAML
/// longer than kInputYamlBytesMax if that is less.
Result<std::vector<InputLine>> read_objects(
    const std::vector<std::string>& files, std::istream& standard_input,
    std::size_t document_bytes_max = kInputDocumentBytesMax);

/// Reads text that came from `file` and appends to `lines`, whose last line gives the time to start
/// from.
Result<void> read_objects_text(std::string_view text, const std::string& file,
                               std::vector<InputLine>& lines);

}  // namespace fairlead
