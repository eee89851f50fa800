#include "tests/unit/replay/audit_trace.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "engine/fold/light_copy.h"
#include "replay/audit/audit_moment.h"

namespace fairlead {

AuditTrace read_trace(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  INFO(path.string());
  REQUIRE(in);
  return read_trace(in);
}

AuditTrace read_trace(std::istream& in) {
  AuditTrace trace;
  trace.head = read_head(in);
  std::string line;
  while (std::getline(in, line)) {
    trace.expected += line + "\n";
    if (line.starts_with("$ ")) trace.commands.push_back(line.substr(2));
  }
  return trace;
}

void rehearse(const AuditTrace& trace, MemoryLog& log) {
  auto options = options_of(trace.head);
  REQUIRE(options.has_value());
  const auto lines = lines_of(trace.head);
  REQUIRE(lines.has_value());
  DryRun dry_run(log, std::move(*options));
  REQUIRE(dry_run.run(*lines).has_value());
}

Result<AuditAnswer> answer_from_present(const MemoryLog& log, const AuditQuestion& question) {
  auto moment = moment_at({log, nullptr}, log.last_seq());
  if (!moment) return moment.error();
  const State present = copy_with_nodes_of(moment->state, clusters_read(moment->state, question));
  return answer_question({log, nullptr, &present}, question);
}

std::string ask(const MemoryLog& log, const std::string& command) {
  AuditQuestion question;
  bool json = false;
  std::vector<std::string> places;
  const std::vector<std::string> all = words(command);
  REQUIRE_FALSE(all.empty());
  question.subject = all.front();
  for (std::size_t i = 1; i < all.size(); ++i) {
    const std::string value = i + 1 < all.size() ? all[i + 1] : "";
    if (all[i] == "--as-of")
      question.as_of = value, ++i;
    else if (all[i] == "--from")
      question.from = value, ++i;
    else if (all[i] == "--to")
      question.to = value, ++i;
    else if (all[i] == "--flavor")
      question.flavor = value, ++i;
    else if (all[i] == "--resource")
      question.resource = value, ++i;
    else if (all[i] == "--namespace")
      question.namespace_ = value, ++i;
    else if (all[i] == "--pod")
      question.pod = value, ++i;
    else if (all[i] == "-o")
      json = value == "json", ++i;
    else
      places.push_back(all[i]);
  }
  if (question.subject == "diff") {
    REQUIRE(places.size() >= 2);
    question.from = places[0];
    question.to = places[1];
    places.erase(places.begin(), places.begin() + 2);
  }
  if (!places.empty()) question.queue = places[0];
  if (places.size() > 1) question.flavor = places[1];
  if (places.size() > 2) question.resource = places[2];
  auto answer = answer_question({log, nullptr}, question);
  if (is_about_now(question)) {
    const auto same = answer_from_present(log, question);
    INFO(command);
    CHECK(same.has_value() == answer.has_value());
    if (same && answer) CHECK(to_text(same->document) == to_text(answer->document));
  }
  if (!answer) return "error: " + answer.error().message + "\n";
  return json ? to_text(answer->document) + "\n" : audit_text(*answer);
}

}  // namespace fairlead
