// Bodies in Kubernetes' protobuf encoding, as `kubectl create namespace` and its like send them.
//
// Only kinds that kubectl makes without a file are understood: Namespace, ConfigMap, Secret. All
// others are sent as JSON. Field numbers: k8s.io/api core/v1 generated.proto.
#pragma once

#include <optional>
#include <string_view>

#include "engine/base/json.h"

namespace fairlead::model {

inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

/// Reads the object in `body`; nullopt if it is malformed or of another kind.
std::optional<Json> read_protobuf_object(std::string_view body);

}  // namespace fairlead::model
