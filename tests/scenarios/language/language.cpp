#include "tests/scenarios/language/language.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "engine/base/json.h"
#include "tests/scenarios/language/field_path.h"
#include "tests/scenarios/language/vocabulary.h"

namespace fairlead::language {
namespace {

using Words = std::vector<std::string>;

// A line, or a line and those that are indented below it.
struct Paragraph {
  std::size_t line = 0;  // from 1
  std::vector<Words> lines;
};

// A word without blanks outside of double quotes.
Words words_of(std::string_view line) {
  Words words;
  bool quoted = false, in_word = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && (i == 0 || line[i - 1] != '\\')) quoted = !quoted;
    if (c == ' ' && !quoted) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    words.back() += c;
  }
  return words;
}

std::vector<std::string> lines_of_text(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

const KindRow* find_kind(std::string_view word) {
  for (const KindRow& row : kinds())
    if (row.word == word) return &row;
  return nullptr;
}

const char* type_of_verb(std::string_view word) {
  if (word == "change" || word == "replace") return "MODIFIED";
  if (word == "delete") return "DELETED";
  return nullptr;
}

const char* type_of_source(std::string_view word) {
  if (word == "stale") return "SOURCE_STALE";
  if (word == "lost") return "SOURCE_LOST";
  if (word == "synced") return "SOURCE_SYNCED";
  return nullptr;
}

bool begins_fact(const std::string& line) {
  const Words words = words_of(line.substr(0, line.find_first_of(":{\"")));
  if (line.starts_with(' ') || words.empty()) return false;
  return words[0] == "at" || find_kind(words[0]) != nullptr || type_of_verb(words[0]) != nullptr ||
         type_of_source(words[0]) != nullptr;
}

std::string time_of(const std::string& text) {
  return text.find('T') == std::string::npos ? "1970-01-01T" + text + "Z" : text;
}

// What a word is made of, as far as a form wants it.
struct Match {
  std::string key;
  std::string value;
};

// `key={value}`, `prefix:{key}={value}`, `{key}={value}` or a flag.
std::optional<Match> match(std::string_view form, std::string_view word) {
  const std::size_t form_equals = form.find('='), equals = word.find('=');
  if (form_equals == std::string_view::npos)
    return form == word ? std::optional<Match>(Match{}) : std::nullopt;
  if (equals == std::string_view::npos) return std::nullopt;
  std::string_view left = form.substr(0, form_equals), key = word.substr(0, equals);
  const std::string value(word.substr(equals + 1));
  if (!left.ends_with("{key}"))
    return left == key ? std::optional(Match{std::string(key), value}) : std::nullopt;
  left.remove_suffix(5);
  if (!key.starts_with(left) || key.size() == left.size()) return std::nullopt;
  return Match{std::string(key.substr(left.size())), value};
}

// A value as written: a JSON string in quotes, or the characters.
std::string plain(const std::string& text) {
  if (!text.starts_with('"') || !Json::accept(text)) return text;
  return Json::parse(text).get<std::string>();
}

std::vector<std::string> items_of(const std::string& list) {
  std::vector<std::string> items;
  std::string item;
  for (const char c : list + ",") {
    if (c != ',')
      item += c;
    else if (!item.empty())
      items.push_back(std::exchange(item, ""));
  }
  return items;
}

// One fact: an object, and the place in it that words set fields of.
class Fact {
 public:
  Fact(const KindRow& kind, Json& object) : kind_(kind), object_(object) {}

  // What was not understood.
  std::optional<std::string> head(const Words& words, std::size_t from) {
    scope_ = kind_.word;
    return say_all(words, from);
  }

  std::optional<std::string> entry(const Words& words) {
    if (words.size() == 1 && words[0] == "group") {
      ++group_;
      return std::nullopt;
    }
    const EntryRow* row = find_entry(words[0]);
    const std::size_t name = row != nullptr && !row->keyword.empty() ? 1 : 0;
    if (row == nullptr || words.size() <= name) return words[0];
    scope_ = std::string(kind_.word) + " " + std::string(row->keyword) + ".";
    below_ = read_path(row->path, [&](const std::string& text) {
      const std::size_t slash = words[name].find('/');
      if (text == "{1}") return words[name].substr(0, slash);
      if (text == "{2}" && slash != std::string::npos) return words[name].substr(slash + 1);
      return text == "{group}" ? std::to_string(group_) : text;
    });
    if (reach(object_, below_) == nullptr) return words[name];
    return say_all(words, name + 1);
  }

 private:
  const EntryRow* find_entry(std::string_view word) const {
    const EntryRow* unnamed = nullptr;
    for (const EntryRow& row : entries()) {
      if (row.kind != kind_.word) continue;
      if (row.keyword == word) return &row;
      if (row.keyword.empty()) unnamed = &row;
    }
    return unnamed;
  }

  std::optional<std::string> say_all(const Words& words, std::size_t from) {
    for (std::size_t i = from; i < words.size(); ++i)
      if (!say(words[i])) return words[i];
    return std::nullopt;
  }

  bool say(const std::string& word) {
    const bool removes = word.starts_with('-');
    const std::string said = removes ? word.substr(1) : word;
    if (said.starts_with('/')) return removes ? remove(said, {}) : set_by_pointer(said);
    for (std::string_view scope : {std::string_view("*"), std::string_view(scope_)}) {
      if (scope == "*" && !below_.empty()) continue;
      std::string_view form;
      for (const FieldRow& row : fields()) {
        if (row.scope != scope || (!form.empty() && row.form != form)) continue;
        const auto found = match(row.form, removes ? said + with_value(row.form) : said);
        if (!found) continue;
        form = row.form;
        if (removes) return remove(row.path, *found);
        if (!set(row, *found)) return false;
      }
      if (!form.empty()) return true;
    }
    return false;
  }

  static std::string with_value(std::string_view form) {
    return form.find('=') == std::string_view::npos ? "" : "=";
  }

  FieldPath path_of(std::string_view text, const Match& found, const std::string& each) const {
    FieldPath path = below_;
    for (Step& step : read_path(text, [&](const std::string& name) {
           return name == "{key}" ? found.key : name == "{each}" ? each : name;
         }))
      path.push_back(std::move(step));
    return path;
  }

  bool remove(std::string_view path, const Match& found) {
    erase(object_, path_of(path, found, ""));
    return true;
  }

  bool set_by_pointer(const std::string& word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) return false;
    const std::string value = word.substr(equals + 1);
    Json* field = reach(object_, path_of(word.substr(0, equals), {}, ""));
    if (field == nullptr) return false;
    *field = Json::accept(value) ? Json::parse(value) : Json(value);
    return true;
  }

  bool set(const FieldRow& row, const Match& found) {
    if (row.path.find("{each}") == std::string_view::npos && row.value != "{each}")
      return set_one(row, found, "");
    for (const std::string& each : items_of(found.value))
      if (!set_one(row, found, each)) return false;
    return true;
  }

  bool set_one(const FieldRow& row, const Match& found, const std::string& each) {
    Json* field = reach(object_, path_of(row.path, found, each));
    if (field == nullptr) return false;
    if (row.value == "null") return true;  // the path made it
    if (row.value == "{value}")
      *field = plain(found.value);
    else if (row.value == "{each}")
      *field = each;
    else if (row.value == "{time}")
      *field = time_of(found.value);
    else if (const std::string text(row.value == "{number}" ? found.value : row.value);
             Json::accept(text))
      *field = Json::parse(text);
    else
      return false;
    return true;
  }

  const KindRow& kind_;
  Json& object_;
  std::string scope_;
  FieldPath below_;
  std::size_t group_ = 0;
};

