#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/digest.h"
#include "engine/http/gzip.h"
#include "engine/main/service/page_files.h"

namespace fairlead {

namespace {

constexpr std::array<std::pair<std::string_view, const char*>, 4> kContentTypes{
    {{".html", "text/html; charset=utf-8"},
     {".css", "text/css; charset=utf-8"},
     {".js", "text/javascript; charset=utf-8"},
     {".svg", "image/svg+xml"}}};

const char* content_type_of(std::string_view name) {
  for (const auto& [suffix, type] : kContentTypes)
    if (name.ends_with(suffix)) return type;
  return "text/plain; charset=utf-8";
}

// Below this path files have the digest of all of them in their address, so that a browser may keep
// them for good: another program's have another one. The modules import each other relatively.
constexpr std::string_view kVersionPrefix = "v-";
constexpr const char* kKeptForGood = "public, max-age=31536000, immutable";
constexpr const char* kAskedEachTime = "no-cache";
constexpr std::size_t kVersionLength = 16;  // of the digest's 64 digits

struct KeptFile {
  std::string text;
  std::string gzipped;
  std::string etag;
};

struct KeptFiles {
  std::string version;
  std::map<std::string, KeptFile, std::less<>> by_name;
};

// Returns index.html with the digest in the address of each file that it loads itself.
std::string index_of(std::string text, const std::string& version) {
  for (const PageFile& file : page_files()) {
    const std::size_t at = text.find("\"" + std::string(file.name) + "\"");
    if (at != std::string::npos) text.insert(at + 1, std::string(kVersionPrefix) + version + "/");
  }
  return text;
}

KeptFiles keep_files() {
  KeptFiles kept;
  std::vector<std::string_view> parts;
  for (const PageFile& file : page_files()) {
    parts.push_back(file.name);
    parts.push_back(file.text);
  }
  kept.version = sha256(parts).hex().substr(0, kVersionLength);
  for (const PageFile& file : page_files()) {
    std::string text(file.text);
    if (file.name == "index.html") text = index_of(std::move(text), kept.version);
    std::string zipped = gzip(text, GzipEffort::once);
    std::string etag = sha256(text).hex().substr(0, kVersionLength);
    kept.by_name.emplace(file.name, KeptFile{std::move(text), std::move(zipped), std::move(etag)});
  }
  return kept;
}

}  // namespace

HttpReply page_reply(std::string_view path) {
  static const KeptFiles files = keep_files();
  std::string_view name = path.substr(std::min(path.size(), kPagePath.size()));
  const std::string version = std::string(kVersionPrefix) + files.version + "/";
  bool named = name.starts_with(version);
  if (named) name.remove_prefix(version.size());
  if (name.empty()) name = "index.html";
  if (name == "index.html") named = false;  // it names the version
  const auto found = files.by_name.find(name);
  if (found == files.by_name.end())
    return {404, "text/plain; charset=utf-8", "the page is at /ui/\n"};
  HttpReply reply{200, content_type_of(name), found->second.text};
  reply.gzipped = found->second.gzipped;
  reply.etag = found->second.etag;
  reply.cache_control = named ? kKeptForGood : kAskedEachTime;
  return reply;
}

}  // namespace fairlead
