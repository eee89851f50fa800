#include "connectors/kube/lease/lease_object.h"

#include <utility>

#include "connectors/kube/resource_path.h"
#include "connectors/kube/transport/failure_message.h"

namespace fairlead {
namespace {

constexpr const char* kLeaseApi = "coordination.k8s.io/v1";
constexpr std::size_t kLeaseBytesMax = std::size_t{1} << 20;
constexpr std::int64_t kSecond = 1'000'000'000;

std::map<std::string, std::string> annotations_of(const Json& lease) {
  std::map<std::string, std::string> found;
  const Json& annotations = member(member(lease, "metadata"), "annotations");
  if (!annotations.is_object()) return found;
  for (const auto& [key, value] : annotations.items())
    if (value.is_string()) found[key] = value.get<std::string>();
  return found;
}

}  // namespace

std::string micro_time(LogTime time) {
  std::string whole = to_rfc3339({time.ns - time.ns % kSecond});
  const std::string micros = std::to_string(time.ns % kSecond / 1000);
  whole.pop_back();  // Z
  return whole + "." + std::string(6 - micros.size(), '0') + micros + "Z";
}

LeaseObject::LeaseObject(Transport& transport, std::string namespace_given, std::string name,
                         Duration timeout)
    : transport_(transport),
      namespace_(std::move(namespace_given)),
      name_(std::move(name)),
      timeout_(timeout),
      collection_("/apis/" + std::string(kLeaseApi) + "/namespaces/" + url_encode(namespace_) +
                  "/leases"),
      path_(collection_ + "/" + url_encode(name_)) {}

void LeaseObject::send(HttpRequest request, std::function<void(const Result<HttpResponse>&)> done) {
  if (!request.body.empty()) request.content_type = "application/json";
  request.body_bytes_max = kLeaseBytesMax;
  request.timeout = timeout_;
  transport_.send(std::move(request), [weak = weak_from_this(),
                                       done = std::move(done)](const Result<HttpResponse>& got) {
    if (const auto self = weak.lock()) done(got);
  });
}

void LeaseObject::get(Done done) {
  HttpRequest request;
  request.target = path_;
  send(std::move(request), [this, done = std::move(done)](const Result<HttpResponse>& got) {
    // Another 404 says that Leases are not served.
    if (got && got->status == 404 && text_in(read_json(got->body), "kind") == "Status") {
      adopt_none();
      return done({});
    }
    done(got && got->status == 200 ? adopt(got->body) : failure("GET", got));
  });
}

void LeaseObject::put(const Json& wanted, Done done) {
  HttpRequest request;
  request.method = seen_ ? "PUT" : "POST";
  request.target = seen_ ? path_ : collection_;
  request.body = to_text(wanted);
  send(std::move(request),
       [this, method = request.method, done = std::move(done)](const Result<HttpResponse>& got) {
         if (got && (got->status == 200 || got->status == 201)) return done(adopt(got->body));
         known_ = false;  // it may have been stored
         done(failure(method, got));
       });
}

Json LeaseObject::draft() const {
  Json wanted = object_;
  wanted["apiVersion"] = kLeaseApi;
  wanted["kind"] = "Lease";
  for (const char* part : {"metadata", "spec"})
    if (!wanted[part].is_object()) wanted[part] = Json::object();
  wanted["metadata"]["name"] = name_;
  wanted["metadata"]["namespace"] = namespace_;
  return wanted;
}

void LeaseObject::adopt_none() {
  known_ = true;
  seen_.reset();
  object_ = Json::object();
  observe("", "");
}

Result<void> LeaseObject::adopt(const std::string& body) {
  Json read = read_json(body);
  const std::string version = text_in(member(read, "metadata"), "resourceVersion");
  if (version.empty())
    return Error{ErrorCode::unavailable, "lease " + title() + ": the answer is no Lease"};
  const Json& spec = member(read, "spec");
  known_ = true;
  seen_ =
      LeaseSeen{text_in(spec, "holderIdentity"), natural_in(spec, "leaseTransitions").value_or(0),
                annotations_of(read), version};
  const auto lasts = natural_in(spec, "leaseDurationSeconds").value_or(0);
  duration_.reset();
  if (lasts > 0 && lasts <= INT32_MAX) duration_ = seconds(static_cast<std::int64_t>(lasts));
  observe(seen_->holder, text_in(spec, "renewTime"));
  object_ = std::move(read);
  return {};
}

// The time of the answer, which is later than what it shows: a Lease is taken rather too late.
void LeaseObject::observe(const std::string& holder, const std::string& renewed) {
  if (holder == holder_ && renewed == renewed_) return;
  holder_ = holder;
  renewed_ = renewed;
  observed_at_ = transport_.now();
}

Error LeaseObject::failure(const std::string& method, const Result<HttpResponse>& got) const {
  const std::string what = method + " lease " + title() + ": ";
  if (!got) return {got.error().code, what + got.error().message};
  const ErrorCode code = got->status == 409   ? ErrorCode::conflict
                         : got->status == 403 ? ErrorCode::denied
                                              : ErrorCode::unavailable;
  return {code, what + "HTTP " + std::to_string(got->status) + " " +
                    failure_message(got->status, path_, got->body)};
}

}  // namespace fairlead
