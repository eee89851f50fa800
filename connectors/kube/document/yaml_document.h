// YAML documents as the same tree that JSON becomes.
//
// Kubernetes reads YAML by turning it into JSON (sigs.k8s.io/yaml), with the scalar rules of
// YAML 1.1: `yes` is true, `010` is eight, `~` is null. So do we, except that numbers keep their
// digits: `1.50` stays `1.50`, never a double.
#pragma once

#include <string_view>
#include <vector>

#include "connectors/kube/document/json_document.h"

namespace fairlead {

/// Values of one document, with those that aliases stand for; beyond it the stream is refused.
inline constexpr std::size_t kYamlValuesMax = 2'000'000;

/// One document of a YAML stream.
struct YamlDocument {
  std::size_t line = 1;  ///< where its content starts in the stream, from 1
  JsonDocument document;
};

/// Returns all documents of a stream; empty ones (between two `---`) are left out. On a fault
/// (malformed YAML, a duplicate key, an unknown alias) it sets `fault` and returns the documents
/// before it.
std::vector<YamlDocument> parse_yaml(std::string_view text, std::optional<JsonFault>& fault);

/// The kind of a plain scalar's value, and its text as a JSON token.
struct PlainScalar {
  JsonKind kind = JsonKind::string;
  std::string text;
};
PlainScalar resolve_plain(std::string_view scalar);

}  // namespace fairlead
