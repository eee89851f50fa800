// Audit scenarios: text files that read as documents (audit_trace.h). FAIRLEAD_REWRITE=1 writes
// what came out into the files; its diff is for a person to read, never to commit unread.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/support/sample.h"
#include "tests/unit/replay/audit_trace.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;
const fs::path kFolder = "tests/unit/replay/audit";

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".txt" && entry.path().stem() != "CMakeLists")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

TEST_CASE("audit scenarios: every question is answered as its file says") {
  const std::vector<fs::path> files = files_in(kFolder);
  REQUIRE_FALSE(files.empty());
  for (const fs::path& path : files) {
    DYNAMIC_SECTION(path.stem().string()) {
      const AuditTrace trace = read_trace(path);
      REQUIRE_FALSE(trace.commands.empty());
      MemoryLog log;
      rehearse(trace, log);
      std::string text;
      for (const std::string& command : trace.commands)
        text += "$ " + command + "\n" + ask(log, command);
      if (std::getenv("FAIRLEAD_REWRITE") != nullptr)
        std::ofstream(path, std::ios::binary) << trace.head.text << text;
      INFO(path.string());
      CHECK(text == trace.expected);
    }
  }
}

// ---- properties: on every scenario of the plan, at every event ----

Int128 amount(const Json& text, const std::string& resource) {
  const auto quantity = Quantity::parse(text.get<std::string>());
  REQUIRE(quantity);
  return to_amount(resource, *quantity);
}

void check_sums(const Json& row, const std::string& resource) {
  if (row["desired"].is_null()) return;
  Int128 grants = 0;
  for (const Json& grant : row["grants"]) grants += amount(grant["contributes"], resource);
  const bool follows = row.contains("follows") && row["follows"]["follows"];
  if (follows)
    for (const Json& worker : row["workers"])
      if (worker.contains("contributes")) grants += amount(worker["contributes"], resource);
  const Json& percents = follows ? row["follows"]["percent"] : row["overbookPercent"];
  const Int128 percent = percents.get<std::int64_t>();
  const Int128 quantum = quantum_of(resource);
  const Int128 counted = percent == 100 ? grants : grants * percent / 100 / quantum * quantum;
  const Int128 reserve = follows ? amount(row["follows"]["reserve"], resource) : 0;
  const Int128 rest = follows ? std::max<Int128>(0, counted - reserve) : counted;
  CHECK(amount(row["base"], resource) + rest == amount(row["desired"], resource));
}

void check_nodes(const Json& grant, const std::string& resource) {
  for (const Json& capacity : grant["capacity"]) {
    if (capacity["flavor"] == "" || grant["nodes"].empty()) continue;
    Int128 offered = 0, growing = 0;
    for (const Json& node : grant["nodes"]) {
      if (!node["eligible"] || node["flavor"] != capacity["flavor"]) continue;
      offered += amount(node["amount"], resource);
      if (node["suppressedSince"].is_null()) growing += amount(node["amount"], resource);
    }
    if (grant.contains("devices"))
      for (const Json& pool : grant["devices"])
        if (const auto added = pool["adds"].find(capacity["flavor"].get<std::string>());
            added != pool["adds"].end())
          offered += amount(*added, resource);
    CHECK(offered == amount(capacity["offered"], resource));
    CHECK(growing <= offered);
  }
  for (const Json& node : grant["nodes"]) CHECK(node["counts"] == node["reasons"].empty());
  if (!grant.contains("devices")) return;
  for (const Json& pool : grant["devices"])
    for (const Json& device : pool["devices"]) CHECK(device["counts"] == device["reasons"].empty());
}

void check_everything_at(const MemoryLog& log, Seq seq) {
  const AuditSource source{log, nullptr};
  const auto quota = audit_quota(source, seq, "");
  REQUIRE(quota.has_value());
  for (const Json& row : quota->document["rows"]) {
    const AuditPair pair{row["queue"], row["flavor"], row["resource"]};
    const auto why = audit_why(source, pair, seq);
    REQUIRE(why.has_value());
    const std::string resource = pair.resource == "gpu" ? "nvidia.com/gpu" : pair.resource;
    INFO("seq " << seq.value << " " << to_text(row));
    check_sums(row, resource);
    CHECK(why->document["value"]["desired"] == row["desired"]);
    for (const Json& grant : why->document["grants"]) check_nodes(grant, resource);
    CHECK_FALSE(audit_text(*why).empty());
    const auto why_not = audit_why_not(source, pair, seq);
    REQUIRE(why_not.has_value());
    // Where the hub is not as it should be, something must keep it so, or it is due.
    const bool equal = row["desired"].is_null() ||
                       amount(row["desired"], resource) ==
                           (row["nominal"].is_null() ? 0 : amount(row["nominal"], resource));
    if (!equal) CHECK(why_not->document["answer"] != "NothingDiffers");
    CHECK_FALSE(audit_text(*why_not).empty());
  }
  const auto same = audit_diff(source, seq, seq, "");
  REQUIRE(same.has_value());
  CHECK(audit_text(*same).find("\nnothing differs\n") != std::string::npos);
}

