#include "replay/verify.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/moments.h"
#include "engine/fold/claims/claims.h"
#include "engine/fold/evolve.h"
#include "engine/fold/members/works.h"
#include "engine/fold/writes/record.h"
#include "engine/log/read_ahead.h"
#include "replay/beginning.h"
#include "snapshots/state_codec.h"

namespace fairlead {

namespace {

constexpr std::uint64_t kProgressEvents = 1000;

Json without_versions(const std::string& body) {
  Json parsed = read_json(body);
  if (member(parsed, "metadata").is_object()) {
    parsed["metadata"].erase("uid");
    parsed["metadata"].erase("resourceVersion");
  }
  return parsed;
}

// Returns the "metadata" object of a canonical body, braces included; empty if it has none, or if
// it holds another object (labels), which only the JSON comparison reads.
std::string_view metadata_of(std::string_view body) {
  // Keys of a canonical body are sorted, so the object's own metadata comes before spec and status,
  // in which others may be nested.
  constexpr std::string_view kHead = "\"metadata\":{";
  const std::size_t begin = body.find(kHead);
  if (begin == std::string_view::npos) return {};
  std::size_t at = begin + kHead.size();
  for (bool in_text = false; at < body.size(); ++at) {
    if (body[at] == '\\')
      ++at;
    else if (body[at] == '"')
      in_text = !in_text;
    else if (!in_text && body[at] == '{')
      return {};  // labels: the whole body is parsed instead
    else if (!in_text && body[at] == '}')
      return body.substr(begin, at + 1 - begin);
  }
  return {};
}

// A fast path: nearly all bodies are equal but for uid and resourceVersion, so only the metadata is
// parsed.
bool same_around_metadata(std::string_view recorded, std::string_view planned) {
  const std::string_view a = metadata_of(recorded), b = metadata_of(planned);
  if (a.empty() || b.empty()) return false;
  const std::size_t begin = static_cast<std::size_t>(a.data() - recorded.data());
  return recorded.substr(0, begin) ==
             planned.substr(0, static_cast<std::size_t>(b.data() - planned.data())) &&
         recorded.substr(begin + a.size()) == planned.substr(begin + b.size()) &&
         without_versions("{" + std::string(a) + "}") ==
             without_versions("{" + std::string(b) + "}");
}

bool same_body(const std::string& recorded, const std::string& planned) {
  return recorded == planned || same_around_metadata(recorded, planned) ||
         without_versions(recorded) == without_versions(planned);
}

const PatchIntended* find_target(const std::vector<PatchIntended>& planned,
                                 const PatchIntended& recorded) {
  const WriteKey key = write_key(recorded);
  const auto at = std::find_if(planned.begin(), planned.end(), [&](const PatchIntended& intent) {
    return write_key(intent) == key;
  });
  return at == planned.end() ? nullptr : &*at;
}

// Returns the objects whose planning can lead to this write.
DirtySet around(const State& state, const PatchIntended& intent) {
  DirtySet dirty;
  const auto kind = written_kind(intent.target.kind);
  dirty.everything = !kind;
  if (!kind) return dirty;
  switch (*kind) {
    case WrittenKind::cluster_queue: dirty.queues.insert(intent.target.name); break;
    case WrittenKind::manifest_work: dirty.clusters.insert(intent.target.namespace_); break;
    case WrittenKind::binding_policy:
      dirty.clusters.insert(cluster_of_policy(intent.target.name));
      break;
    case WrittenKind::claim:
      if (state.claims.by_name.contains(intent.target.name))
        dirty.claims.insert(intent.target.name);
      else  // a new claim is planned with its cluster
        dirty.clusters.insert(cluster_of_new_claim(intent.target.name));
      break;
    case WrittenKind::multikueue_config: dirty.placements.insert(intent.target.name); break;
    case WrittenKind::multikueue_cluster:
      dirty.workers.insert(intent.target.name);
      for (const auto& [placement, list] : state.multikueue.lists)
        if (list.workers.contains(intent.target.name)) dirty.placements.insert(placement);
      break;
    case WrittenKind::admission_check: dirty.checks.insert(intent.target.name); break;
    case WrittenKind::workload:
      dirty.workloads.insert({intent.target.namespace_, intent.target.name});
      break;
    case WrittenKind::fleet_resource_claim:
      dirty.fleet_claims.insert({intent.target.namespace_, intent.target.name});
      break;
    case WrittenKind::fleet_scheduling:
      dirty.fleet_schedulings.insert({intent.target.namespace_, intent.target.name});
      break;
    case WrittenKind::namespace_:
      dirty.pool_namespaces.emplace(tenant_of(intent.cluster), intent.target.name);
      break;
    case WrittenKind::pod:
      dirty.pool_pods.insert(
          {std::string(tenant_of(intent.cluster)), intent.target.namespace_, intent.target.name});
      break;
  }
  return dirty;
}

// Folds events and plans again where the log has intents.
class Replay {
 public:
  Replay(const ReadableLog& log, const ReplayOptions& options, State start)
      : log_(log), options_(options) {
    report_.begin = next(start.seq);
    moments_.restore(std::move(start));
    // What was dirty in `start` is not stored, so the first plan is one of everything.
    moments_.mark_all();
  }

