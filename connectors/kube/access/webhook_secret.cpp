#include "connectors/kube/access/webhook_secret.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "connectors/kube/access/webhook_authority.h"
#include "connectors/kube/transport/failure_message.h"
#include "engine/base/base64.h"
#include "engine/base/json.h"

namespace fairlead {
namespace {

constexpr const char* kApplyType = "application/apply-patch+yaml";
constexpr const char* kConfigurations =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/";

bool is_label(std::string_view text) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  if (text.empty() || text.size() > 63 || text.front() == '-' || text.back() == '-') return false;
  for (const char c : text)
    if (!good(c)) return false;
  return true;
}

/// A Secret as it was read.
struct ReadSecret {
  WebhookSecret contents;
  std::string resource_version;
};

std::string data_at(const Json& data, const char* key) {
  const auto found = data.find(key);
  if (found == data.end() || !found->is_string()) return {};
  const auto decoded = decode_base64(found->get<std::string>());
  return decoded ? *decoded : std::string();
}

Result<ReadSecret> secret_in(const std::string& body) {
  const Json object = read_json(body);
  const Json::json_pointer version("/metadata/resourceVersion");
  if (!object.is_object() || !object.contains(version) || !object[version].is_string())
    return Error{ErrorCode::unavailable, "the answer is no Secret"};
  const auto data = object.find("data");
  const Json none = Json::object();
  const Json& entries = data != object.end() && data->is_object() ? *data : none;
  return ReadSecret{{data_at(entries, "ca.crt"), data_at(entries, "ca.key"),
                     data_at(entries, "tls.crt"), data_at(entries, "tls.key")},
                    object[version].get<std::string>()};
}

Json secret_body(const WebhookAddress& address, const WebhookSecret& wanted,
                 const std::string& resource_version) {
  return {{"apiVersion", "v1"},
          {"kind", "Secret"},
          {"metadata",
           {{"name", address.name},
            {"namespace", address.namespace_},
            {"resourceVersion", resource_version}}},
          {"data",
           {{"ca.crt", encode_base64(wanted.authorities)},
            {"ca.key", encode_base64(wanted.authority_key)},
            {"tls.crt", encode_base64(wanted.certificate)},
            {"tls.key", encode_base64(wanted.key)}}}};
}

/// Returns what gives every webhook of `object`, a ValidatingWebhookConfiguration, the authorities;
/// nullopt: each of them has them.
std::optional<Json> wanted_configuration(const Json& object, const std::string& authorities) {
  const std::string bundle = encode_base64(authorities);
  const Json::json_pointer place("/clientConfig/caBundle");
  Json webhooks = Json::array();
  bool differs = false;
  for (const Json& webhook : object["webhooks"]) {
    differs = differs || !webhook.contains(place) || webhook[place] != bundle;
    webhooks.push_back({{"name", webhook.at("name")}, {"clientConfig", {{"caBundle", bundle}}}});
  }
  if (!differs) return std::nullopt;
  return Json{{"apiVersion", "admissionregistration.k8s.io/v1"},
              {"kind", "ValidatingWebhookConfiguration"},
              {"metadata", {{"name", kWebhookConfiguration}}},
              {"webhooks", std::move(webhooks)}};
}

/// Whether `object` has webhooks, and each of them a name.
bool is_configuration(const Json& object) {
  const auto webhooks = object.find("webhooks");
  if (!object.is_object() || webhooks == object.end() || !webhooks->is_array()) return false;
  return std::all_of(webhooks->begin(), webhooks->end(), [](const Json& webhook) {
    return webhook.is_object() && webhook.contains("name");
  });
}

HttpRequest apply_request(std::string path, const Json& body) {
  HttpRequest request;
  request.method = "PATCH";
  request.target = std::move(path) + "?fieldManager=" + kWebhookManager + "&force=true";
  request.content_type = kApplyType;
  request.body = to_text(body);
  return request;
}

}  // namespace

Result<WebhookAddress> parse_webhook_address(std::string_view text) {
  const std::size_t dot = text.find('.');
  const bool whole = dot != std::string_view::npos && is_label(text.substr(0, dot)) &&
                     is_label(text.substr(dot + 1));
  if (!whole)
    return Error{ErrorCode::bad_input,
                 "\"" + std::string(text) + "\": expected SERVICE.NAMESPACE, two DNS labels"};
  return WebhookAddress{std::string(text.substr(0, dot)), std::string(text.substr(dot + 1))};
}

