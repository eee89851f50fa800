#include "engine/main/commands/completion_words.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "engine/main/client/audit_question.h"
#include "engine/main/client/hub_client.h"
#include "engine/main/client/log_place.h"
#include "engine/main/commands/help_text.h"
#include "engine/runtime/build_commit.h"
#include "schema/event_json.h"

namespace fairlead {

namespace {

// A person waits, so a log gives no names if more events than this have to be folded.
constexpr std::uint64_t kFoldedEventsMax = 200'000;

std::vector<const CLI::App*> commands_below(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_name().empty(); });
}

const CLI::Option* option_named(const CLI::App& app, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  for (const CLI::Option* option : all_options(app))
    if (option->nonpositional() && option->check_name(name)) return option;
  return nullptr;
}

// The arguments so far, but the last.
struct Line {
  const CLI::App* app;
  std::string path;                     ///< of the command: "audit why"
  const CLI::Option* option = nullptr;  ///< whose value the last word is
  std::size_t position = 0;             ///< else which positional argument it is
  LogPlace place;
};

void note_place(const CLI::Option& option, const std::string& value, LogPlace& place) {
  HubPlace& hub = place.hub;
  if (option.check_lname("data")) place.data = value;
  if (option.check_lname("bundle")) place.bundle = value;
  for (const auto& [name, to] : {std::pair{"server", &hub.server},
                                 {"server-token-file", &hub.token_file},
                                 {"server-ca", &hub.ca_file},
                                 {"server-name", &hub.name},
                                 {"kubeconfig", &hub.behind.kubeconfig},
                                 {"context", &hub.behind.context},
                                 {"hub-namespace", &hub.behind.namespace_}})
    if (option.check_lname(name)) *to = value;
}

Line read_line(const CLI::App& root, const std::vector<std::string>& words) {
  Line line{&root, "", nullptr, 0, {}};
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (line.option != nullptr) {
      note_place(*std::exchange(line.option, nullptr), word, line.place);
      continue;
    }
    if (word.starts_with('-')) {
      const CLI::Option* option = option_named(*line.app, word);
      if (option == nullptr || option->get_items_expected_max() == 0) continue;
      const std::size_t equals = word.find('=');
      if (equals == word.npos)
        line.option = option;
      else
        note_place(*option, word.substr(equals + 1), line.place);
      continue;
    }
    const auto below = commands_below(*line.app);
    const auto command = std::find_if(below.begin(), below.end(),
                                      [&](const CLI::App* one) { return one->get_name() == word; });
    if (command == below.end()) {
      ++line.position;
      continue;
    }
    line.app = *command;
    line.path += (line.path.empty() ? "" : " ") + word;
  }
  return line;
}

// The words between the braces of "TEXT:{text,json}", which CLI11 makes of a fixed set.
std::vector<std::string> fixed_values(const CLI::Option& option) {
  std::vector<std::string> values;
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{'), end = type.rfind('}');
  if (begin == type.npos || end == type.npos || end < begin) return values;
  std::stringstream list(type.substr(begin + 1, end - begin - 1));
  for (std::string value; std::getline(list, value, ',');) values.push_back(value);
  return values;
}

// The keys of `--set`, out of the defaults: a map or list is set as a whole.
void add_keys(const Json& part, const std::string& path, std::vector<std::string>& keys) {
  for (const auto& [key, value] : part.items()) {
    const std::string here = path + (path.empty() ? "" : ".") + key;
    if (value.is_object() && !value.empty())
      add_keys(value, here, keys);
    else
      keys.push_back(here + "=");
  }
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const KindInfo& row : kKinds) names.emplace_back(row.name);
  for (const std::string_view fact : fact_names()) names.emplace_back(fact);
  return names;
}

Json answer_here(LogPlace& place, const AuditQuestion& question) {
  const auto history = open_history(place.data, place.bundle, build_identity());
  if (!history) return nullptr;
  const auto snapshots = history->for_questions()->list();
  const Seq last = history->log->last_seq();
  const Seq begin = snapshots && !snapshots->empty() ? snapshots->back().seq : Seq{};
  if (last.value > begin.value + kFoldedEventsMax) return nullptr;
  auto answer = answer_question({*history->log, history->for_questions()}, question);
  return answer ? std::move(answer->document) : Json();
}

// The document of an answer; null: there is none.
Json answer_of_line(LogPlace place, const AuditQuestion& question) {
  const auto hub = asks_hub(place);
  if (!hub) return nullptr;
  if (!*hub) return answer_here(place, question);
  const auto ask = reach_hub(place.hub);
  if (!ask) return nullptr;
  const auto answer = (*ask)(to_target(question));
  return answer ? read_json(*answer) : Json();
}

