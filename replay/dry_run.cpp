#include "replay/dry_run.h"

#include <algorithm>

#include "engine/fold/evolve.h"
#include "engine/plan/emit.h"
#include "schema/claim_status.h"
#include "schema/codec.h"

namespace fairlead {

namespace {

void merge_into(Json& live, const Json& applied);

// Returns the key field of a list of x-kubernetes-list-type map of which others own entries too;
// null if the list is replaced as a whole. Every other list that we apply is atomic, or has no
// other owner.
const char* key_of_list(const std::string& field) {
  if (field == "conditions") return "type";
  if (field == "admissionChecks") return "name";
  return nullptr;
}

void merge_by_key(Json& live, const Json& applied, const char* key) {
  for (const Json& entry : applied) {
    const auto same = std::find_if(live.begin(), live.end(), [&](const Json& old) {
      return old.is_object() && old.value(key, Json()) == entry.value(key, Json());
    });
    if (same == live.end())
      live.push_back(entry);
    else
      merge_into(*same, entry);
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
    else if (const char* list_key = key_of_list(key); list_key && target.is_array())
      merge_by_key(target, value, list_key);
    else if (key == "finalizers" && target.is_array())
      merge_set(target, value);
    else
      target = value;
  }
}

// Removes the status from an input claim unless it was wiped: only the wipe is compared with the
// assumed writes, because any other status in the input belongs to the hub that it was recorded
// from. An object without a resourceVersion is written by hand and leaves the status out; an object
// with the resourceVersion of an earlier line has not changed.
void leave_status_unless_wiped(ObjectSeen& seen, const std::string& version_before) {
  auto* claim = std::get_if<ClaimFacts>(&seen.facts);
  if (!claim) return;
  const bool later = !seen.resource_version.empty() && seen.resource_version != version_before;
  if (!later || claim->status_digest != digest_of_wiped_claim_status()) claim->status_digest = {};
}

// A JSON merge patch (RFC 7386).
void merge_patch(Json& live, const Json& patch) { live.merge_patch(patch); }

}  // namespace

Json merge_applied(Json live, const Json& applied) {
  if (!live.is_object()) live = Json::object();
  merge_into(live, applied);
  return live;
}

DryRun::DryRun(EventLog& log, DryRunOptions options)
    : log_(log), options_(std::move(options)), hub_(ports(), options_.feedback) {}

VirtualPorts DryRun::ports() {
  VirtualPorts ports;
  ports.append = [this](std::vector<EventDraft> drafts, LogTime at) {
    return log_.append(drafts, at, Epoch{1});
  };
  ports.newest_version = [this](const std::string& cluster, const ObjectKey& key) {
    const auto version = versions_.find({cluster, key});
    return version == versions_.end() ? std::string() : version->second;
  };
  ports.accepted = [this](const PatchIntended& intent, const std::string& uid,
                          const std::string& version) { keep_object(intent, uid, version); };
  ports.gone = [this](const PatchIntended& intent) { forget_object(intent); };
  return ports;
}

Result<void> DryRun::begin(LogTime at) {
  std::vector<EventDraft> drafts;
  drafts.push_back({std::string(kSelf),
                    {},
                    EpochStarted{"plan", FAIRLEAD_VERSION, kFoldVersion, kSchemaVersion}});
  drafts.push_back({std::string(kSelf), {}, ConfigChanged{options_.configuration}});
  return hub_.append(at, std::move(drafts));
}

bool DryRun::assumes_clearing_policy(const std::vector<InputLine>& lines) const {
  const MultiKueueSettings& settings = options_.configuration.multikueue;
  return settings.dispatcher && settings.cleared_by == ClearedBy::policy &&
         std::none_of(lines.begin(), lines.end(), [](const InputLine& line) {
           return line.cluster == kHub && line.seen &&
                  line.seen->key.kind == Kind::mutating_admission_policy;
         });
}

// The policy of docs/dispatcher/clear-nominations.yaml.
Result<void> DryRun::assume_clearing_policy() {
  ObjectSeen policy;
  policy.key = {Kind::mutating_admission_policy, "", "fairlead-clear-nominations"};
  policy.version = "v1";
  policy.facts = MutatingAdmissionPolicyFacts{.clears_nominations = true};
  if (auto offered = hub_.offer({std::string(kHub), std::move(policy)}); !offered)
    return offered.error();
  return {};
}

Result<void> DryRun::run(const std::vector<InputLine>& lines) {
  const LogTime first = lines.empty() ? LogTime{} : lines.front().time;
  if (auto begun = begin(first); !begun) return begun;
  if (assumes_clearing_policy(lines))
    if (auto done = assume_clearing_policy(); !done) return done;
  for (const InputLine& line : lines) {
    if (options_.until && line.time > *options_.until) break;
    if (line.time > hub_.now())
      if (auto done = hub_.run_to(line.time); !done) return done;
    if (auto done = apply_line(line); !done) return done;
  }
  // run_to() runs the deadlines before its time, and `until` is to be included.
  return hub_.run_to(options_.until ? *options_.until + Duration{1} : kForever);
}

void DryRun::remember_input(const InputLine& line) {
  if (!line.seen) return;
  const Key key{line.cluster, line.seen->key};
  if (line.type == InputType::deleted) {
    objects_.erase(key);
    versions_.erase(key);
    line_versions_.erase(key);
    written_.erase({line.cluster, line.api_version, line.kind, line.namespace_, line.name});
    return;
  }
  versions_[key] = line_versions_[key] = line.resource_version;
  Json object = line.object;
  if (object.contains("metadata")) object["metadata"].erase("managedFields");
  const auto written =
      written_.find({line.cluster, line.api_version, line.kind, line.namespace_, line.name});
  // An object that a write has touched is shown as the input shows it from then on.
  if (written != written_.end()) written->second = object;
  objects_[key] = std::move(object);
}

Result<void> DryRun::apply_line(const InputLine& line) {
  switch (line.type) {
    case InputType::source_stale:
    case InputType::source_lost:
    case InputType::source_synced: return apply_control(line);
    case InputType::error: return {};
    case InputType::bookmark: {
      const std::size_t slash = line.api_version.find('/');
      const std::string group = slash == std::string::npos ? "" : line.api_version.substr(0, slash);
      const auto kind = find_kind(group, line.kind);
      if (!kind) return {};
      if (auto offered = hub_.offer({line.cluster, StreamAlive{*kind, line.resource_version}});
          !offered)
        return offered.error();
      return {};
    }
    case InputType::added:
    case InputType::modified:
    case InputType::deleted: break;
  }
  if (!line.seen) return {};
  WatchFact fact{line.cluster, *line.seen};
  // With the version of the line before, not of an assumed write: remember_input() replaces it
  // below.
  leave_status_unless_wiped(std::get<ObjectSeen>(fact.said),
                            line_versions_[{line.cluster, line.seen->key}]);
  if (line.type == InputType::deleted)
    fact.said = ObjectMissing{line.seen->key, line.seen->uid, line.seen->resource_version};
  auto newer = hub_.offer(std::move(fact));
  if (!newer) return newer.error();
  if (*newer) remember_input(line);
  return {};
}

Result<void> DryRun::apply_control(const InputLine& line) {
  EventDraft draft{line.cluster, {}, SourceSynced{std::nullopt, line.cluster, ""}};
  if (line.type == InputType::source_stale) draft.fact = SourceStale{std::nullopt, line.cluster};
  if (line.type == InputType::source_lost) draft.fact = SourceLost{std::nullopt, line.cluster};
  std::vector<EventDraft> drafts;
  drafts.push_back(std::move(draft));
  return hub_.append(hub_.now(), std::move(drafts));
}

void DryRun::keep_object(const PatchIntended& intent, const std::string& uid,
                         const std::string& version) {
  const Key key{intent.cluster, intent.target};
  const ObjectId id{intent.cluster, api_version(intent.target.kind, intent.version),
                    std::string(info(intent.target.kind).name), intent.target.namespace_,
                    intent.target.name};
  if (intent.verb == Verb::remove) {
    forget_object(intent);
    return;
  }
  Json object = objects_.contains(key) ? objects_[key] : Json::object();
  const Json body = read_own_json(intent.body);
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

void DryRun::forget_object(const PatchIntended& intent) {
  objects_.erase({intent.cluster, intent.target});
  versions_.erase({intent.cluster, intent.target});
  written_.erase({intent.cluster, api_version(intent.target.kind, intent.version),
                  std::string(info(intent.target.kind).name), intent.target.namespace_,
                  intent.target.name});
}

}  // namespace fairlead
