#include "connectors/kube/access/discovery.h"

#include <algorithm>

namespace fairlead {
namespace {

std::vector<std::string_view> versions_of(Kind kind) {
  std::vector<std::string_view> out;
  std::string_view rest = info(kind).versions;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    out.push_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(rest.size(), comma + 1));
  }
  return out;
}

std::string path_of(Kind kind, std::string_view version) {
  const std::string_view group = info(kind).group;
  return (group.empty() ? "/api/" : "/apis/" + std::string(group) + "/") + std::string(version);
}

// Groups and their versions may be absent; the core API is on every server.
bool always_served(std::string_view path) { return path.starts_with("/api/"); }

// "v1" of /api/v1, "GROUP/VERSION" of /apis/GROUP/VERSION.
std::string_view group_version_of(std::string_view path) {
  return path.substr(path.find('/', 1) + 1);
}

}  // namespace

Discovery::Discovery(std::vector<Kind> kinds) : kinds_(std::move(kinds)) {}

std::vector<std::string> Discovery::paths() const {
  std::vector<std::string> out;
  for (Kind kind : kinds_)
    for (std::string_view version : versions_of(kind)) {
      std::string path = path_of(kind, version);
      if (std::find(out.begin(), out.end(), path) == out.end()) out.push_back(std::move(path));
    }
  return out;
}

Result<void> Discovery::answer(const std::string& path, int status, std::string_view body) {
  if (status == 404 && always_served(path))
    return Error{ErrorCode::bad_input, path + ", which every API server serves, answered 404"};
  if (status == 404) resources_[path].clear();
  if (status != 200) return {};
  const auto refuse = [&path](const char* why) {
    return Error{ErrorCode::bad_input,
                 path + " answered 200 with what is not an APIResourceList: " + why};
  };
  auto document = parse_json(body);
  if (document.has_error()) return refuse("it is not JSON");
  const JsonView list = document->root(), kind = list["kind"], resources = list["resources"];
  // As client-go, which takes a list without a kind or a group version for what was asked for.
  if (kind.given() && kind.string() != "APIResourceList") return refuse("it is of another kind");
  const JsonView group_version = list["groupVersion"];
  if (group_version.given() && group_version.string() != group_version_of(path))
    return refuse("it is of another group version");
  // A server in Go encodes an empty list as null. It always sets groupVersion.
  const bool empty = kind.given() && group_version.given() && resources.is(JsonKind::null);
  if (!empty && !resources.is(JsonKind::array)) return refuse("it has no list of resources");
  std::set<std::string> names;
  for (JsonView resource : resources) {
    if (resource["name"].string().empty()) return refuse("a resource has no name");
    names.emplace(resource["name"].string());
  }
  resources_[path] = std::move(names);
  return {};
}

std::optional<std::string> Discovery::version(Kind kind) const {
  for (std::string_view version : versions_of(kind)) {
    auto found = resources_.find(path_of(kind, version));
    if (found != resources_.end() && found->second.contains(std::string(info(kind).resource)))
      return std::string(version);
  }
  return std::nullopt;
}

bool Discovery::decided(Kind kind) const {
  // A better version that has not answered yet could still win.
  for (std::string_view version : versions_of(kind)) {
    auto found = resources_.find(path_of(kind, version));
    if (found == resources_.end()) return false;
    if (found->second.contains(std::string(info(kind).resource))) return true;
  }
  return true;
}

}  // namespace fairlead
