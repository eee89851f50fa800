#include "connectors/kube/kube_sink.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "connectors/kube/document/json_document.h"
#include "connectors/kube/resource_path.h"
#include "connectors/kube/transport/failure_message.h"

namespace fairlead {
namespace {

constexpr std::size_t kReasonBytesMax = 1024;
constexpr Duration kWriteTimeout = seconds(30);
constexpr Duration kNoCredentialsPause = seconds(5);

std::string delete_options(const WriteRequest& request) {
  Json options{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  if (!request.uid.empty()) options["preconditions"]["uid"] = request.uid;
  if (!request.resource_version.empty())
    options["preconditions"]["resourceVersion"] = request.resource_version;
  return to_text(options);
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string reason_text(JsonView status, std::size_t bytes) {
  const std::string message = failure_message(status, bytes);
  if (status["kind"].string() != "Status") return message;
  std::string out(status["reason"].string());
  if (!out.empty() && !message.empty()) out += ": ";
  out += message;
  for (JsonView cause : status["details"]["causes"])
    if (cause["reason"].string() == "FieldManagerConflict")
      out += " [FieldManagerConflict " + std::string(cause["field"].string()) + "]";
  if (out.size() > kReasonBytesMax) out.resize(kReasonBytesMax);
  return out;
}

// Whether the object of the intent is gone, or another one has its name.
bool names_another_object(int code, JsonView status) {
  const std::string_view message = status["message"].string();
  // kube-apiserver has a text for server-side apply, one for a delete that is checked before the
  // storage, and one for the storage's own check.
  if (code == 409)
    return contains(message, "uid mismatch") || contains(message, "UID in the precondition") ||
           contains(message, "UID in precondition");
  // An update of an object that was deleted and created again since.
  return code == 422 && contains(message, "metadata.uid") &&
         contains(message, "field is immutable");
}

// A refusal of RBAC, in kube-apiserver's words: `clusterqueues.kueue.x-k8s.io "q" is forbidden:
// User "u" cannot patch resource "clusterqueues" in API group "kueue.x-k8s.io" at the cluster
// scope`. The verdict of a webhook or a policy has the same code and reason.
bool lacks_rights(JsonView status) {
  const std::string_view message = status["message"].string();
  return contains(message, "is forbidden: User \"") && contains(message, "\" cannot ") &&
         contains(message, " resource \"");
}

WriteResult result_of(Verb verb, int code, JsonView status) {
  if (code >= 200 && code < 300) return WriteResult::accepted;
  if (code == 404) return verb == Verb::remove ? WriteResult::accepted : WriteResult::gone;
  if (names_another_object(code, status)) return WriteResult::gone;
  switch (code) {
    case 409: return WriteResult::conflict;
    case 401:  // a token that is being rotated
    case 429:
    case 503: return WriteResult::throttled;
    case 403: return lacks_rights(status) ? WriteResult::forbidden : WriteResult::refused;
    // With a reason (InternalError, ServerTimeout) the request was understood and may have been
    // carried out; but webhooks are asked before anything is stored.
    case 500:
      if (status["reason"].string().empty()) return WriteResult::refused;
      return contains(status["message"].string(), "failed calling webhook") ? WriteResult::unserved
                                                                            : WriteResult::unknown;
    case 408:
    case 502:
    case 504: return WriteResult::unknown;
    default: return code >= 500 || code < 400 ? WriteResult::unknown : WriteResult::refused;
  }
}

}  // namespace

HttpRequest to_http(const WriteRequest& request) {
  const KindInfo& kind = info(request.target.kind);
  HttpRequest out;
  out.timeout = kWriteTimeout;
  const bool create = request.verb == Verb::create;
  out.target = resource_path(kind, request.version, request.target.namespace_,
                             create ? std::string_view{} : std::string_view(request.target.name));
  std::string query;
  if (!request.field_manager.empty()) query = "?fieldManager=" + url_encode(request.field_manager);
  out.body = request.body;
  switch (request.verb) {
    case Verb::apply_status: out.target += "/status"; [[fallthrough]];
    case Verb::apply:
      out.method = "PATCH";
      out.content_type = "application/apply-patch+yaml";
      if (request.force) query += query.empty() ? "?force=true" : "&force=true";
      break;
    case Verb::create:
      out.method = "POST";
      out.content_type = "application/json";
      break;
    case Verb::patch:
      out.method = "PATCH";
      out.content_type = "application/merge-patch+json";
      break;
    case Verb::remove:
      out.method = "DELETE";
      out.content_type = "application/json";
      out.body = delete_options(request);
      // DeleteOptions have no field manager.
      query.clear();
      break;
  }
  out.target += query;
  return out;
}

WriteAnswer classify(const WriteRequest& request, const Result<HttpResponse>& answer) {
  WriteAnswer out;
  out.intent = request.intent;
  if (answer.has_error()) {
    const bool sent = answer.error().code != ErrorCode::denied;
    out.result = sent ? WriteResult::unknown : WriteResult::throttled;
    if (!sent) out.retry_after = kNoCredentialsPause;
    out.reason = answer.error().message.substr(0, kReasonBytesMax);
    return out;
  }
  out.http_code = answer->status;
  JsonFault fault;
  const auto document = parse_json(answer->body, fault);
  JsonView body = document ? document->root() : JsonView{};
  out.result = result_of(request.verb, answer->status, body);
  // A delete that found nothing is accepted, too; its answer names no object.
  if (out.result == WriteResult::accepted && answer->status < 300) {
    out.uid = body["metadata"]["uid"].string();
    out.resource_version = body["metadata"]["resourceVersion"].string();
    if (out.uid.empty())
      out.uid = body["details"]["uid"].string();  // a delete answers with a Status
    return out;
  }
  out.reason = reason_text(body, answer->body.size());
  if (out.result == WriteResult::throttled)
    out.retry_after = answer->retry_after.value_or(seconds(1));
  return out;
}

// Shared with pending answers, which may come after the sink has ended.
struct KubeSink::Core : std::enable_shared_from_this<KubeSink::Core> {
  struct Waiting {
    WriteRequest request;
    std::function<void(WriteAnswer)> answered;
  };

  Core(Transport& server_given, WriteRate rate_given,
       std::function<void(const WriteAnswer&)> counted_given)
      : server(server_given), counted(std::move(counted_given)) {
    set_rate(rate_given);
  }

  void set_rate(WriteRate wanted) {
    rate = {std::max<std::int64_t>(wanted.qps, 1), std::max<std::int64_t>(wanted.burst, 1)};
  }

  // Sends what the token bucket allows. Its unit is nanoseconds: each write costs 1/qps of a
  // second, and the bucket holds `burst` writes. The bucket is one time, until which writes are
  // paid for: it is full when that lies `burst` writes in the past, and empty when it is now, so
  // nothing has to refill it.
  void pump() {
    // Rounded up: the rate is never exceeded, and no write is free.
    const std::int64_t cost = 1'000'000'000 / rate.qps + 1;
    const Duration held{cost * rate.burst};
    const LogTime now = server.now();
    if (paid_until.ns < now.ns - held.ns) paid_until = {now.ns - held.ns};
    while (!waiting.empty() && !closed) {
      if (paid_until.ns + cost > now.ns) {
        timer = server.after({paid_until.ns + cost - now.ns}, [this] { pump(); });
        return;
      }
      paid_until.ns += cost;
      Waiting next = std::move(waiting.front());
      waiting.pop_front();
      send(std::move(next));
    }
  }

  void send(Waiting one) {
    HttpRequest request = to_http(one.request);
    // The HTTP request has a copy: the body is not kept twice until the answer.
    one.request.body.clear();
    server.send(std::move(request),
                [self = shared_from_this(), one = std::move(one)](Result<HttpResponse> answer) {
                  self->answer(one, classify(one.request, answer));
                });
  }

  void answer(const Waiting& one, WriteAnswer said) const {
    if (counted) counted(said);
    one.answered(std::move(said));
  }

  void close() {
    closed = true;
    timer.reset();
    for (Waiting& one : std::exchange(waiting, {})) {
      WriteAnswer said;
      said.intent = one.request.intent;
      said.result = WriteResult::unknown;
      said.reason = "stopped";
      one.answered(std::move(said));
    }
  }

  Transport& server;
  WriteRate rate;
  std::function<void(const WriteAnswer&)> counted;
  std::deque<Waiting> waiting;
  LogTime paid_until;
  std::unique_ptr<Transport::Timer> timer;
  bool closed = false;
};

KubeSink::KubeSink(Transport& server, WriteRate rate,
                   std::function<void(const WriteAnswer&)> counted)
    : core_(std::make_shared<Core>(server, rate, std::move(counted))) {}

KubeSink::~KubeSink() { close(); }

void KubeSink::close() { core_->close(); }

void KubeSink::set_rate(WriteRate rate) {
  core_->set_rate(rate);
  core_->pump();
}

void KubeSink::send(WriteRequest request, std::function<void(WriteAnswer)> answered) {
  core_->waiting.push_back({std::move(request), std::move(answered)});
  if (core_->closed)
    core_->close();
  else
    core_->pump();
}

}  // namespace fairlead
