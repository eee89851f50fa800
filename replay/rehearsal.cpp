#include "replay/rehearsal.h"

#include <algorithm>

#include "engine/fold/cluster.h"
#include "engine/fold/evolve.h"
#include "engine/plan/emit.h"

namespace fairlead {

namespace {

std::string made_uid(Seq seq) {
  std::string digits = std::to_string(seq.value);
  if (digits.size() < 12) digits.insert(0, 12 - digits.size(), '0');
  return "00000000-0000-4000-8000-" + digits;
}

void merge_conditions(Json& live, const Json& applied) {
  for (const Json& condition : applied) {
    const auto same = std::find_if(live.begin(), live.end(), [&](const Json& old) {
      return old.is_object() && old.value("type", Json()) == condition.value("type", Json());
    });
    if (same == live.end())
      live.push_back(condition);
    else
      *same = condition;
  }
}

void merge_set(Json& live, const Json& applied) {
  for (const Json& entry : applied)
    if (std::find(live.begin(), live.end(), entry) == live.end()) live.push_back(entry);
}

void merge_into(Json& live, const Json& applied) {
  for (const auto& [key, value] : applied.items()) {
    Json& target = live[key];
    if (value.is_object() && target.is_object())
      merge_into(target, value);
    else if (key == "conditions" && target.is_array())
      merge_conditions(target, value);
    else if (key == "finalizers" && target.is_array())
      merge_set(target, value);
    else
      target = value;
  }
}

// A JSON merge patch (RFC 7386).
void merge_patch(Json& live, const Json& patch) { live.merge_patch(patch); }

std::string cluster_of(const WatchFact& fact, const ObjectKey& key) {
  return fact.source == kHub ? key.name : fact.source;
}

std::optional<ObjectKey> object_of(const WatchFact& fact) {
  if (const auto* seen = std::get_if<ObjectSeen>(&fact.said)) return seen->key;
  if (const auto* missing = std::get_if<ObjectMissing>(&fact.said)) return missing->key;
  return std::nullopt;
}

}  // namespace

Json merge_applied(Json live, const Json& applied) {
  if (!live.is_object()) live = Json::object();
  merge_into(live, applied);
  return live;
}

Rehearsal::Rehearsal(EventLog& log, RehearsalOptions options)
    : log_(log), options_(std::move(options)) {}

Result<std::vector<Event>> Rehearsal::commit(std::vector<EventDraft> drafts) {
  auto events = log_.append(drafts, now_, Epoch{1});
  if (!events) return events;
  for (const Event& event : *events) evolve(state_, event, touched_);
  decided_ = false;
  return events;
}

Result<void> Rehearsal::begin(LogTime at) {
  now_ = at;
  std::vector<EventDraft> drafts;
  drafts.push_back(
      {std::string(kSelf), {}, EpochStarted{"plan", FAIRLEAD_VERSION, kFoldVersion, 1}});
  drafts.push_back({std::string(kSelf), {}, ConfigChanged{options_.configuration}});
  if (auto done = commit(std::move(drafts)); !done) return done.error();
  return {};
}

Result<void> Rehearsal::run(const std::vector<InputLine>& lines) {
  const LogTime first = lines.empty() ? LogTime{} : lines.front().time;
  if (auto begun = begin(first); !begun) return begun;
  for (const InputLine& line : lines) {
    if (options_.until && line.time > *options_.until) break;
    if (line.time > now_) {
      if (auto done = decide(); !done) return done;
      if (auto done = advance_to(line.time); !done) return done;
      now_ = line.time;
    }
    if (auto done = take_line(line); !done) return done;
  }
  if (auto done = decide(); !done) return done;
  const LogTime end = options_.until ? *options_.until + Duration{1} : kForever;
  return advance_to(end);
}

// Runs every deadline before `time`.
Result<void> Rehearsal::advance_to(LogTime time) {
  for (;;) {
    const LogTime due = std::min(coalescer_.next_due(), state_.deadlines.next());
    if (due >= time || due == kForever) return {};
    now_ = std::max(now_, due);
    for (const WatchFact& fact : coalescer_.take_due(now_))
      if (auto done = take_fact(fact); !done) return done;
    if (decided_ && state_.deadlines.next() <= now_)
      if (auto fired = commit({{std::string(kSelf), {}, TimerFired{due}}}); !fired)
        return fired.error();
    if (auto done = decide(); !done) return done;
  }
}

void Rehearsal::remember_input(const InputLine& line) {
  if (!line.seen) return;
  const Key key{line.cluster, line.seen->key};
  if (line.type == InputType::deleted) {
    objects_.erase(key);
    versions_.erase(key);
    written_.erase({line.cluster, line.api_version, line.kind, line.namespace_, line.name});
    return;
  }
  versions_[key] = line.resource_version;
  Json object = line.object;
  if (object.contains("metadata")) object["metadata"].erase("managedFields");
  const auto written =
      written_.find({line.cluster, line.api_version, line.kind, line.namespace_, line.name});
  if (written != written_.end()) written->second = object;
  objects_[key] = std::move(object);
}

Result<void> Rehearsal::take_line(const InputLine& line) {
  switch (line.type) {
    case InputType::source_stale:
    case InputType::source_lost:
    case InputType::source_synced: return take_control(line);
    case InputType::error: return {};
    case InputType::bookmark: {
      const std::size_t slash = line.api_version.find('/');
      const std::string group = slash == std::string::npos ? "" : line.api_version.substr(0, slash);
      const auto kind = find_kind(group, line.kind);
      if (!kind) return {};
      return take_fact({line.cluster, StreamAlive{*kind, line.resource_version}});
    }
    case InputType::added:
    case InputType::modified:
    case InputType::deleted: break;
  }
  if (!line.seen) return {};
  WatchFact fact{line.cluster, *line.seen};
  if (line.type == InputType::deleted)
    fact.said = ObjectMissing{line.seen->key, line.seen->uid, line.seen->resource_version};
  const std::uint64_t older = ingest_.counts().older;
  const auto passes = coalescer_.offer(fact, now_);
  if (passes)
    if (auto done = take_fact(*passes); !done) return done;
  if (ingest_.counts().older == older) remember_input(line);
  return {};
}

Result<void> Rehearsal::take_fact(const WatchFact& fact) {
  auto draft = ingest_.take(state_, fact);
  if (!draft) return {};
  if (auto done = commit({std::move(*draft)}); !done) return done.error();
  if (const auto key = object_of(fact))
    coalescer_.passed(fact, now_, settings_of(state_, cluster_of(fact, *key)).ingest_coalesce);
  return {};
}

Result<void> Rehearsal::take_control(const InputLine& line) {
  EventDraft draft{line.cluster, {}, SourceSynced{std::nullopt, line.cluster, ""}};
  if (line.type == InputType::source_stale) draft.fact = SourceStale{std::nullopt, line.cluster};
  if (line.type == InputType::source_lost) draft.fact = SourceLost{std::nullopt, line.cluster};
  if (auto done = commit({std::move(draft)}); !done) return done.error();
  return {};
}

// Closes the present moment and writes until nothing is left to write.
Result<void> Rehearsal::decide() {
  for (const WatchFact& fact : coalescer_.take_due(now_))
    if (auto done = take_fact(fact); !done) return done;
  while (!decided_) {
    settle(state_, touched_);
    decided_ = true;
    std::vector<EventDraft> drafts;
    for (PatchIntended& intent : plan(state_, touched_)) {
      const auto version = versions_.find({intent.cluster, intent.target});
      if (version != versions_.end()) carry_version(intent, version->second);
      drafts.push_back({std::string(kSelf), {}, std::move(intent)});
    }
    if (drafts.empty()) return {};
    auto events = commit(std::move(drafts));
    if (!events) return events.error();
    for (const Event& event : *events) {
      writes_.push_back({event.seq, event.log_time, std::get<PatchIntended>(event.fact)});
      if (options_.feedback == Feedback::assumed)
        if (auto done = answer(event); !done) return done;
    }
  }
  return {};
}

Result<void> Rehearsal::answer(const Event& event) {
  const PatchIntended& intent = std::get<PatchIntended>(event.fact);
  const std::string uid = intent.uid.empty() ? made_uid(event.seq) : intent.uid;
  const std::string version = std::to_string(event.seq.value);
  const int code = intent.verb == Verb::create ? 201 : 200;
  if (auto done =
          commit({{std::string(kSelf), event.seq, PatchAccepted{event.seq, code, uid, version}}});
      !done)
    return done.error();
  keep_object(intent, uid, version);
  return come_back(intent, event.seq, uid);
}

void Rehearsal::keep_object(const PatchIntended& intent, const std::string& uid,
                            const std::string& version) {
  const Key key{intent.cluster, intent.target};
  const ObjectId id{intent.cluster, api_version(intent.target.kind, intent.version),
                    std::string(info(intent.target.kind).name), intent.target.namespace_,
                    intent.target.name};
  if (intent.verb == Verb::remove) {
    objects_.erase(key);
    written_.erase(id);
    return;
  }
  Json object = objects_.contains(key) ? objects_[key] : Json::object();
  const Json body = Json::parse(intent.body);
  if (intent.verb == Verb::patch)
    merge_patch(object, body);
  else
    object = merge_applied(std::move(object), body);
  object["metadata"]["uid"] = uid;
  object["metadata"]["resourceVersion"] = version;
  versions_[key] = version;
  written_[id] = object;
  objects_[key] = std::move(object);
}

// The watch shows what the write left: the facts that the intent expects.
Result<void> Rehearsal::come_back(const PatchIntended& intent, Seq seq, const std::string& uid) {
  const Key key{intent.cluster, intent.target};
  const std::string version = std::to_string(seq.value);
  const auto gone = [&]() -> Result<void> {
    objects_.erase(key);
    written_.erase({intent.cluster, api_version(intent.target.kind, intent.version),
                    std::string(info(intent.target.kind).name), intent.target.namespace_,
                    intent.target.name});
    if (auto done = commit({{intent.cluster, seq, ObjectGone{intent.target, uid, version}}}); !done)
      return done.error();
    return {};
  };
  if (intent.verb == Verb::remove) return gone();
  ObjectObserved seen{intent.target, intent.version, uid, version, 1, *intent.expected, {}};
  if (auto* work = std::get_if<ManifestWorkFacts>(&seen.facts)) {
    const auto at = state_.clusters.find(intent.target.namespace_);
    const bool quota = intent.target.name == "fairlead-quota";
    const std::int64_t before =
        at == state_.clusters.end()
            ? 0
            : (quota ? at->second.quota_work : at->second.queue_work).generation;
    seen.generation = before + 1;
    work->applied = work->available = {ConditionStatus::yes, "", seen.generation};
  } else if (const auto queue = state_.queues.find(intent.target.name);
             intent.target.kind == Kind::cluster_queue && queue != state_.queues.end()) {
    seen.generation = queue->second.generation + 1;
  } else if (const auto claim = state_.claims.find(intent.target.name);
             intent.target.kind == Kind::claim && claim != state_.claims.end()) {
    seen.generation = claim->second.generation;
  }
  if (const auto* claim = std::get_if<ClaimFacts>(&seen.facts);
      claim && claim->deleting && claim->finalizers.empty())
    return gone();
  if (auto done = commit({{intent.cluster, seq, std::move(seen)}}); !done) return done.error();
  return {};
}

}  // namespace fairlead
