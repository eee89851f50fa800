#include "engine/main/service/page_bundle.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

#include "engine/base/base64.h"
#include "engine/http/gzip.h"
#include "engine/main/service/page_files.h"

namespace fairlead {

namespace {

// A page that was opened from a file may not import modules from beside it, so each module becomes
// a function that returns its exports, in the order in which they need each other:
//
//   modules["log.js"] = (() => { const {el} = modules["dom.js"]; ... return {logView}; })();
//
// That needs no parser, because the modules of ui/ are written in one form: an import begins a line
// with `import {` and ends with `} from "./NAME.js";`, an export begins a line with `export ` and
// is a function, a class or a const. Imports in comments are of types and begin no line.
constexpr std::string_view kImport = "import {";
constexpr std::string_view kFrom = "} from \"./";
constexpr std::string_view kExport = "export ";
constexpr const char* kPolicy =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
    "'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action "
    "'none'\" />";

Error misformed(const std::string& what) {
  return {ErrorCode::internal, "the files of the page are not as expected: " + what};
}

Result<std::string_view> text_of(std::string_view name) {
  const auto files = page_files();
  const auto found = std::find_if(files.begin(), files.end(),
                                  [name](const PageFile& file) { return file.name == name; });
  if (found == files.end()) return misformed("no " + std::string(name));
  return found->text;
}

class ScriptBundle {
 public:
  /// Adds a module behind those that it imports.
  Result<void> add(const std::string& name) {
    if (!added_.insert(name).second) return {};
    const auto text = text_of(name);
    if (!text) return text.error();
    std::string body;
    std::string exports;
    std::istringstream lines{std::string(*text)};
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(kImport)) {
        if (auto taken = add_import(line, lines); !taken) return taken;
      } else if (line.starts_with(kExport)) {
        line.erase(0, kExport.size());
        exports += exports.empty() ? name_in(line) : ", " + name_in(line);
      }
      body += line + "\n";
    }
    script_ +=
        "modules[\"" + name + "\"] = (() => {\n" + body + "return {" + exports + "};\n})();\n";
    return {};
  }
  std::string script() const { return "const modules = {};\n" + script_; }

 private:
  // Reads an import to its end, adds what it imports, and makes a declaration of it.
  Result<void> add_import(std::string& line, std::istringstream& lines) {
    for (std::string more; line.find(';') == std::string::npos && std::getline(lines, more);)
      line += " " + more;
    const auto from = line.find(kFrom);
    if (from == std::string::npos) return misformed(line);
    const std::size_t begin = from + kFrom.size();
    const std::string name = line.substr(begin, line.find('"', begin) - begin);
    line = "const " + line.substr(kImport.size() - 1, from + 2 - kImport.size()) + " = modules[\"" +
           name + "\"];";
    return add(name);
  }
  // The name that an export declares.
  static std::string name_in(std::string_view line) {
    for (const std::string_view word : {"async ", "function ", "class ", "const "})
      if (line.starts_with(word)) line.remove_prefix(word.size());
    const auto end = std::find_if(line.begin(), line.end(), [](char c) {
      return c == '(' || c == ' ' || c == '=' || c == '{';
    });
    return {line.begin(), end};
  }

  std::set<std::string> added_;
  std::string script_;
};

Result<void> replace(std::string& html, std::string_view part, const std::string& by) {
  const std::size_t at = html.find(part);
  if (at == std::string::npos) return misformed("no " + std::string(part) + " in index.html");
  html.replace(at, part.size(), by);
  return {};
}

// Puts the text of each stylesheet in the place of its link.
Result<void> inline_styles(std::string& html) {
  constexpr std::string_view kLink = "<link rel=\"stylesheet\" href=\"", kEnd = "\" />";
  for (std::size_t at = html.find(kLink); at != std::string::npos; at = html.find(kLink)) {
    const std::size_t name = at + kLink.size(), end = html.find(kEnd, name);
    if (end == std::string::npos) return misformed("a link to a stylesheet does not end");
    const auto style = text_of(html.substr(name, end - name));
    if (!style) return style.error();
    html.replace(at, end + kEnd.size() - at, "<style>" + std::string(*style) + "</style>");
  }
  return {};
}

// What ui/unpack.js takes apart: base64 has no character that could end a script.
std::string packed(const Json& answers, std::string_view dygraphs, const std::string& scripts) {
  const Json parts{{"answers", to_text(answers)}, {"dygraphs", dygraphs}, {"scripts", scripts}};
  return encode_base64(gzip(to_text(parts), GzipEffort::once));
}

}  // namespace

Result<std::string> page_with_answers(const Json& answers) {
  const auto index = text_of("index.html");
  const auto dygraphs = text_of("dygraph.min.js");
  const auto unpack = text_of("unpack.js");
  for (const auto* text : {&index, &dygraphs, &unpack})
    if (!*text) return text->error();
  ScriptBundle bundle;
  if (auto added = bundle.add("main.js"); !added) return added.error();
  if (unpack->find("</script") != std::string_view::npos) return misformed("a script ends early");
  std::string html(*index);
  const std::vector<std::pair<std::string_view, std::string>> parts{
      {"<meta charset=\"utf-8\" />", std::string("<meta charset=\"utf-8\" />\n    ") + kPolicy},
      {"<link rel=\"icon\" href=\"icon.svg\" />", "<link rel=\"icon\" href=\"data:,\" />"},
      {"<script src=\"dygraph.min.js\" defer></script>", ""},
      {"<script type=\"module\" src=\"main.js\"></script>", ""},
      {"</body>",
       "  <script type=\"application/json\" id=\"answers\"></script>\n"
       "    <script type=\"text/plain\" id=\"packed\">" +
           packed(answers, *dygraphs, bundle.script()) +
           "</script>\n    <script type=\"module\">\n" + std::string(*unpack) +
           "</script>\n  </body>"}};
  if (auto inlined = inline_styles(html); !inlined) return inlined.error();
  for (const auto& [part, by] : parts)
    if (auto replaced = replace(html, part, by); !replaced) return replaced.error();
  return html;
}

}  // namespace fairlead
