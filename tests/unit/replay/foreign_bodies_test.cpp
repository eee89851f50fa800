// A log or bundle that somebody else made: its writes bear our name, and their bodies have shapes
// that this program never writes. Everything that reads them answers, and nothing stops.
#include <array>
#include <catch2/catch.hpp>
#include <filesystem>

#include "replay/verify.h"
#include "tests/unit/log/log_fixture.h"
#include "tests/unit/replay/audit_trace.h"

namespace fairlead {
namespace {

constexpr std::array kForeignBodies{
    "",
    "{",
    "null",
    "5",
    "[]",
    "{}",
    R"({"metadata":5,"spec":5,"status":5})",
    R"({"metadata":{"name":5,"labels":[]},"spec":[],"status":[]})",
    R"({"spec":{"resourceGroups":5,"clusters":[5],"nominalResources":[]},"status":{"conditions":5}})",
    R"({"status":{"conditions":[5,{"type":5,"status":[]},{"type":"Active"}],"grants":[5,{}],
        "capacity":[5,{"flavor":[]}],"overcommitted":5,"seq":-1,"nominatedClusterNames":[5]}})",
    R"({"status":{"conditions":[{"lastTransitionTime":5,"message":{},"observedGeneration":"x",
        "reason":[],"status":"True","type":"Valid"}],"capacity":{},"grants":{},"observedGeneration":5,
        "overcommitted":[[]],"seq":"1","nominatedClusterNames":{"a":1}}})",
};

// The same log, but for the bodies of the writes.
void copy_with_bodies(const MemoryLog& log, const std::string& body, MemoryLog& copy) {
  std::vector<EventDraft> commit;
  for (const Event& event : read_all(log)) {
    commit.push_back({event.source, event.cause, event.fact});
    if (auto* intent = std::get_if<PatchIntended>(&commit.back().fact)) intent->body = body;
    if (!log.chain_at(event.seq)) continue;
    REQUIRE(copy.append(commit, event.log_time, event.epoch).has_value());
    commit.clear();
  }
}

std::vector<std::filesystem::path> traces_in(const char* folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".txt" && entry.path().stem() != "CMakeLists")
      files.push_back(entry.path());
  return files;
}

TEST_CASE("writes whose bodies have another shape are folded, planned, compared and asked about") {
  std::size_t asked = 0;
  for (const auto& path : traces_in("tests/unit/replay/audit")) {
    const AuditTrace trace = read_trace(path);
    MemoryLog whole;
    rehearse(trace, whole);
    for (const char* body : kForeignBodies) {
      INFO(path.string() << " " << body);
      MemoryLog log;
      copy_with_bodies(whole, body, log);
      ReplayOptions options;
      options.comparison = Comparison::all;
      CHECK(replay(log, nullptr, options).has_value());
      for (const std::string& command : trace.commands) {
        CHECK_FALSE(ask(log, command).empty());
        ++asked;
      }
    }
  }
  CHECK(asked > 100);
}

TEST_CASE("the plan goes on from writes whose bodies have another shape") {
  for (const char* name : {"tests/scenarios/works/unanswered-write-is-not-sent-again.txt",
                           "tests/scenarios/queues/foreign-overwrite-is-fought-three-times.txt"}) {
    MemoryLog whole;
    rehearse(read_trace(name), whole);
    for (const char* body : kForeignBodies) {
      MemoryLog log;
      copy_with_bodies(whole, body, log);
      ReplayOptions options;
      options.comparison = Comparison::all;
      CHECK(replay(log, nullptr, options).has_value());
    }
  }
}

}  // namespace
}  // namespace fairlead
