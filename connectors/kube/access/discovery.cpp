#include "connectors/kube/access/discovery.h"

#include <algorithm>

namespace fairlead {
namespace {

constexpr std::string_view kCoreRoot = "/api", kGroupsRoot = "/apis";
constexpr std::string_view kPlain = "application/json";
// As client-go asks: a server that knows neither form answers with its plain lists of groups.
constexpr std::string_view kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
constexpr int kUnauthorized = 401, kTooManyRequests = 429, kServerError = 500;
constexpr int kNotModified = 304;

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

bool is_below(std::string_view path, std::string_view root) {
  return path.starts_with(root) && path.substr(root.size()).starts_with('/');
}

// Returns the versions of the kind's group that serve it and are not read. `served` has the plural
// names by path.
std::vector<std::string> unread_in(const std::map<std::string, std::set<std::string>>& served,
                                   Kind kind) {
  std::vector<std::string> out;
  const std::vector<std::string_view> read = versions_of(kind);
  const std::string group = path_of(kind, "");
  for (auto at = served.lower_bound(group); at != served.end() && at->first.starts_with(group);
       ++at) {
    const std::string version = at->first.substr(group.size());
    if (std::find(read.begin(), read.end(), version) == read.end() &&
        at->second.contains(std::string(info(kind).resource)))
      out.push_back(version);
  }
  return out;
}

// "v1" of /api/v1, "GROUP/VERSION" of /apis/GROUP/VERSION.
std::string_view group_version_of(std::string_view path) {
  return path.substr(path.find('/', 1) + 1);
}

}  // namespace

bool is_failure(int status) {
  return status == 0 || status == kUnauthorized || status == kTooManyRequests ||
         status >= kServerError;
}

Discovery::Discovery(std::vector<Kind> kinds) : kinds_(std::move(kinds)) { forget_documents(); }

void Discovery::forget_documents() {
  etags_.clear();
  open_below(kCoreRoot);
  open_below(kGroupsRoot);
}

bool Discovery::is_open_below(std::string_view root) const {
  return std::any_of(open_.begin(), open_.end(),
                     [root](const std::string& path) { return is_below(path, root); });
}

void Discovery::open_below(std::string_view root) {
  for (std::string& path : paths())
    if (is_below(path, root)) open_.insert(std::move(path));
}

std::vector<DiscoveryRequest> Discovery::documents() const {
  std::vector<DiscoveryRequest> out;
  for (const std::string_view root : {kCoreRoot, kGroupsRoot}) {
    const std::vector<std::string> all = paths();
    const bool is_used = std::any_of(
        all.begin(), all.end(), [root](const std::string& path) { return is_below(path, root); });
    if (!is_used || (root == kCoreRoot && !is_open_below(root))) continue;
    const std::string path(root);
    const auto known = etags_.find(path);
    out.push_back({path, kAggregated, known == etags_.end() ? "" : known->second});
  }
  return out;
}

std::vector<DiscoveryRequest> Discovery::lists() const {
  std::vector<DiscoveryRequest> out;
  for (const std::string& path : open_) out.push_back({path, kPlain, ""});
  return out;
}

Result<void> Discovery::answer_document(const DiscoveryRequest& asked, int status,
                                        std::string_view body, std::string etag) {
  if (is_failure(status) || status == kNotModified) return {};
  etags_.erase(asked.path);
  if (status != 200) {
    open_below(asked.path);
    return {};
  }
  const auto refuse = [&asked](const std::string& why) {
    return Error{ErrorCode::bad_input,
                 asked.path + " answered 200 with what is no list of API groups: " + why};
  };
  JsonFault fault;
  const auto document = parse_json(body, fault, kJsonFileBytesMax);
  if (!document) return refuse("it is not JSON");
  const std::string_view kind = document->root()["kind"].string();
  if (kind == "APIGroupList" || kind == "APIVersions") {
    open_below(asked.path);
    return {};
  }
  if (kind != "APIGroupDiscoveryList") return refuse("it is of another kind");
  if (auto read = read_document(asked.path, document->root()); read.has_error())
    return refuse(read.error().message);
  etags_[asked.path] = std::move(etag);
  return {};
}

// An aggregated server that is away leaves its versions `Stale`, without what they serve.
Result<void> Discovery::read_document(const std::string& root, JsonView document) {
  std::map<std::string, std::set<std::string>> current;
  if (!document["items"].is(JsonKind::array))
    return Error{ErrorCode::bad_input, "it has no list of groups"};
  for (JsonView item : document["items"]) {
    const std::string group(item["metadata"]["name"].string());
    for (JsonView version : item["versions"]) {
      if (version["freshness"].string() == "Stale") continue;
      std::set<std::string>& names = current[root + (group.empty() ? "/" : "/" + group + "/") +
                                             std::string(version["version"].string())];
      for (JsonView resource : version["resources"]) names.emplace(resource["resource"].string());
    }
  }
  for (const Kind kind : kinds_)
    if (is_below(path_of(kind, ""), root)) other_versions_[kind] = unread_in(current, kind);
  for (const std::string& path : paths()) {
    if (!is_below(path, root)) continue;
    const auto found = current.find(path);
    if (found == current.end()) {
      open_.insert(path);
      continue;
    }
    resources_[path] = std::move(found->second);
    open_.erase(path);
  }
  return {};
}

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
  if (status == 404) {
    resources_[path].clear();
    open_.erase(path);
  }
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
  open_.erase(path);
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

std::vector<std::string> Discovery::newly_unread() {
  std::vector<std::string> sentences;
  for (const auto& [kind, versions] : other_versions_) {
    if (version(kind)) reported_unread_.erase(kind);
    if (version(kind) || versions.empty() || !reported_unread_.insert(kind).second) continue;
    std::string served;
    for (const std::string& each : versions) served += (served.empty() ? "" : ", ") + each;
    sentences.push_back(std::string(info(kind).name) +
                        " is not read: " + std::string(info(kind).group) + " serves it only as " +
                        served + ", and this version of Fairlead reads " +
                        std::string(info(kind).versions) + "; its objects count as absent");
  }
  return sentences;
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
