// What the projection keeps of an object that is given as JSON.
#pragma once

#include <catch2/catch.hpp>
#include <string_view>

#include "connectors/kube/document/json_document.h"
#include "connectors/kube/projection/projection.h"

namespace fairlead {

inline ObjectSeen seen(std::string_view text) {
  auto document = parse_json(text);
  REQUIRE(document.has_value());
  auto object = project(document->root());
  REQUIRE(object.has_value());
  REQUIRE(object->has_value());
  return **object;
}

}  // namespace fairlead
