// Requests of the fleet's people and agents to an API model in the same process.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/json.h"
#include "engine/base/result.h"
#include "engine/fleet/model/shared_model.h"

namespace fairlead {

/// One writer of one API model. Cheap to copy; the model outlives it.
class Api {
 public:
  /// `field_manager` is the manager of its fields in managedFields.
  Api(model::SharedModel& model, std::string field_manager)
      : model_(&model), field_manager_(std::move(field_manager)) {}

  /// Reads the object at `path`. This and every write below fails with `not_found`, `conflict` or
  /// `internal`, with the server's own message.
  Result<Json> get(const std::string& path) const;
  /// Returns the objects of `collection`; empty if it cannot be read.
  Json items(const std::string& collection) const;
  Result<Json> create(const std::string& collection, const Json& object) const;
  /// Applies a JSON merge patch.
  Result<Json> merge(const std::string& path, const Json& patch) const;
  Result<Json> remove(const std::string& path) const;
  /// A number that grows with every change of any object.
  std::uint64_t revision() const;

 private:
  Result<Json> call(std::string_view method, const std::string& target, const Json& body) const;
  std::string as_manager(const std::string& path) const;

  model::SharedModel* model_;
  std::string field_manager_;
};

}  // namespace fairlead
