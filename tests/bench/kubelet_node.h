// The larger part of a Node as a kubelet reports it on a machine in use: some 7.5 KB of JSON, of
// which no projection reads more than whether the Node is ready.
#pragma once

#include <string>
#include <string_view>

namespace fairlead::bench {

/// Returns the members `conditions` and `images` of a Node's status, without braces.
inline std::string kubelet_status() {
  std::string images, conditions;
  for (int i = 0; i < 25; ++i)
    images += std::string(i == 0 ? "" : ",") +
              R"({"names":["registry.example.com/team/service@sha256:)" + std::string(64, 'a') +
              R"(","registry.example.com/team/service:v)" + std::to_string(i) +
              R"("],"sizeBytes":)" + std::to_string(100'000'000 + i) + "}";
  for (const char* type : {"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"})
    conditions +=
        std::string(conditions.empty() ? "" : ",") + R"({"type":")" + type + R"(","status":")" +
        (std::string_view(type) == "Ready" ? "True" : "False") +
        R"(","lastHeartbeatTime":"2026-11-21T16:47:13Z","lastTransitionTime":)"
        R"("2026-11-21T16:47:13Z","reason":"KubeletReports","message":"kubelet says so"})";
  return R"("conditions":[)" + conditions + R"(],"images":[)" + images + "]";
}

/// Returns the member `managedFields` of a Node's metadata.
inline std::string kubelet_managed_fields() {
  std::string fields;
  for (int i = 0; i < 60; ++i)
    fields += R"("f:example.com/field-)" + std::to_string(i) + R"(":{".":{},"f:kubelet":{}},)";
  return R"("managedFields":[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{)" + fields +
         R"("f:status":{}},"manager":"kubelet","operation":"Update"}])";
}

}  // namespace fairlead::bench
