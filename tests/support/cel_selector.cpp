// CelSelector as a program, for the comparison with the CEL library of Kubernetes: it reads and
// writes the lines that tests/e2e/controlplane/cel does, but for
// {"unsupported": "..."} where that one may say {"compile_error": "..."}.
#include <iostream>
#include <map>
#include <string>

#include "engine/base/check.h"
#include "engine/base/json.h"
#include "engine/devices/cel.h"

using namespace fairlead;

namespace {

std::string attribute_text(const Json& value) {
  const std::string& type = value.begin().key();
  const Json& content = value.begin().value();
  if (type == "int") return kIntAttribute + std::to_string(content.get<std::int64_t>());
  if (type == "bool") return kBoolAttribute + std::string(content.get<bool>() ? "true" : "false");
  const auto text = content.get<std::string>();
  return (type == "version" ? kVersionAttribute : kStringAttribute) + text;
}

DeviceFacts device_of(const Json& line) {
  DeviceFacts device;
  std::map<std::string, std::string> attributes;
  const Json none = Json::object(), published = line.value("attributes", none);
  for (const auto& [name, value] : published.items()) attributes[name] = attribute_text(value);
  device.attributes = attributes;
  std::vector<DeviceCapacity> capacities;
  const Json capacity = line.value("capacity", none);
  for (const auto& [name, text] : capacity.items()) {
    const auto value = Quantity::parse(text.get<std::string>());
    check(value.has_value(), "a capacity is a quantity");
    capacities.push_back({name, *value, {}});
  }
  device.capacity = std::move(capacities);
  if (line.value("allowMultipleAllocations", false)) device.extras.emplace().shared = true;
  return device;
}

Json judge_line(const Json& line) {
  const auto selector = CelSelector::compile(line.at("expression").get<std::string>());
  std::string why;
  switch (selector.evaluate(line.value("driver", ""), device_of(line), why)) {
    case SelectorVerdict::no: return {{"result", false}};
    case SelectorVerdict::yes: return {{"result", true}};
    case SelectorVerdict::error: return {{"error", why}};
    case SelectorVerdict::unsupported: return {{"unsupported", selector.unsupported()}};
  }
  return {};
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);)
    std::cout << to_text(judge_line(Json::parse(line))) << '\n';
  return 0;
}
