#include "engine/fleet/model/yaml.h"

#include <optional>
#include <string>

#include "connectors/kube/document/yaml_document.h"

namespace fairlead::model {

Result<std::vector<Json>> parse_yaml_documents(std::string_view text) {
  std::optional<JsonFault> fault;
  std::vector<Json> documents;
  for (const YamlDocument& read : fairlead::parse_yaml(text, fault))
    documents.push_back(fairlead::to_json(read.document.root()));
  if (fault)
    return Error{ErrorCode::bad_input, "line " + std::to_string(fault->line) + ": " + fault->what};
  return documents;
}

Result<Json> parse_yaml(std::string_view text) {
  // JSON first: most bodies are JSON, and its parser is much faster.
  Json json = read_json(text);
  if (!json.is_discarded()) return Result<Json>(boost::system::in_place_value, std::move(json));
  Result<std::vector<Json>> documents = parse_yaml_documents(text);
  if (!documents) return documents.error();
  if (documents->size() != 1)
    return Error{ErrorCode::bad_input,
                 "expected one document, found " + std::to_string(documents->size())};
  return Result<Json>(boost::system::in_place_value, std::move(documents->front()));
}

}  // namespace fairlead::model