// A group of quotas covers the resources of its first flavor, where nothing else is said.
void cover_groups(Json& object) {
  for (const char* place : {"/spec/resourceGroups", "/status/effectiveQuotas/resourceGroups"}) {
    const Json::json_pointer pointer(place);
    if (!object.contains(pointer)) continue;
    for (Json& group : object[pointer]) {
      if (!group.is_object() || group.contains("coveredResources")) continue;
      const Json resources = group.value("/flavors/0/resources"_json_pointer, Json::array());
      for (const Json& resource : resources)
        group["coveredResources"].push_back(resource.value("name", ""));
    }
  }
}

// The feedback rules of a work ask for the usage of each pair that its manifest has.
void ask_usage(Json& object, const Json& manifest) {
  const std::string queue = manifest["metadata"].value("name", "");
  for (Json& config : object["spec"]["manifestConfigs"]) {
    if (!config.contains("feedbackRules") || config["resourceIdentifier"]["name"] != queue)
      continue;
    Json& paths = config["feedbackRules"][0]["jsonPaths"];
    paths.erase(paths.begin() + 2, paths.end());  // the first two ask for the condition Active
    for (const Json& group : manifest["spec"]["resourceGroups"])
      for (const Json& flavor : group["flavors"])
        for (const Json& resource : flavor["resources"]) {
          const std::string of = flavor.value("name", ""), name = resource.value("name", "");
          paths.push_back({{"name", "usage/" + of + "/" + name},
                           {"path", ".status.flavorsUsage[?(@.name==\"" + of +
                                        "\")].resources[?(@.name==\"" + name + "\")].total"}});
        }
  }
}