// The queue's current values are those that its history leads to.
void check_history(const MemoryLog& log) {
  const AuditSource source{log, nullptr};
  const auto quota = audit_quota(source, log.last_seq(), "");
  REQUIRE(quota.has_value());
  for (const Json& row : quota->document["rows"]) {
    const AuditPair pair{row["queue"], row["flavor"], row["resource"]};
    const auto history = audit_history(source, pair, log.first_seq(), log.last_seq());
    REQUIRE(history.has_value());
    Json value;
    for (const Json& change : history->document["rows"])
      if (!change.contains("answer") || change["answer"]["outcome"] == "accepted" ||
          !change["seen"].is_null())
        value = change["new"];
    INFO(to_text(row));
    const auto quantity = [](const Json& text) {
      return text.is_null() ? Quantity() : *Quantity::parse(text.get<std::string>());
    };
    CHECK(quantity(value) == quantity(row["nominal"]));
  }
}

// What is asked about now has the same answer without the nodes that it does not read.
void check_present(const MemoryLog& log) {
  const auto check_same = [&log](const char* subject, const AuditPair& pair) {
    AuditQuestion question;
    question.subject = subject;
    question.queue = pair.queue;
    question.flavor = pair.flavor;
    question.resource = pair.resource;
    const auto folded = answer_question({log, nullptr}, question);
    const auto present = answer_from_present(log, question);
    INFO(to_target(question));
    REQUIRE(present.has_value() == folded.has_value());
    if (folded) CHECK(to_text(present->document) == to_text(folded->document));
  };
  for (const char* subject : {"quota", "diff", "admissions"}) check_same(subject, {});
  const auto quota = audit_quota({log, nullptr}, log.last_seq(), "");
  REQUIRE(quota.has_value());
  for (const Json& row : quota->document["rows"])
    for (const char* subject : {"quota", "history", "diff", "why", "why-not"})
      check_same(subject, {row["queue"], row["flavor"], row["resource"]});
}

TEST_CASE("audit: sums add up and the history leads to the value, on every scenario of the plan") {
  std::size_t events = 0;
  for (const fs::path& path : scenario_files()) {
    DYNAMIC_SECTION(scenario_name(path)) {
      const AuditTrace trace = read_trace(path);
      MemoryLog log;
      rehearse(trace, log);
      check_history(log);
      check_present(log);
      const std::uint64_t last = log.last_seq().value;
      const std::uint64_t step = std::max<std::uint64_t>(1, last / sample(12));
      for (std::uint64_t seq = 1; seq <= last; seq += step) {
        check_everything_at(log, Seq{seq});
        ++events;
      }
      CHECK(events > 0);
    }
  }
}

// The text of a random trace (tests/model/traces.py), which its seed decides.
std::string random_trace(int seed) {
  const std::string command = "python3 tests/model/print_trace.py " + std::to_string(seed);
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    text.append(buffer, n);
  REQUIRE(::pclose(pipe) == 0);
  return text;
}

TEST_CASE("audit: sums add up and the history leads to the value, on random traces") {
  std::size_t pairs = 0;
  for (int seed = 0; seed < static_cast<int>(sample(60)); ++seed) {
    INFO("python3 tests/model/print_trace.py " << seed);
    std::istringstream text(random_trace(seed));
    MemoryLog log;
    rehearse(read_trace(text), log);
    check_history(log);
    const std::uint64_t last = log.last_seq().value;
    REQUIRE(last > 0);
    for (std::uint64_t seq = last; seq >= 1;
         seq -= std::min(seq, std::max<std::uint64_t>(1, last / 5)))
      check_everything_at(log, Seq{seq});
    const auto quota = audit_quota({log, nullptr}, log.last_seq(), "");
    REQUIRE(quota.has_value());
    pairs += quota->document["rows"].size();
  }
  CHECK(pairs > sample(60));  // the traces assign something
}

}  // namespace
}  // namespace fairlead