  void consume(const Event& event) {
    // A round of planning ends with its last intent, so any other event, and another time, ends a
    // run.
    const bool intent = std::holds_alternative<PatchIntended>(event.fact);
    if (!run_.empty() && (!intent || run_.front().log_time != event.log_time)) finish_run();
    if (intent && options_.comparison != Comparison::none)
      run_.push_back(event);
    else
      fold(event);
  }
  // Only planned if one of its intents is in the range: planning costs far more than folding.
  void finish_run() {
    if (!run_.empty() && run_.back().seq >= options_.from) compare_run();
    for (const Event& event : std::exchange(run_, {})) fold(event);
  }
  bool stops() const {
    return options_.comparison == Comparison::until_differs && !report_.holds();
  }
  const State& state() const { return moments_.state(); }
  ReplayReport finish(std::uint64_t not_compared) {
    finish_run();
    report_.not_compared = not_compared;
    report_.state = moments_.release_state();
    return std::move(report_);
  }

 private:
  void fold(const Event& event) {
    if (const auto* epoch = std::get_if<EpochStarted>(&event.fact))
      fold_version_ = epoch->fold_version;
    if (const auto* checkpoint = std::get_if<Checkpoint>(&event.fact)) check(*checkpoint, event);
    moments_.appended(event);
    if (report_.events == 0) report_.first_time = event.log_time;
    report_.last_time = event.log_time;
    ++report_.events;
  }

  // The intents of a run were planned together, on the state before all of them, so the run is
  // planned once before its first event is folded.
  void compare_run() {
    moments_.close();
    const std::vector<PatchIntended> planned = moments_.planned();
    for (const Event& event : run_)
      if (event.seq >= options_.from) compare(event, planned);
  }

