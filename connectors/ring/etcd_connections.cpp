#include "connectors/ring/etcd_connections.h"

#include <utility>

#include "connectors/kube/transport/http_client.h"
#include "connectors/ring/etcd_commit_store.h"
#include "engine/base/bounded_file.h"

namespace fairlead {
namespace {

Result<Credentials> read_etcd_credentials(const EtcdAccess& access, const std::string& endpoint) {
  auto server = parse_server(endpoint);
  if (!server) return in_context("etcd " + endpoint, server.error());
  Credentials out;
  out.server = std::move(*server);
  const auto read_into = [&](const std::string& path, std::string& text) -> Result<void> {
    if (path.empty()) return {};
    auto read = read_bounded(path);
    if (!read) return read.error();
    text = std::move(*read);
    out.files.push_back(path);
    return {};
  };
  if (auto read = read_into(access.ca, out.ca_pem); !read) return read.error();
  if (auto read = read_into(access.certificate, out.client_certificate_pem); !read)
    return read.error();
  if (auto read = read_into(access.key, out.client_key_pem); !read) return read.error();
  out.certificate_origin = access.certificate;
  out.reread = [access, endpoint] { return read_etcd_credentials(access, endpoint); };
  return out;
}

}  // namespace

struct EtcdConnections::Impl {
  std::vector<std::unique_ptr<HttpClient>> clients;
  std::unique_ptr<EtcdCommitStore> store;
};

EtcdConnections::EtcdConnections(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

EtcdConnections::~EtcdConnections() = default;

Result<std::unique_ptr<EtcdConnections>> EtcdConnections::connect(IoLoop& loop,
                                                                  const EtcdAccess& access,
                                                                  const std::string& folder) {
  if (access.endpoints.empty()) return Error{ErrorCode::bad_input, "etcd: no endpoint"};
  auto impl = std::make_unique<Impl>();
  std::vector<EtcdMember> members;
  for (const std::string& endpoint : access.endpoints) {
    auto credentials = read_etcd_credentials(access, endpoint);
    if (!credentials) return credentials.error();
    auto client = HttpClient::make(loop, std::move(*credentials), HttpLimits{});
    if (!client) return in_context("etcd " + endpoint, client.error());
    members.push_back({endpoint, client->get()});
    impl->clients.push_back(std::move(*client));
  }
  impl->store = std::make_unique<EtcdCommitStore>(std::move(members), folder);
  return std::unique_ptr<EtcdConnections>(new EtcdConnections(std::move(impl)));
}

CommitStore& EtcdConnections::store() { return *impl_->store; }

const std::string& EtcdConnections::version() const { return impl_->store->version(); }

void EtcdConnections::stop() {
  for (const auto& client : impl_->clients) client->stop();
}

}  // namespace fairlead
