#include "connectors/kube/model/yaml.h"

#include <yaml-cpp/yaml.h>

#include <charconv>
#include <string>

namespace fairlead::model {
namespace {

template <class Number>
bool reads_as(std::string_view text, Number& number) {
  const char* end = text.data() + text.size();
  auto [stopped, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stopped == end;
}

Json plain_scalar(const std::string& text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL")
    return nullptr;
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  const bool numeric = text.find_first_not_of("0123456789+-.eE") == std::string::npos &&
                       text.find_first_of("0123456789") != std::string::npos;
  if (!numeric) return text;
  std::string_view digits = text;
  if (digits.front() == '+') digits.remove_prefix(1);
  std::int64_t integer = 0;
  if (reads_as(digits, integer)) return integer;
  double real = 0;
  if (reads_as(digits, real)) return real;
  return text;
}

Json to_json(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      return node.Tag() == "!" ? Json(node.Scalar()) : plain_scalar(node.Scalar());
    case YAML::NodeType::Sequence: {
      Json list = Json::array();
      for (const YAML::Node& item : node) list.push_back(to_json(item));
      return list;
    }
    case YAML::NodeType::Map: {
      Json object = Json::object();
      for (const auto& entry : node) object[entry.first.Scalar()] = to_json(entry.second);
      return object;
    }
    case YAML::NodeType::Null:
    case YAML::NodeType::Undefined: break;
  }
  return nullptr;
}

}  // namespace

Result<std::vector<Json>> parse_yaml_documents(std::string_view text) {
  try {
    std::vector<Json> documents;
    for (const YAML::Node& node : YAML::LoadAll(std::string(text))) {
      Json document = to_json(node);
      if (!document.is_null()) documents.push_back(std::move(document));
    }
    return documents;
  } catch (const YAML::Exception& error) {
    return Error{ErrorCode::bad_input, error.what()};
  }
}

Result<Json> parse_yaml(std::string_view text) {
  // JSON first: most bodies are JSON, and its parser is much faster.
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_discarded()) return Result<Json>(boost::system::in_place_value, std::move(json));
  Result<std::vector<Json>> documents = parse_yaml_documents(text);
  if (!documents) return documents.error();
  if (documents->size() != 1)
    return Error{ErrorCode::bad_input,
                 "expected one document, found " + std::to_string(documents->size())};
  return Result<Json>(boost::system::in_place_value, std::move(documents->front()));
}

}  // namespace fairlead::model
