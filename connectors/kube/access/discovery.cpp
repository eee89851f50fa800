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

// The path of a kind's group; empty for the core API, which has one version.
std::string group_path(Kind kind) {
  const std::string_view group = info(kind).group;
  return group.empty() ? "" : "/apis/" + std::string(group);
}

// More of a group are not looked at.
constexpr std::size_t kVersionsMax = 16;

// The versions of an APIGroup; none if the body is something else.
std::vector<std::string> versions_in(std::string_view body) {
  std::vector<std::string> versions;
  const auto document = parse_json(body);
  if (document.has_error()) return versions;
  for (JsonView item : document->root()["versions"]) {
    const std::string_view version = item["version"].string();
    const bool plain = std::all_of(version.begin(), version.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    });
    if (plain && !version.empty() && versions.size() < kVersionsMax) versions.emplace_back(version);
  }
  return versions;
}

void add_once(std::vector<std::string>& paths, std::string path) {
  if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(std::move(path));
}

// Groups and their versions may be absent; the core API is on every server.
bool always_served(std::string_view path) { return path.starts_with("/api/"); }

// "v1" of /api/v1, "GROUP/VERSION" of /apis/GROUP/VERSION.
std::string_view group_version_of(std::string_view path) {
  return path.substr(path.find('/', 1) + 1);
}

}  // namespace

Discovery::Discovery(std::vector<Kind> kinds) : kinds_(std::move(kinds)) {}

std::vector<std::string> Discovery::read_paths() const {
  std::vector<std::string> out;
  for (Kind kind : kinds_)
    for (std::string_view version : versions_of(kind)) add_once(out, path_of(kind, version));
  return out;
}

std::vector<std::string> Discovery::paths() const {
  std::vector<std::string> out = read_paths();
  for (Kind kind : kinds_) {
    if (group_path(kind).empty() || !decided(kind) || version(kind)) continue;
    add_once(out, group_path(kind));
    for (const std::string& version : other_versions(kind)) add_once(out, path_of(kind, version));
  }
  return out;
}

std::vector<std::string> Discovery::unanswered() const {
  std::vector<std::string> out = paths();
  std::erase_if(out, [&](const std::string& path) {
    return resources_.contains(path) || versions_.contains(path);
  });
  return out;
}

bool Discovery::is_asked_beside(const std::string& path) const {
  const std::vector<std::string> read = read_paths();
  return std::find(read.begin(), read.end(), path) == read.end();
}

std::vector<std::string> Discovery::other_versions(Kind kind) const {
  std::vector<std::string> out;
  const auto served = versions_.find(group_path(kind));
  if (served == versions_.end()) return out;
  const std::vector<std::string_view> read = versions_of(kind);
  for (const std::string& version : served->second)
    if (std::find(read.begin(), read.end(), version) == read.end()) out.push_back(version);
  return out;
}

std::vector<std::string> Discovery::unread_versions(Kind kind) const {
  std::vector<std::string> out;
  if (!decided(kind) || version(kind)) return out;
  for (const std::string& version : other_versions(kind)) {
    const auto found = resources_.find(path_of(kind, version));
    if (found != resources_.end() && found->second.contains(std::string(info(kind).resource)))
      out.push_back(version);
  }
  return out;
}

Result<void> Discovery::answer(const std::string& path, int status, std::string_view body) {
  if (is_asked_beside(path)) {
    const bool is_group = path.find('/', std::string_view("/apis/").size()) == std::string::npos;
    const std::string_view said = status == 200 ? body : std::string_view();
    if (is_group)
      versions_[path] = versions_in(said);
    else if (read_resources(path, said).has_error())
      resources_[path].clear();
    return {};
  }
  if (status == 404 && always_served(path))
    return Error{ErrorCode::bad_input, path + ", which every API server serves, answered 404"};
  if (status == 404) resources_[path].clear();
  if (status != 200) return {};
  return read_resources(path, body);
}

Result<void> Discovery::read_resources(const std::string& path, std::string_view body) {
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
