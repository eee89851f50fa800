#include "connectors/kube/transport/failure_message.h"

namespace fairlead {

std::string failure_message(std::string_view body) {
  JsonFault fault;
  const auto document = parse_json(body, fault);
  return failure_message(document ? document->root() : JsonView{}, body.size());
}

std::string failure_message(JsonView answer, std::size_t bytes) {
  if (answer["kind"].string() == "Status") return std::string(answer["message"].string());
  if (bytes == 0) return {};
  return "the answer is no Status (" + std::to_string(bytes) + " bytes)";
}

std::string failure_message(int status, std::string_view path, std::string_view body) {
  JsonFault fault;
  const auto document = parse_json(body, fault);
  const JsonView answer = document ? document->root() : JsonView{};
  if (status == 404 && answer["kind"].string() != "Status")
    return "the server does not serve " + std::string(path);
  return failure_message(answer, body.size());
}

std::string too_long_status(std::size_t bytes_max) {
  return R"({"kind":"Status","message":"the answer is longer than )" + std::to_string(bytes_max) +
         R"( bytes"})";
}

}  // namespace fairlead