struct WebhookSecretKeeper::Impl : std::enable_shared_from_this<WebhookSecretKeeper::Impl> {
  Impl(Transport& client_given, WebhookAddress address_given, Ports ports_given,
       WebhookSecretTimes times_given)
      : client(client_given),
        address(std::move(address_given)),
        ports(std::move(ports_given)),
        times(times_given),
        secret_path("/api/v1/namespaces/" + address.namespace_ + "/secrets/" + address.name) {}

  void look() {
    HttpRequest request;
    request.target = secret_path;
    // Raw pointers will do here and below: send() calls nothing after the end of this.
    send("GET " + secret_path, std::move(request), [this](const HttpResponse& answer) {
      auto secret = secret_in(answer.body);
      if (!secret) return fail("GET " + secret_path + ": " + secret.error().message);
      auto wanted = renewed(secret->contents, address.host(), ports.now());
      if (!wanted) return fail(wanted.error().message);
      if (*wanted == secret->contents) return look_at_configuration(*wanted);
      const HttpRequest write =
          apply_request(secret_path, secret_body(address, *wanted, secret->resource_version));
      send("PATCH " + secret_path, write,
           [this, wanted = *wanted](const HttpResponse&) { look_at_configuration(wanted); });
    });
  }

  // A client to which another writer gave our authority is served, too: the certificate is used
  // even if the configuration cannot be read or written.
  void look_at_configuration(const WebhookSecret& secret) {
    const std::string path = std::string(kConfigurations) + kWebhookConfiguration;
    HttpRequest request;
    request.target = path;
    send(
        "GET " + path, std::move(request),
        [this, path, secret](const HttpResponse& answer) {
          const Json object = read_json(answer.body);
          if (!is_configuration(object)) {
            adopt(secret);
            return fail("GET " + path + ": the answer is no ValidatingWebhookConfiguration");
          }
          const auto wanted = wanted_configuration(object, secret.authorities);
          if (!wanted) return finish(secret);
          send(
              "PATCH " + path, apply_request(path, *wanted),
              [this, secret](const HttpResponse&) { finish(secret); },
              [this, secret] { adopt(secret); });
        },
        [this, secret] { adopt(secret); });
  }

  void finish(const WebhookSecret& secret) {
    adopt(secret);
    solved();
    again(times.look);
  }

  void adopt(const WebhookSecret& secret) {
    if (secret.certificate == used && secret.key == used_key) return;
    used = secret.certificate;
    used_key = secret.key;
    ports.use(used, used_key);
  }

  /// Sends `request` and passes on an answer of 2xx; of any other, `failed` runs (it may be empty),
  /// and it is tried again later.
  void send(const std::string& what, HttpRequest request,
            std::function<void(const HttpResponse&)> done, std::function<void()> failed = {}) {
    client.send(std::move(request), [weak = weak_from_this(), what, done = std::move(done),
                                     failed = std::move(failed)](Result<HttpResponse> answer) {
      const auto self = weak.lock();
      if (!self) return;
      if (answer && answer->status >= 200 && answer->status < 300) return done(*answer);
      if (failed) failed();
      // Several hubs that begin at once find an empty Secret: one was faster, whose is taken over.
      if (answer && answer->status == 409) return self->again(self->times.conflict);
      self->fail(
          what + ": " +
          (answer ? "HTTP " + std::to_string(answer->status) + " " + failure_message(answer->body)
                  : answer.error().message));
    });
  }

  void fail(const std::string& why) {
    if (problem != why) ports.log(why);
    problem = why;
    again(times.retry);
  }
  void solved() {
    if (!problem.empty()) ports.log("");
    problem.clear();
  }
  void again(Duration span) {
    timer = client.after(span, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->look();
    });
  }

  Transport& client;
  const WebhookAddress address;
  const Ports ports;
  const WebhookSecretTimes times;
  const std::string secret_path;
  std::string used, used_key;  // adopted last
  std::string problem;         // logged last
  std::unique_ptr<Transport::Timer> timer;
};

WebhookSecretKeeper::WebhookSecretKeeper(Transport& client, WebhookAddress address, Ports ports,
                                         WebhookSecretTimes times)
    : impl_(std::make_shared<Impl>(client, std::move(address), std::move(ports), times)) {
  impl_->look();
}

WebhookSecretKeeper::~WebhookSecretKeeper() = default;

}  // namespace fairlead
