#include "engine/fleet/model/api_status.h"

#include <algorithm>

#include "engine/base/check.h"

namespace fairlead::model {
namespace {

std::string qualified(const ObjectName& object) {
  return object.group.empty() ? object.resource : object.resource + "." + object.group;
}

std::string in_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

Json details_of(const ObjectName& object) {
  Json details = Json::object();
  if (!object.name.empty()) details["name"] = object.name;
  if (!object.group.empty()) details["group"] = object.group;
  if (!object.resource.empty()) details["kind"] = object.resource;
  return details;
}

Json causes_of(const std::vector<FieldError>& errors) {
  Json causes = Json::array();
  for (const FieldError& error : errors)
    causes.push_back(
        {{"reason", error.reason}, {"message", error.message}, {"field", error.field}});
  return causes;
}

ApiStatus with_details(ApiStatus status, Json details) {
  status.body["details"] = std::move(details);
  return status;
}

ApiStatus exists(const ObjectName& object, const std::string& before) {
  return with_details(
      failure(409, "AlreadyExists",
              before + qualified(object) + " " + in_quotes(object.name) + " already exists"),
      details_of(object));
}

}  // namespace

void throw_exception_from_error(const ApiStatus& status, const boost::source_location&) {
  check_failed("value() of a failed outcome: " + to_text(status.body),
               std::source_location::current());
}

ApiStatus failure(int code, std::string_view reason, std::string_view message) {
  Json body{{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", Json::object()},
            {"status", "Failure"}, {"message", message}, {"code", code}};
  if (!reason.empty()) body["reason"] = reason;
  return {code, std::move(body)};
}

ApiStatus not_found(const ObjectName& object) {
  return with_details(
      failure(404, "NotFound", qualified(object) + " " + in_quotes(object.name) + " not found"),
      details_of(object));
}

ApiStatus already_exists(const ObjectName& object) { return exists(object, ""); }

ApiStatus still_exists(const ObjectName& object) {
  return exists(object, "object is being deleted: ");
}

ApiStatus conflict(const ObjectName& object, std::string_view why) {
  return with_details(failure(409, "Conflict",
                              "Operation cannot be fulfilled on " + qualified(object) + " " +
                                  in_quotes(object.name) + ": " + std::string(why)),
                      details_of(object));
}

ApiStatus apply_conflict(std::string_view message, const std::vector<FieldError>& causes) {
  return with_details(failure(409, "Conflict", message), {{"causes", causes_of(causes)}});
}

ApiStatus bad_request(std::string_view message) { return failure(400, "BadRequest", message); }

ApiStatus invalid(const ObjectName& object, const std::vector<FieldError>& errors) {
  // As in a real server the message has equal errors once, the causes have each of them.
  std::vector<std::string> lines;
  for (const FieldError& error : errors)
    if (std::string line = error.field + ": " + error.message;
        std::find(lines.begin(), lines.end(), line) == lines.end())
      lines.push_back(std::move(line));
  std::string list;
  for (const std::string& line : lines) list += (list.empty() ? "" : ", ") + line;
  if (lines.size() > 1) list = "[" + list + "]";
  Json details = details_of(object);
  details["causes"] = causes_of(errors);
  return with_details(
      failure(422, "Invalid",
              qualified(object) + " " + in_quotes(object.name) + " is invalid: " + list),
      std::move(details));
}

ApiStatus expired(std::string_view message) { return failure(410, "Expired", message); }

ApiStatus method_not_allowed() {
  return with_details(failure(405, "MethodNotAllowed",
                              "the server does not allow this method on the requested resource"),
                      Json::object());
}

ApiStatus unsupported_media_type(std::string_view accepted) {
  return failure(
      415, "UnsupportedMediaType",
      "the body of the request was in an unknown format - accepted media types include: " +
          std::string(accepted));
}

ApiStatus version_too_large(std::string_view asked, std::string_view current) {
  Json details{
      {"causes",
       {{{"reason", "ResourceVersionTooLarge"}, {"message", "Too large resource version"}}}},
      {"retryAfterSeconds", 1}};
  return with_details(failure(504, "Timeout",
                              "Timeout: Too large resource version: " + std::string(asked) +
                                  ", current: " + std::string(current)),
                      std::move(details));
}

}  // namespace fairlead::model
