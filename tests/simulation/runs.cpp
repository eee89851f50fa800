#include "tests/simulation/runs.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <iomanip>
#include <map>
#include <sstream>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/fleet/model/resource_definition.h"
#include "engine/runtime/build_commit.h"

namespace fairlead::simulation {
namespace {

/// A write that no longer differs from the calm run's number by more than this is no storm of its
/// own: a lost answer, a restart or a stale view each cost some writes again.
constexpr std::uint64_t kWritesMoreMax = 12;

// Versions, identities, positions in the log and times differ from run to run; what is asked for
// does not.
void strip(Json& value) {
  if (value.is_string() && parse_rfc3339(value.get_ref<const std::string&>())) {
    value = "TIME";
  } else if (value.is_object()) {
    for (const char* name : {"resourceVersion", "uid", "managedFields", "generation",
                             "observedGeneration", "creationTimestamp", "seq"})
      value.erase(name);
    for (auto& item : value) strip(item);
  } else if (value.is_array()) {
    for (auto& item : value) strip(item);
  }
}

std::string end_of_world(World& world) {
  Json all = Json::array();
  const model::ObjectStore store = world.hub_server().model().save();
  for (const auto& [resource, objects] : store.all()) {
    if (resource.starts_with("events.")) continue;
    for (const auto& [key, object] : objects) {
      Json stripped = *object;
      strip(stripped);
      all.push_back(std::move(stripped));
    }
  }
  return fairlead::to_text(all);
}

// The first value that differs, with its path.
std::string difference(const Json& calm, const Json& other, const std::string& path) {
  if (calm == other) return {};
  if (calm.type() == other.type() && calm.size() == other.size() && calm.is_structured())
    for (const auto& [name, value] : calm.items()) {
      const Json* const found = other.is_array()
                                    ? &other[static_cast<std::size_t>(std::stoul(name))]
                                : other.contains(name) ? &other[name]
                                                       : nullptr;
      if (found == nullptr) return path + "/" + name + ": gone";
      if (auto inner = difference(value, *found, path + "/" + name); !inner.empty()) return inner;
    }
  const auto text = [](const Json& value) { return fairlead::to_text(value).substr(0, 300); };
  return path + ": " + text(calm) + " became " + text(other);
}

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

// What crosses the pipe: numbers in a line, then the texts, each behind its length.
std::string packed(const Outcome& outcome) {
  std::ostringstream out;
  out << outcome.writes;
  for (const std::int64_t count : outcome.occasions) out << " " << count;
  for (const std::string* text : {&outcome.failed, &outcome.summary, &outcome.end})
    out << " " << text->size();
  out << "\n" << outcome.failed << outcome.summary << outcome.end;
  return out.str();
}

Outcome unpacked(const std::string& text) {
  Outcome outcome;
  std::istringstream in(text);
  in >> outcome.writes;
  for (std::int64_t& count : outcome.occasions) in >> count;
  std::size_t sizes[3] = {};
  for (std::size_t& size : sizes) in >> size;
  in.get();
  std::size_t at = 0;
  for (std::string* part : {&outcome.failed, &outcome.summary, &outcome.end}) {
    part->resize(sizes[at++]);
    in.read(part->data(), static_cast<std::streamsize>(part->size()));
  }
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

// Runs `count` storms, each in a process, `jobs` at a time. `storm_at` returns a storm by its
// number; `done` gets what each came to, in the order in which they end.
void run_all(std::size_t count, int jobs, const std::function<Storm(std::size_t)>& storm_at,
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
        const std::string text = packed(run_storm(storm_at(next), {}));
        for (std::size_t sent = 0; sent < text.size();) {
          const ssize_t put = ::write(ends[1], text.data() + sent, text.size() - sent);
          if (put <= 0) ::_exit(4);
          sent += static_cast<std::size_t>(put);
        }
        ::_exit(0);
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
    done(child.job, outcome_of(text, status, storm_at(child.job)));
  }
}

Outcome run_apart(const Storm& storm) {
  Outcome outcome;
  run_all(
      1, 1, [&](std::size_t) { return storm; },
      [&](std::size_t, const Outcome& one) { outcome = one; });
  return outcome;
}

}  // namespace

Outcome run_storm(const Storm& storm, World::Lines lines) {
  using Steady = std::chrono::steady_clock;
  const Steady::time_point began = Steady::now();
  World world(storm, std::move(lines));
  const auto failure = world.run();
  const double real = std::chrono::duration<double>(Steady::now() - began).count();
  const double span = static_cast<double>((world.now() - world.record().began).ns) / 3.6e12;
  const Record& record = world.record();
  Outcome outcome;
  outcome.occasions = world.faults().occasions();
  outcome.writes = static_cast<std::uint64_t>(
      std::ranges::count_if(record.writes, [](const SeenWrite& one) { return one.by_hub(); }));
  outcome.end = end_of_world(world);
  std::ostringstream out;
  out << std::fixed << std::setprecision(2) << "seed " << storm.seed << " digest "
      << world.digest().hex().substr(0, 16) << " hours " << span << " seconds " << real << " ratio "
      << static_cast<std::int64_t>(span * 3600 / real) << " events " << record.events.size()
      << " writes " << outcome.writes << " faults " << record.faults.size() << "\n";
  if (failure) {
    outcome.failed = failure->checker;
    out << "FAILED " << failure->checker << " at " << to_rfc3339(failure->time) << " seq "
        << failure->seq.value << " (seed " << storm.seed << ", commit " << build_commit()
        << "): " << failure->what << "\n";
  }
  outcome.summary = out.str();
  return outcome;
}

int run_seeds(std::uint64_t first, std::uint64_t last, int jobs,
              const std::function<void(Storm&)>& adjust, std::ostream& out) {
  int failed = 0;
  const auto storm_at = [&](std::size_t at) {
    Storm storm = storm_of(first + at);
    adjust(storm);
    return storm;
  };
  run_all(last - first + 1, jobs, storm_at, [&](std::size_t at, const Outcome& outcome) {
    out << outcome.summary;
    if (outcome.failed.empty()) return;
    ++failed;
    out << "again: fairlead-sim --seed " << first + at << "; smaller: fairlead-sim --seed "
        << first + at << " --shrink\n"
        << std::flush;
  });
  out << last - first + 1 << " seeds, " << failed << " failed\n";
  return failed;
}

// Each number is tried at its least, then at the half of what it is, as long as that helps.
int shrink(const Storm& storm, int /*jobs*/, std::ostream& out) {
  const std::string failed = run_apart(storm).failed;
  if (failed.empty()) {
    out << "this storm does not fail\n";
    return 0;
  }
  Storm smallest = storm;
  for (bool smaller = true; std::exchange(smaller, false);) {
    Storm tried = smallest;
    const std::vector<StormField> fields = fields_of(tried);
    for (std::size_t at = 1; at < fields.size(); ++at) {
      const StormField& field = fields[at];
      for (const std::int64_t value : {field.least, *field.value / 2}) {
        const std::int64_t before = *field.value;
        if (value >= before || value < field.least || field.name == "watch-lists" ||
            field.name == "settle-minutes")
          continue;
        *field.value = value;
        if (run_apart(tried).failed == failed) {
          smaller = true;
          break;
        }
        *field.value = before;
      }
    }
    smallest = tried;
  }
  out << "# " << failed << "\n" << storm_text(smallest) << run_apart(smallest).summary;
  return 1;
}

int run_exhaustive(const Storm& storm, int jobs, std::ostream& out) {
  const Outcome calm = run_apart(storm);
  out << "calm: " << calm.summary;
  if (!calm.failed.empty()) return 1;
  std::vector<std::pair<std::int64_t, std::int64_t>> points;  // kind, occasion
  for (const FaultKind kind :
       {FaultKind::deaths_at_append, FaultKind::deaths_at_send, FaultKind::deaths_at_answer,
        FaultKind::lost_lines, FaultKind::doubled_lines, FaultKind::delayed_lines,
        FaultKind::stale_lists, FaultKind::lost_answers})
    for (std::int64_t at = 1; at <= calm.occasions[static_cast<std::size_t>(kind)]; ++at)
      points.emplace_back(static_cast<std::int64_t>(kind) + 1, at);
  const auto storm_at = [&](std::size_t at) {
    Storm one = storm;
    std::tie(one.once_kind, one.once_at) = points[at];
    return one;
  };
  int failed = 0;
  run_all(points.size(), jobs, storm_at, [&](std::size_t at, const Outcome& outcome) {
    std::string why;
    if (!outcome.failed.empty())
      why = outcome.summary;
    else if (outcome.end != calm.end)
      why = "it ends otherwise than the calm run: " +
            difference(read_json(calm.end), read_json(outcome.end), {});
    else if (outcome.writes > calm.writes + kWritesMoreMax)
      why = "it needs " + std::to_string(outcome.writes) + " writes, and the calm run " +
            std::to_string(calm.writes);
    if (why.empty()) return;
    ++failed;
    out << "FAILED " << kFaultNames[static_cast<std::size_t>(points[at].first - 1)] << " at its "
        << points[at].second << ". occasion: " << why << "\n"
        << "once-kind " << points[at].first << "\nonce-at " << points[at].second << "\n"
        << std::flush;
  });
  out << points.size() << " points, " << failed << " failed\n";
  return failed;
}

}  // namespace fairlead::simulation
