// Several hubs keep one self-made certificate: on an API server in memory, in virtual time.
#include "connectors/kube/access/webhook_secret.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/base64.h"
#include "engine/base/json.h"
#include "engine/fleet/model/model.h"
#include "engine/fleet/model/model_transport.h"

namespace fairlead {
namespace {

using namespace fairlead::model;

constexpr const char* kSecretPath = "/api/v1/namespaces/default/secrets";
constexpr const char* kConfigurationPath =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

struct KeeperOfAHub {
  KeeperOfAHub(VirtualTime& time, Model& api) : transport(time, api) {
    WebhookSecretKeeper::Ports ports;
    ports.now = [&time] { return time.now(); };
    ports.use = [this](const std::string& pem, const std::string&) { used.push_back(pem); };
    ports.log = [this](const std::string& problem) { said.push_back(problem); };
    keeper = std::make_unique<WebhookSecretKeeper>(
        transport, WebhookAddress{"fairlead-webhook", "default"}, std::move(ports));
  }
  ModelTransport transport;
  std::vector<std::string> used, said;
  std::unique_ptr<WebhookSecretKeeper> keeper;
};

void serve_webhook_configurations(Model& api) {
  const Json crd = read_json(R"({
    "metadata": {"name": "validatingwebhookconfigurations.admissionregistration.k8s.io"},
    "spec": {
      "group": "admissionregistration.k8s.io", "scope": "Cluster",
      "names": {"kind": "ValidatingWebhookConfiguration",
                "plural": "validatingwebhookconfigurations",
                "singular": "validatingwebhookconfiguration"},
      "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
        "type": "object", "properties": {"webhooks": {
          "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
          "items": {"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"},
            "clientConfig": {"type": "object", "properties": {"caBundle": {"type": "string"}}}
          }}}}}}}]}})");
  REQUIRE(api.install_crd(crd).has_value());
  REQUIRE(api.call("POST", kConfigurationPath,
                   {{"apiVersion", "admissionregistration.k8s.io/v1"},
                    {"kind", "ValidatingWebhookConfiguration"},
                    {"metadata", {{"name", kWebhookConfiguration}}},
                    {"webhooks", Json::array({Json{{"name", "claims.fairlead.io"}}})}})
              .has_value());
}

TEST_CASE("hubs that begin at once agree on one certificate, and its authority is configured") {
  VirtualTime time(LogTime{1'767'225'600'000'000'000});
  Model api(time);
  serve_webhook_configurations(api);
  REQUIRE(api.call("POST", kSecretPath,
                   {{"apiVersion", "v1"},
                    {"kind", "Secret"},
                    {"metadata", {{"name", "fairlead-webhook"}}}})
              .has_value());
  std::vector<std::unique_ptr<KeeperOfAHub>> hubs;
  for (int i = 0; i < 3; ++i) hubs.push_back(std::make_unique<KeeperOfAHub>(time, api));
  time.advance_to(time.now() + seconds(5));
  const Json secret = api.call("GET", std::string(kSecretPath) + "/fairlead-webhook").value();
  const std::string served = *decode_base64(text_in(member(secret, "data"), "tls.crt"));
  REQUIRE(served.starts_with("-----BEGIN CERTIFICATE-----"));
  for (const auto& hub : hubs) {
    CHECK(hub->used == std::vector<std::string>{served});
    CHECK(hub->said.empty());
  }
  const Json configuration =
      api.call("GET", std::string(kConfigurationPath) + "/" + kWebhookConfiguration).value();
  CHECK(text_in(member(configuration["webhooks"][0], "clientConfig"), "caBundle") ==
        text_in(member(secret, "data"), "ca.crt"));
}

}  // namespace
}  // namespace fairlead
