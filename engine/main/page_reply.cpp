#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "engine/main/page_files.h"

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

}  // namespace

HttpReply page_reply(std::string_view path) {
  std::string_view name = path.substr(std::min(path.size(), kPagePath.size()));
  if (name.empty()) name = "index.html";
  const auto files = page_files();
  const auto found = std::find_if(files.begin(), files.end(),
                                  [name](const PageFile& file) { return file.name == name; });
  if (found == files.end()) return {404, "text/plain; charset=utf-8", "the page is at /ui/\n"};
  return {200, content_type_of(name), std::string(found->text)};
}

}  // namespace fairlead