  void compare(const Event& event, const std::vector<PatchIntended>& planned) {
    const PatchIntended& recorded = std::get<PatchIntended>(event.fact);
    ++report_.compared;
    const PatchIntended* found = find_target(planned, recorded);
    std::string what = found ? difference_between(recorded, *found) : "nothing is planned";
    if (what.empty()) return;
    // Not yet a difference: the hub may have planned other objects since its last write, which the
    // log does not show, and a status waits for the other writes of its round. So plan again with
    // the objects of this write alone.
    const std::vector<PatchIntended> alone = moments_.planned_alone(around(state(), recorded));
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

  // The Checkpoint is not folded yet: it is about state(), or about the State at the last one
  // without a digest of State, which was still being computed then.
  void check(const Checkpoint& checkpoint, const Event& event) {
    const Seq about{checkpoint.events};
    const bool ours = fold_version_ == kFoldVersion;
    const bool here = about == state().seq;
    if (here) noted_ = {about, ours ? state_digest(state()) : Digest{}};
    const bool not_folded = next(about) < report_.begin;  // the replay began between the two
    const auto chain = log_.chain_at(about);
    if (!chain && not_folded) return;
    const bool same_state = !ours || not_folded || checkpoint.state == noted_.state ||
                            (here && checkpoint.state == Digest{});
    const bool holds =
        chain && *chain == checkpoint.log && (about == noted_.about || not_folded) && same_state;
    if (holds)
      ++report_.checkpoints;
    else if (!report_.bad_checkpoint)
      report_.bad_checkpoint = event.seq;
  }

  /// The State that a Checkpoint directly behind it was about.
  struct Noted {
    Seq about;
    Digest state;
  };

  const ReadableLog& log_;
  const ReplayOptions& options_;
  std::uint32_t fold_version_ = kFoldVersion;  // fold version of the program that wrote the events
  Noted noted_;
  ReplayReport report_;
  Moments moments_;
  std::vector<Event> run_;
};

// Chooses the state to begin with: the newest snapshot that `from` allows, else the log's
// beginning.
Result<State> starting_state(const ReadableLog& log, const SnapshotSource* snapshots, Seq from) {
  auto newest = newest_of(log, snapshots, Seq{from.value > 0 ? from.value - 1 : 0});
  if (!newest) return newest.error();
  if (*newest && can_go_on(log, (*newest)->state)) return std::move((*newest)->state);
  if (log.first_seq() <= Seq{1}) return State{};
  auto oldest = oldest_beginning(log, snapshots);
  if (!oldest) return oldest.error();
  return *oldest ? std::move((*oldest)->state) : State{};
}

// Counts the intents of the range that come before the first state.
Result<std::uint64_t> intents_before(const ReadableLog& log, Seq begin, Seq from, Seq last) {
  std::uint64_t intents = 0;
  from = std::max(from, log.first_seq());
  if (from >= begin || from > last) return intents;
  const auto reader = log.read(from);
  if (!reader) return reader.error();
  for (;;) {
    const auto event = (*reader)->next();
    if (!event) return event.error();
    if (!*event || (*event)->seq > last || (*event)->seq >= begin) return intents;
    if (std::holds_alternative<PatchIntended>((*event)->fact)) ++intents;
  }
}

}  // namespace

std::string difference_between(const PatchIntended& recorded, const PatchIntended& planned) {
  if (recorded.cluster != planned.cluster) return "cluster";
  if (recorded.verb != planned.verb) return "verb";
  if (recorded.target != planned.target) return "target";
  if (recorded.version != planned.version) return "version";
  if (recorded.field_manager != planned.field_manager) return "fieldManager";
  if (recorded.force != planned.force) return "force";
  if (!same_body(recorded.body, planned.body)) return "body";
  if (recorded.reason != planned.reason) return "reason";
  return "";
}

Result<ReplayReport> replay(const ReadableLog& log, const SnapshotSource* snapshots,
                            const ReplayOptions& options) {
  const Seq last = options.to ? std::min(*options.to, log.last_seq()) : log.last_seq();
  auto start = starting_state(log, snapshots, options.from);
  if (!start) return start.error();
  const Seq begin = next(start->seq);
  if (auto possible = can_go_on(log, *start); !possible) return possible.error();
  const auto before = options.comparison == Comparison::none
                          ? Result<std::uint64_t>(0)
                          : intents_before(log, begin, options.from, last);
  if (!before) return before.error();
  Replay replay(log, options, *std::move(start));
  if (begin > last) return replay.finish(*before);
  auto opened = log.read(begin);
  if (!opened) return opened.error();
  const auto reader = read_ahead(*std::move(opened));
  EventBatch batch;
  for (;;) {
    const auto read = reader->next_batch(batch);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const std::span<const Event> rest = batch.events().subspan(i);
      const Event& event = rest.front();
      if (i % kPrefetchEvents == 0) prefetch(replay.state(), rest);
      if (event.seq > last || replay.stops()) return replay.finish(*before);
      replay.consume(event);
      if (event.seq.value % kProgressEvents != 0) continue;
      if (options.progress) options.progress(event.seq.value, last.value);
      if (options.cancelled && options.cancelled()) return replay.finish(*before);
    }
    if (!read) return read.error();
    if (batch.size() == 0) break;
  }
  return replay.finish(*before);
}

}  // namespace fairlead
