#include "engine/fleet/api.h"

#include <utility>

namespace fairlead {
namespace {

ErrorCode code_of(int http_code) {
  return http_code == 404   ? ErrorCode::not_found
         : http_code == 409 ? ErrorCode::conflict
                            : ErrorCode::internal;
}

}  // namespace

Result<Json> Api::call(std::string_view method, const std::string& target, const Json& body) const {
  auto outcome =
      model_->with_model([&](model::Model& model) { return model.call(method, target, body); });
  // In place, because a Json converts to anything, an Error too.
  if (outcome) return Result<Json>(boost::system::in_place_value, std::move(*outcome));
  const Json& status = outcome.error().body;
  return Error{code_of(outcome.error().code),
               status.is_object() ? status.value("message", "refused") : to_text(status)};
}

std::string Api::as_manager(const std::string& path) const {
  return path + "?fieldManager=" + field_manager_;
}

Result<Json> Api::get(const std::string& path) const { return call("GET", path, nullptr); }

Json Api::items(const std::string& collection) const {
  auto list = get(collection);
  return list ? std::move((*list)["items"]) : Json::array();
}

Result<Json> Api::create(const std::string& collection, const Json& object) const {
  return call("POST", as_manager(collection), object);
}

Result<Json> Api::merge(const std::string& path, const Json& patch) const {
  return call("PATCH", as_manager(path), patch);
}

Result<Json> Api::remove(const std::string& path) const { return call("DELETE", path, nullptr); }

std::uint64_t Api::revision() const {
  return model_->with_model([](const model::Model& model) { return model.revision(); });
}

}  // namespace fairlead