void cover(Json& object) {
  cover_groups(object);
  const Json::json_pointer manifests("/spec/workload/manifests");
  if (!object.contains(manifests)) return;
  for (Json& manifest : object[manifests]) {
    cover_groups(manifest);
    if (manifest["kind"] == "ClusterQueue" && object["spec"].contains("manifestConfigs"))
      ask_usage(object, manifest);
  }
}

class Expander {
 public:
  // The line of JSON; an error without its place.
  Result<std::string> fact(const Paragraph& paragraph) {
    const Words& words = paragraph.lines[0];
    if (words[0] == "at") {
      if (words.size() != 2) return expected("a time, as in `at 00:01:40`", words.back());
      time_ = time_of(words[1]);
      return std::string();
    }
    Json event = Json::object();
    if (!time_.empty()) event["time"] = time_;
    if (const char* type = type_of_source(words[0])) {
      if (words.size() != 2) return expected("a cluster, as in `stale c1`", words.back());
      event["type"] = type;
      event["cluster"] = words[1];
      return to_text(event);
    }
    return object(paragraph, std::move(event));
  }

 private:
  static Error expected(std::string_view what, const std::string& got) {
    return {ErrorCode::bad_input, "expected " + std::string(what) + ", got " + got};
  }

  Result<std::string> object(const Paragraph& paragraph, Json event) {
    const Words& words = paragraph.lines[0];
    const char* type = type_of_verb(words[0]);
    const std::size_t at = type != nullptr ? 1 : 0;
    const KindRow* kind = at < words.size() ? find_kind(words[at]) : nullptr;
    if (kind == nullptr || at + 1 >= words.size())
      return expected("a kind and a name", words[std::min(at, words.size() - 1)]);
    const std::string name = whole_name(*kind, words[at + 1]);
    Json& last = objects_[{kind->word, name}];
    if (words[0] == "change" && last.is_null())
      return expected("an object that was added before", name);
    const bool from_last = words[0] == "change" || (words[0] == "delete" && !last.is_null());
    Json made = from_last ? last : fresh(*kind, name);
    if (made.is_null()) return expected(kind->namespaced ? "a namespace/name" : "a name", name);
    Fact fact(*kind, made);
    if (auto wrong = fact.head(words, at + 2)) return unknown(*kind, *wrong);
    for (std::size_t i = 1; i < paragraph.lines.size(); ++i)
      if (auto wrong = fact.entry(paragraph.lines[i])) return unknown(*kind, *wrong);
    cover(made);
    last = made;
    event["type"] = type != nullptr ? type : "ADDED";
    if (const std::string cluster = cluster_of(*kind, name); !cluster.empty())
      event["cluster"] = cluster;
    event["object"] = std::move(made);
    return to_text(event);
  }