// The names under `key` of the quotas that there are, of a queue and flavor if they are given.
std::vector<std::string> names_of_quotas(const Line& line, const char* key,
                                         const std::vector<std::string>& given) {
  AuditQuestion question;
  question.subject = "quota";
  const Json answer = answer_of_line(line.place, question);
  std::set<std::string> names;
  for (const Json& row : list_in(answer, "rows"))
    if ((given.empty() || text_in(row, "queue") == given[0]) &&
        (given.size() < 2 || text_in(row, "flavor") == given[1]))
      names.insert(text_in(row, key));
  return {names.begin(), names.end()};
}

// What came into being since the log's first event is what there is: "tenant/namespace", or
// clusters.
std::vector<std::string> names_of_diff(const Line& line, const char* list,
                                       const std::vector<const char*>& keys) {
  AuditQuestion question;
  question.subject = "diff";
  question.from = "seq:1";
  question.to = "end";
  const Json answer = answer_of_line(line.place, question);
  std::set<std::string> names;
  for (const Json& row : list_in(answer, list)) {
    std::string name;
    for (const char* key : keys) name += (name.empty() ? "" : "/") + text_in(row, key);
    names.insert(name);
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> terms_of_where(const Line& line) {
  std::vector<std::string> terms;
  for (const std::string& kind : kind_names()) terms.push_back("kind=" + kind);
  for (const std::string& cluster : names_of_diff(line, "capacity", {"cluster"}))
    terms.push_back("cluster=" + cluster);
  return terms;
}

// `given` are the positional arguments before the option.
std::vector<std::string> option_values(const Line& line, std::vector<std::string> given) {
  const auto is = [&](const char* name) { return line.option->check_lname(name); };
  if (auto values = fixed_values(*line.option); !values.empty()) return values;
  if (is("set")) {
    std::vector<std::string> keys;
    add_keys(to_json(Configuration{}), "", keys);
    return keys;
  }
  if (is("kind")) return kind_names();
  if (is("where")) return terms_of_where(line);
  if (is("as-of") || is("from") || is("to") || is("before"))
    return {"end", "now", "today", "yesterday"};
  if (is("by"))
    return {"cluster", "cohort", "flavor", "label:", "namespace", "owner", "queue", "resource"};
  if (is("queue")) return names_of_quotas(line, "queue", {});
  given.resize(std::min<std::size_t>(given.size(), 1));  // the queue
  if (is("flavor")) return names_of_quotas(line, "flavor", given);
  if (is("resource")) return names_of_quotas(line, "resource", given);
  if (is("namespace") && line.path.starts_with("audit"))
    return names_of_diff(line, "namespaces", {"tenant", "namespace"});
  return {};
}

// The positional arguments of the line, without the last.
std::vector<std::string> arguments_of(const CLI::App& root, const std::vector<std::string>& words) {
  std::vector<std::string> arguments;
  std::vector<std::string> so_far;
  std::size_t position = 0;
  for (const std::string& word : words) {
    so_far.push_back(word);
    so_far.emplace_back();
    const Line line = read_line(root, so_far);
    so_far.pop_back();
    if (line.position > position) arguments.push_back(word);
    position = line.position;
  }
  return arguments;
}

std::vector<std::string> positional_values(const CLI::App& root, const Line& line,
                                           std::vector<std::string> words) {
  words.pop_back();
  const std::vector<std::string> given = arguments_of(root, words);
  for (const char* asks : {"audit quota", "audit history", "audit why", "audit why-not"}) {
    constexpr std::array<const char*, 3> kKeys{"queue", "flavor", "resource"};
    if (line.path == asks && given.size() < kKeys.size())
      return names_of_quotas(line, kKeys.at(given.size()), given);
  }
  if (line.path == "audit diff" && given.size() == 2) return names_of_quotas(line, "queue", {});
  if (line.path == "audit diff" && given.size() < 2) return {"end", "now", "today", "yesterday"};
  if (line.path == "man") {
    const CLI::App* app = &root;
    for (const std::string& name : given)
      for (const CLI::App* below : commands_below(*app))
        if (below->get_name() == name) app = below;
    std::vector<std::string> names;
    for (const CLI::App* below : commands_below(*app)) names.push_back(below->get_name());
    return names;
  }
  std::size_t position = 0;
  for (const CLI::Option* option : all_options(*line.app))
    if (option->get_positional() && position++ == given.size()) return fixed_values(*option);
  return {};
}

}  // namespace

std::vector<std::string> completion_words(const CLI::App& root,
                                          const std::vector<std::string>& words) {
  const std::string last = words.empty() ? "" : words.back();
  const Line line = read_line(root, words);
  std::vector<std::string> found;
  if (line.option != nullptr) {
    found = option_values(line, arguments_of(root, {words.begin(), words.end() - 1}));
  } else if (last.starts_with('-')) {
    for (const CLI::Option* option : all_options(*line.app))
      for (const std::string& name : option->get_lnames()) found.push_back("--" + name);
  } else {
    for (const CLI::App* command : commands_below(*line.app)) found.push_back(command->get_name());
    if (found.empty() && !words.empty()) found = positional_values(root, line, words);
  }
  std::erase_if(found, [&](const std::string& word) { return !word.starts_with(last); });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace fairlead
