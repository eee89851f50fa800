// The kinds that a model serves: read from CustomResourceDefinitions, built in or created at run
// time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/fleet/model/structural_schema.h"

namespace fairlead::model {

/// One column of `kubectl get`.
struct PrinterColumn {
  std::string name;
  std::string type;
  std::string format;
  std::string json_path;
  std::string description;
  std::int64_t priority = 0;
};

/// One version of a kind.
struct ResourceVersion {
  std::string name;
  bool served = true;
  bool storage = false;
  bool has_status = false;
  std::string deprecation;  ///< warning; empty if the version is not deprecated
  SchemaRef schema;
  Json openapi;  ///< as written, for OpenAPI documents
  std::vector<PrinterColumn> columns;
};

/// The origin of a kind: a real server treats its own kinds a little differently from custom ones.
enum class Origin : std::uint8_t { built_in, custom };

/// One kind with all its versions, best version first.
struct ResourceDefinition {
  Origin origin = Origin::custom;
  std::string group;  ///< "" for core
  std::string kind, list_kind, plural, singular;
  std::vector<std::string> short_names, categories;
  bool namespaced = false;
  bool has_generation = true;                  ///< custom resources do; Nodes and Namespaces do not
  std::vector<std::string> selectable_fields;  ///< field selectors
  std::vector<ResourceVersion> versions;

  const ResourceVersion* version(std::string_view name) const;
  const ResourceVersion& storage_version() const;
  /// `group/version`, or `version` for core.
  std::string api_version(const ResourceVersion& of) const;
};

/// Reads an apiextensions.k8s.io/v1 CustomResourceDefinition. Fails with `bad_input`.
Result<ResourceDefinition> read_crd(const Json& crd);
/// Returns the CRDs of schema/crd, in name order. They are part of the program.
const std::vector<Json>& fairlead_crds();
/// Returns Namespace, Node, Event, Secret, ConfigMap, Lease and CustomResourceDefinition.
std::vector<ResourceDefinition> built_in_resources();

}  // namespace fairlead::model