  static Error unknown(const KindRow& kind, const std::string& word) {
    return expected("a word of " + std::string(kind.word), word);
  }

  static std::string whole_name(const KindRow& kind, const std::string& name) {
    const std::size_t hole = kind.short_name.find("{}");
    if (hole == std::string_view::npos || name.find('/') != std::string::npos) return name;
    return std::string(kind.short_name).replace(hole, 2, name);
  }
  // [cluster/][namespace/]name, where the cluster of a tenant is tenant/TENANT
  static std::vector<std::string> parts(const std::string& name) {
    std::vector<std::string> all(1);
    for (const char c : name) {
      if (c == '/' && (all.size() > 1 || all.back() != "tenant"))
        all.emplace_back();
      else
        all.back() += c;
    }
    return all;
  }
  static std::string cluster_of(const KindRow& kind, const std::string& name) {
    const auto all = parts(name);
    return all.size() > (kind.namespaced ? 2U : 1U) ? all[0] : "";
  }
  static Json fresh(const KindRow& kind, const std::string& name) {
    const auto all = parts(name);
    const std::size_t least = kind.namespaced ? 2 : 1;
    if (all.size() < least || all.size() > least + 1) return nullptr;
    if (all.size() == least && all[0].find('/') != std::string::npos) return nullptr;
    Json object = Json::parse(kind.fields);
    object["apiVersion"] = kind.api_version;
    object["kind"] = kind.kind;
    object["metadata"]["name"] = all.back();
    if (kind.namespaced) object["metadata"]["namespace"] = all[all.size() - 2];
    return object;
  }

  std::string time_;
  std::map<std::pair<std::string_view, std::string>, Json> objects_;  // as last said
};

// The lines from `at` that are one fact; moves behind them.
Paragraph take_fact(const std::vector<std::string>& lines, std::size_t& at) {
  Paragraph paragraph{at + 1, {words_of(lines[at])}};
  for (++at; at < lines.size() && lines[at].starts_with("  "); ++at) {
    const Words more = words_of(lines[at]);
    Words& last = paragraph.lines.back();
    if (more.empty()) continue;
    if (!lines[at].starts_with("    ")) {
      paragraph.lines.push_back(more);
      continue;
    }
    const bool list_goes_on = last.back().ends_with(',');
    if (list_goes_on) last.back() += more.front();
    last.insert(last.end(), more.begin() + (list_goes_on ? 1 : 0), more.end());
  }
  return paragraph;
}

// The lines from `at` that are one JSON value; only the first, if none is whole.
std::string take_json(const std::vector<std::string>& lines, std::size_t& at) {
  std::string text;
  for (std::size_t end = at; end < lines.size() && !lines[end].empty(); ++end) {
    text += lines[end];
    if (!Json::accept(text)) continue;
    at = end + 1;
    return text;
  }
  return lines[at++];
}

}  // namespace

Result<std::string> expand(std::string_view text) {
  const std::vector<std::string> lines = lines_of_text(text);
  Expander expander;
  std::string out;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t from = at;
    if (begins_fact(lines[at])) {
      const Paragraph paragraph = take_fact(lines, at);
      auto line = expander.fact(paragraph);
      if (!line)
        return Error{line.error().code,
                     "line " + std::to_string(paragraph.line) + ": " + line.error().message};
      out += *line;
    } else if (lines[at].starts_with('{')) {
      out += take_json(lines, at);
    } else {
      out += lines[at++];
    }
    out.append(at - from, '\n');
  }
  return out;
}

}  // namespace fairlead::language
