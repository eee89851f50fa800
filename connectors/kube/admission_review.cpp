#include "connectors/kube/admission_review.h"

#include <algorithm>
#include <vector>

#include "connectors/kube/document/json_document.h"
#include "connectors/kube/projection/projection.h"

namespace fairlead {

namespace {

constexpr std::string_view kApiVersion = "admission.k8s.io/v1";
constexpr std::string_view kAnnotationPrefix = "fairlead.io/";
// Of the message in a denial, which repeats the causes.
constexpr std::size_t kMessageCharactersMax = 2048;
constexpr std::size_t kCauseCharactersMax = 1024;

Error no_review(const std::string& what) {
  return {ErrorCode::bad_input,
          "expected an AdmissionReview of " + std::string(kApiVersion) + ": " + what};
}

// Why another reader could take the document for something else than this one does, or overflow
// its stack; empty if none would.
std::string ambiguity(JsonView value, std::size_t depth) {
  if (depth > kReviewDepthMax)
    return "nested deeper than " + std::to_string(kReviewDepthMax) + " levels";
  std::vector<std::string_view> keys;
  for (const JsonView member : value) {
    if (value.is(JsonKind::object)) keys.push_back(member.key());
    if (std::string why = ambiguity(member, depth + 1); !why.empty()) return why;
  }
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  return twice == keys.end() ? "" : "a key is in an object twice";
}

bool is_judged(Kind kind) {
  return kind == Kind::claim || kind == Kind::cluster_queue || kind == Kind::resource_flavor ||
         kind == Kind::managed_cluster;
}

std::optional<AdmissionOperation> operation_of(std::string_view word) {
  for (const AdmissionOperation operation :
       {AdmissionOperation::create, AdmissionOperation::update, AdmissionOperation::remove})
    if (text_of(operation) == word) return operation;
  return std::nullopt;
}

// The longest name that an API server stores. Any client of the port may send a longer one.
constexpr std::size_t kObjectNameMax = 253;

// Reads one state of the object. Sets `unread` where there is one that cannot be read.
std::optional<AdmissionObject> object_of(JsonView object, AdmissionRequest& request,
                                         std::string& unread) {
  if (!object.given()) return std::nullopt;
  auto seen = project(object);
  if (!seen || !*seen || (*seen)->key.kind != request.key.kind) {
    unread = seen ? "its version is not one that the hub reads" : seen.error().message;
    return std::nullopt;
  }
  if ((*seen)->key.name.size() > kObjectNameMax) {
    unread = "its name has more than " + std::to_string(kObjectNameMax) + " characters";
    return std::nullopt;
  }
  request.version = (*seen)->version;
  request.key.name = (*seen)->key.name;
  return AdmissionObject{std::move((*seen)->facts), object["metadata"]["deletionTimestamp"].given(),
                         fairlead_annotations(object)};
}

// An operation that lacks a state which API servers always send with it is judged as nothing.
bool is_complete(const AdmissionRequest& request) {
  switch (request.operation) {
    case AdmissionOperation::create: return request.object.has_value();
    case AdmissionOperation::update:
      return request.object.has_value() && request.old_object.has_value();
    case AdmissionOperation::remove: return request.old_object.has_value();
  }
  return false;
}

void read_request(JsonView from, AdmissionReview& review) {
  const auto kind = find_kind(review.group, review.kind);
  const auto operation = operation_of(from["operation"].string());
  if (!kind || !is_judged(*kind) || !operation || !from["subResource"].string().empty()) return;
  AdmissionRequest request;
  request.uid = review.uid;
  request.user = from["userInfo"]["username"].string();
  for (const JsonView group : from["userInfo"]["groups"])
    request.groups.emplace_back(group.string());
  request.operation = *operation;
  request.dry_run = from["dryRun"].is_true();
  request.key = {*kind, "", review.name};
  // The present state is read last, so that version and name are its own.
  request.old_object = object_of(from["oldObject"], request, review.unread);
  request.object = object_of(from["object"], request, review.unread);
  if (review.unread.empty() && !is_complete(request)) review.unread = "an object is missing";
  if (!review.unread.empty()) return;
  review.name = request.key.name;
  review.request = std::move(request);
}

std::string cause_of(const Finding& finding) {
  return printable(finding_text(finding), kCauseCharactersMax);
}

Json causes_of(const std::vector<const Finding*>& denials) {
  Json causes = Json::array();
  for (const Finding* denial : denials) {
    const Objection& objection = denial->objection;
    // The last place is kept for how many more there are.
    if (causes.size() == kCausesMax - 1 && denials.size() > kCausesMax) {
      causes.push_back(
          {{"message", "and " + std::to_string(denials.size() - causes.size()) + " more"}});
      break;
    }
    causes.push_back({{"reason", text_of(objection.cause)},
                      {"message", printable(objection.message, kCauseCharactersMax)},
                      {"field", objection.field}});
  }
  return causes;
}

Json status_of(const AdmissionReview& review, const std::vector<const Finding*>& denials) {
  const bool invalid = std::any_of(denials.begin(), denials.end(), [](const Finding* denial) {
    return denial->objection.cause != CauseType::forbidden;
  });
  std::string what;
  for (const Finding* denial : denials) {
    if (what.size() > kMessageCharactersMax) break;
    what += (what.empty() ? "" : "; ") + cause_of(*denial);
  }
  const std::string object =
      review.kind + (review.group.empty() ? "" : "." + review.group) + " \"" + review.name + "\"";
  return {{"status", "Failure"},
          {"code", invalid ? 422 : 403},
          {"reason", invalid ? "Invalid" : "Forbidden"},
          {"message", printable(object + (invalid ? " is invalid: " : " is forbidden: ") + what,
                                kMessageCharactersMax)},
          {"details",
           {{"name", review.name},
            {"group", review.group},
            {"kind", review.kind},
            {"causes", causes_of(denials)}}}};
}

}  // namespace

std::map<std::string, std::string> fairlead_annotations(JsonView object) {
  std::map<std::string, std::string> annotations;
  for (const JsonView annotation : object["metadata"]["annotations"])
    if (annotation.key().starts_with(kAnnotationPrefix) && annotation.is(JsonKind::string))
      annotations.insert_or_assign(std::string(annotation.key().substr(kAnnotationPrefix.size())),
                                   std::string(annotation.text()));
  return annotations;
}

Result<AdmissionReview> read_admission_review(std::string_view body) {
  if (body.size() > kReviewBytesMax)
    return no_review("longer than " + std::to_string(kReviewBytesMax) + " bytes");
  JsonFault fault;
  const auto document = parse_json(body, fault, kReviewBytesMax);
  if (!document) return no_review(fault.what);
  const JsonView root = document->root();
  if (root["kind"].string() != "AdmissionReview" || root["apiVersion"].string() != kApiVersion)
    return no_review("the kind or the apiVersion is another");
  if (const std::string why = ambiguity(root, 1); !why.empty()) return no_review(why);
  const JsonView from = root["request"];
  AdmissionReview review;
  review.uid = from["uid"].string();
  if (review.uid.empty()) return no_review("request.uid is missing");
  review.group = from["kind"]["group"].string();
  review.kind = from["kind"]["kind"].string();
  review.name = from["name"].string();
  read_request(from, review);
  return review;
}

std::string admission_answer(const AdmissionReview& review, const AdmissionVerdict& verdict) {
  std::vector<const Finding*> denials;
  for (const Finding& finding : verdict.findings)
    if (finding.action == RuleAction::deny) denials.push_back(&finding);
  Json response{{"uid", review.uid}, {"allowed", denials.empty()}};
  if (!denials.empty()) response["status"] = status_of(review, denials);
  std::vector<std::string> warnings = warnings_of(verdict);
  if (!review.unread.empty())
    warnings.push_back(
        printable("not checked by fairlead: " + review.unread, kWarningCharactersMax));
  if (!warnings.empty()) response["warnings"] = std::move(warnings);
  return to_text(Json{
      {"apiVersion", kApiVersion}, {"kind", "AdmissionReview"}, {"response", std::move(response)}});
}

}  // namespace fairlead
