// Runs in processes of their own.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "engine/base/check.h"
#include "engine/fleet/model/resource_definition.h"
#include "engine/runtime/build_commit.h"
#include "tests/simulation/runs.h"

namespace fairlead::simulation {
namespace {

// The run of a child process, and where it writes what it came to.
struct Child {
  int out = -1;
  std::size_t job = 0;
};

std::string read_all(int from) {
  std::string text;
  char some[4096];
  for (ssize_t got = 0; (got = ::read(from, some, sizeof some)) > 0;)
    text.append(some, static_cast<std::size_t>(got));
  ::close(from);
  return text;
}

bool write_all(int into, const std::string& text) {
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t put = ::write(into, text.data() + sent, text.size() - sent);
    if (put <= 0) return false;
    sent += static_cast<std::size_t>(put);
  }
  return true;
}

// What crosses the pipe.
std::string packed(const Outcome& outcome) {
  return to_text(Json{{"failed", outcome.failed},
                      {"summary", outcome.summary},
                      {"writes", outcome.writes},
                      {"calmWrites", outcome.calm_writes},
                      {"hours", outcome.hours},
                      {"faults", outcome.faults},
                      {"leaders", outcome.leaders},
                      {"occasions", outcome.occasions}});
}

Outcome unpacked(const std::string& text) {
  const Json json = read_json(text);
  Outcome outcome;
  json.at("failed").get_to(outcome.failed);
  json.at("summary").get_to(outcome.summary);
  json.at("writes").get_to(outcome.writes);
  json.at("calmWrites").get_to(outcome.calm_writes);
  json.at("hours").get_to(outcome.hours);
  json.at("faults").get_to(outcome.faults);
  json.at("leaders").get_to(outcome.leaders);
  json.at("occasions").get_to(outcome.occasions);
  return outcome;
}

Outcome outcome_of(const std::string& text, int status, const Storm& storm) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return unpacked(text);
  Outcome outcome;
  outcome.failed = WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                       : "exit " + std::to_string(WEXITSTATUS(status));
  outcome.summary = "FAILED " + outcome.failed + " (seed " + std::to_string(storm.seed) +
                    ", commit " + std::string(build_commit()) + ")\n";
  return outcome;
}

}  // namespace

void run_apart(std::size_t count, int jobs, const std::function<Scenario(std::size_t)>& scenario_at,
               const std::function<void(std::size_t, const Outcome&)>& done) {
  // What each process would have to parse.
  (void)model::fairlead_crds();
  (void)model::built_in_resources();
  std::map<pid_t, Child> running;
  for (std::size_t next = 0; next < count || !running.empty();) {
    if (next < count && running.size() < static_cast<std::size_t>(jobs)) {
      int ends[2];
      check(::pipe(ends) == 0, "there is a pipe for each process");
      const pid_t pid = ::fork();
      check(pid >= 0, "a process can be made");
      if (pid == 0) {
        ::close(ends[0]);
        ::_exit(write_all(ends[1], packed(run_here(scenario_at(next), {}))) ? 0 : 4);
      }
      ::close(ends[1]);
      running[pid] = {ends[0], next++};
      continue;
    }
    // The oldest first: what the others have written waits in their pipes, or they wait.
    const auto oldest =
        std::ranges::min_element(running, {}, [](const auto& one) { return one.second.job; });
    const auto [pid, child] = *oldest;
    running.erase(oldest);
    const std::string text = read_all(child.out);
    int status = 0;
    (void)::waitpid(pid, &status, 0);
    done(child.job, outcome_of(text, status, scenario_at(child.job).storm));
  }
}

Outcome run_apart(const Scenario& scenario) {
  Outcome outcome;
  run_apart(
      1, 1, [&](std::size_t) { return scenario; },
      [&](std::size_t, const Outcome& one) { outcome = one; });
  return outcome;
}

}  // namespace fairlead::simulation
