// Any text as the kubeconfig of a Secret, or as an address: it is read or refused with its origin;
// it names no file and no program; written as JSON it says the same.
#include "connectors/kube/access/kubeconfig.h"

#include <string>

#include "connectors/kube/document/yaml_document.h"
#include "tests/fuzz/fuzz.h"

using namespace fairlead;

namespace {

void check_server(std::string_view url) {
  const auto server = parse_server(url);
  if (!server) return;
  check(!server->host.empty() && !server->port.empty(), "a server has host and port");
  check(server->path.empty() || (server->path.front() == '/' && server->path.back() != '/'),
        "a path begins with a slash and ends without");
  const bool is_ip6 = server->host.find(':') != std::string::npos;
  const std::string again = std::string(server->tls ? "https://" : "http://") +
                            (is_ip6 ? "[" + server->host + "]" : server->host) + ":" +
                            server->port + server->path;
  const auto read_again = parse_server(again);
  check(read_again.has_value() && *read_again == *server, "an address is read as it is written");
}

void check_proxy(std::string_view url) {
  const auto proxy = parse_proxy(url);
  if (proxy) check(!proxy->host.empty() && !proxy->port.empty(), "a proxy has host and port");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = as_text(data, size);
  check_server(text);
  check_proxy(text);
  const auto read = read_kubeconfig(text, "secret", {});
  if (read) {
    check(read->files.empty() && read->token_file.empty() && !read->exec,
          "what a Secret says reads no file and runs no program");
    check(same_access(*read, *read) && same_target(*read, *read), "it is the same as itself");
  } else {
    check(read.error().code == ErrorCode::bad_input, "bad input is called so");
    check(read.error().message.starts_with("secret"), "an error names its origin");
  }
  std::optional<JsonFault> fault;
  const auto documents = parse_yaml(text, fault);
  if (fault || documents.size() != 1) return 0;
  const auto as_json =
      read_kubeconfig(canonical_text(documents.front().document.root()), "secret", {});
  check(as_json.has_value() == read.has_value() && (!read || same_access(*read, *as_json)),
        "as JSON it says the same");
  return 0;
}
