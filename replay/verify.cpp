#include "replay/verify.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/fold/evolve.h"
#include "engine/fold/writes.h"
#include "engine/plan/plan.h"

namespace fairlead {

namespace {

constexpr std::uint64_t kProgressEvents = 10'000;

Json without_versions(const std::string& body) {
  Json parsed = Json::parse(body, nullptr, false);
  if (parsed.is_object() && parsed.contains("metadata") && parsed["metadata"].is_object()) {
    parsed["metadata"].erase("uid");
    parsed["metadata"].erase("resourceVersion");
  }
  return parsed;
}

const PatchIntended* find_target(const std::vector<PatchIntended>& planned,
                                 const PatchIntended& recorded) {
  const WriteKey key = write_key(recorded);
  const auto at = std::find_if(planned.begin(), planned.end(), [&](const PatchIntended& intent) {
    return write_key(intent) == key;
  });
  return at == planned.end() ? nullptr : &*at;
}

// The objects whose planning can lead to this write.
Touched around(const State& state, const PatchIntended& intent) {
  Touched touched;
  switch (intent.target.kind) {
    case Kind::cluster_queue: touched.queues.insert(intent.target.name); break;
    case Kind::manifest_work: touched.clusters.insert(intent.target.namespace_); break;
    case Kind::claim:
      if (state.claims.contains(intent.target.name))
        touched.claims.insert(intent.target.name);
      else  // a new claim is planned with its cluster
        for (const auto& [name, cluster] : state.clusters)
          if (intent.target.name.starts_with(name)) touched.clusters.insert(name);
      break;
    default: touched.everything = true;
  }
  return touched;
}

// Folds events and plans again where the log has intents.
class Replay {
 public:
  explicit Replay(const ReplayOptions& options) : options_(options) {}

  void take(Event event) {
    const bool intent = std::holds_alternative<PatchIntended>(event.fact);
    if (!run_.empty() && (!intent || run_.front().log_time != event.log_time)) finish_run();
    if (intent && options_.comparison != Comparison::none)
      run_.push_back(std::move(event));
    else
      fold(event);
  }
  void finish_run() {
    if (!run_.empty() && run_.back().seq >= options_.from) compare_run();
    for (const Event& event : std::exchange(run_, {})) fold(event);
  }
  bool stops() const {
    return options_.comparison == Comparison::until_differs && !report_.holds();
  }
  const ReplayReport& report() const { return report_; }
  ReplayReport finish() {
    finish_run();
    return std::move(report_);
  }

 private:
  void fold(const Event& event) {
    if (const auto* checkpoint = std::get_if<Checkpoint>(&event.fact)) check(*checkpoint, event);
    evolve(report_.state, event, touched_);
    if (report_.events == 0) report_.first_time = event.log_time;
    report_.last_time = event.log_time;
    ++report_.events;
  }

  // The intents of a run were planned together, on the state before all of them.
  void compare_run() {
    settle(report_.state, touched_);
    const std::vector<PatchIntended> planned = plan(report_.state, touched_);
    for (const Event& event : run_)
      if (event.seq >= options_.from) compare(event, planned);
  }

  void compare(const Event& event, const std::vector<PatchIntended>& planned) {
    const PatchIntended& recorded = std::get<PatchIntended>(event.fact);
    ++report_.compared;
    const PatchIntended* found = find_target(planned, recorded);
    std::string what = found ? difference_between(recorded, *found) : "nothing is planned";
    if (what.empty()) return;
    // What the hub had planned since its last write is not in the log, and a status waits for other
    // writes of its round: the objects of this write alone decide.
    Touched concerned = around(report_.state, recorded);
    std::vector<PatchIntended> alone = plan(report_.state, concerned);
    const PatchIntended* again = find_target(alone, recorded);
    if (again && difference_between(recorded, *again).empty()) return;
    if (!found && again) {
      found = again;
      what = difference_between(recorded, *again);
    }
    ++report_.differing;
    if (report_.first) return;
    report_.first = Difference{event.seq, event.log_time, std::move(what), recorded,
                               found ? std::optional(*found) : std::nullopt};
  }

  void check(const Checkpoint& checkpoint, const Event& event) {
    if (checkpoint.events == event.seq.value - 1)
      ++report_.checkpoints;
    else if (!report_.bad_checkpoint)
      report_.bad_checkpoint = event.seq;
  }

  const ReplayOptions& options_;
  ReplayReport report_;
  Touched touched_;
  std::vector<Event> run_;
};

}  // namespace

std::string difference_between(const PatchIntended& recorded, const PatchIntended& planned) {
  if (recorded.cluster != planned.cluster) return "cluster";
  if (recorded.verb != planned.verb) return "verb";
  if (recorded.target != planned.target) return "target";
  if (recorded.version != planned.version) return "version";
  if (recorded.field_manager != planned.field_manager) return "fieldManager";
  if (recorded.force != planned.force) return "force";
  if (without_versions(recorded.body) != without_versions(planned.body)) return "body";
  if (recorded.reason != planned.reason) return "reason";
  return "";
}

Result<ReplayReport> replay(const EventLog& log, const ReplayOptions& options) {
  const Seq last = options.to ? std::min(*options.to, log.last_seq()) : log.last_seq();
  Replay replay(options);
  if (last == Seq{}) return replay.finish();
  auto reader = log.read(Seq{1});
  if (!reader) return reader.error();
  for (Seq seq{1}; seq <= last && !replay.stops(); seq = next(seq)) {
    auto event = (*reader)->next();
    if (!event) return event.error();
    if (!*event) break;
    replay.take(std::move(**event));
    if (options.progress && seq.value % kProgressEvents == 0)
      options.progress(seq.value, last.value);
  }
  return replay.finish();
}

}  // namespace fairlead
