#include "tests/simulation/incident.h"

#include <algorithm>
#include <set>
#include <utility>

#include "connectors/kube/resource_path.h"
#include "replay/bundle/bundle.h"
#include "tests/simulation/incident_objects.h"
#include "tests/simulation/world.h"

namespace fairlead::simulation {
namespace {

constexpr Duration kAgain = seconds(30);

// A merge patch of `before` that makes `after` of it.
Json patch_between(const Json& before, const Json& after) {
  if (!before.is_object() || !after.is_object()) return after;
  Json patch = Json::object();
  for (const auto& [name, value] : after.items()) {
    const Json& known = member(before, name.c_str());
    if (known == value) continue;
    patch[name] = patch_between(known, value);
  }
  for (const auto& [name, value] : before.items())
    if (!after.contains(name)) patch[name] = nullptr;
  return patch;
}

class IncidentReader {
 public:
  explicit IncidentReader(Incident& incident) : incident_(incident) {}

  void read(const Event& event) {
    if (!began_) began_ = event.log_time;
    incident_.span = event.log_time - *began_;
    if (const auto* seen = std::get_if<ObjectObserved>(&event.fact)) {
      observed(event, *seen);
    } else if (const auto* gone = std::get_if<ObjectGone>(&event.fact)) {
      const Object place{event.source, gone->key};
      made_by_hub_.erase(place);
      if (objects_.erase(place) > 0)
        incident_.steps.push_back(
            {incident_.span, event.source, gone->key, versions_[place], {}, {}});
    } else if (const auto* intent = std::get_if<PatchIntended>(&event.fact)) {
      if (intent->expected)
        open_[event.seq] = {{intent->cluster, intent->target},
                            object_with(intent->target, intent->version, *intent->expected)};
    } else if (const auto* accepted = std::get_if<PatchAccepted>(&event.fact)) {
      if (const auto at = open_.find(accepted->intent); at != open_.end()) {
        ours_.emplace(at->second.first, accepted->resource_version);
        open_.erase(at);
      }
    } else if (const auto* rejected = std::get_if<PatchRejected>(&event.fact)) {
      open_.erase(rejected->intent);
    } else if (const auto* changed = std::get_if<ConfigChanged>(&event.fact)) {
      incident_.configuration = changed->configuration;
    }
  }
  std::vector<std::string> members() const { return {members_.begin(), members_.end()}; }

 private:
  using Object = std::pair<SourceName, ObjectKey>;

  void observed(const Event& event, const ObjectObserved& seen) {
    const Object place{event.source, seen.key};
    auto object =
        is_tenant(event.source) ? std::nullopt : object_with(seen.key, seen.version, seen.facts);
    if (!object) {
      ++incident_.left_out[std::string(info(seen.key.kind).name)];
      return;
    }
    if (event.source != kHub) members_.insert(event.source);
    const auto known = objects_.find(place);
    const bool ours = is_ours(place, seen, *object);
    if (ours && known == objects_.end()) made_by_hub_.insert(place);
    Json patch = patch_between(known == objects_.end() ? Json() : known->second, *object);
    objects_[place] = *object;
    versions_[place] = seen.version;
    if (ours || patch.empty()) return;
    if (made_by_hub_.contains(place)) object = Json();
    incident_.steps.push_back({incident_.span, event.source, seen.key, seen.version,
                               std::move(patch), *std::move(object)});
  }
  // The answer to a write names its version, unless the watch was faster.
  bool is_ours(const Object& place, const ObjectObserved& seen, const Json& object) const {
    return ours_.contains({place, seen.resource_version}) ||
           std::ranges::any_of(open_, [&](const auto& intent) {
             return intent.second.first == place && intent.second.second == object;
           });
  }

  Incident& incident_;
  std::optional<LogTime> began_;
  std::map<Object, Json> objects_;
  std::map<Object, std::string> versions_;                      ///< of the API
  std::map<Seq, std::pair<Object, std::optional<Json>>> open_;  ///< intents without an answer
  std::set<std::pair<Object, std::string>> ours_;               ///< versions that our writes made
  std::set<Object> made_by_hub_;
  std::set<std::string> members_;
};

}  // namespace

Result<IncidentRef> incident_of(const ReadableLog& log) {
  auto incident = std::make_shared<Incident>();
  IncidentReader into(*incident);
  auto reader = log.read(log.first_seq());
  if (!reader) return reader.error();
  for (;;) {
    const auto event = (*reader)->next();
    if (!event) return event.error();
    if (!*event) break;
    into.read(**event);
  }
  incident->members = into.members();
  return IncidentRef(std::move(incident));
}

Result<IncidentRef> read_incident(const std::filesystem::path& file) {
  auto bundle = open_bundle(file);
  if (!bundle) return bundle.error();
  return incident_of(BundleLog(*std::move(bundle)));
}

std::string Incident::summary() const {
  std::string text = "incident: " + std::to_string(members.size()) + " members, " +
                     std::to_string(steps.size()) + " changes in " + to_go_duration(span);
  for (const auto& [kind, count] : left_out)
    text += ", left out " + std::to_string(count) + " of " + kind;
  return text;
}

Reenactment::Reenactment(World& world, IncidentRef incident)
    : world_(world), incident_(std::move(incident)) {
  for (const IncidentStep& step : incident_->steps) {
    if (step.at == Duration{}) {
      happen(step);
      continue;
    }
    world_.time().post(step.at, [this, ended = ended_, &step] {
      if (!*ended) happen(step);
    });
  }
}

void Reenactment::happen(const IncidentStep& step) {
  const Place place{step.server, resource_path(info(step.key.kind), step.version,
                                               step.key.namespace_, step.key.name)};
  if (step.patch.is_null()) return remove(place);
  Wanted& wanted = objects_[place];
  wanted.whole = step.whole;
  wanted.patch.merge_patch(step.patch);
  deleted_.erase(place);
  put(place, step.patch, step.whole);
}

Server* Reenactment::server_called(const SourceName& name) {
  for (std::int64_t at = 0; at < world_.servers(); ++at)
    if (world_.server(at).name() == name) return &world_.server(at);
  return nullptr;
}

void Reenactment::remove(const Place& place) {
  objects_.erase(place);
  deleted_.insert(place);
  const auto& [name, path] = place;
  Server* const server = server_called(name);
  if (server != nullptr && !server->read(path).is_null())
    server->try_write("incident", "DELETE", path, nullptr);
}

void Reenactment::put(const Place& place, const Json& patch, const Json& whole) {
  const auto& [name, path] = place;
  Server* const server = server_called(name);
  if (server == nullptr) return;
  const bool is_new = server->read(path).is_null();
  if (is_new && whole.is_null()) {  // who edits what is not there yet tries again
    world_.time().post(kAgain, [this, place, patch] {
      if (objects_.contains(place)) put(place, patch, {});
    });
    return;
  }
  const Json& change = is_new ? whole : patch;
  const std::string space = text_in(member(whole, "metadata"), "namespace");
  const std::string space_path = "/api/v1/namespaces/" + space;
  if (!space.empty() && server->read(space_path).is_null())
    server->try_write("incident", "POST", "/api/v1/namespaces", {{"metadata", {{"name", space}}}});
  if (is_new)
    server->try_write("incident", "POST", path.substr(0, path.rfind('/')), whole);
  else
    server->try_write("incident", "PATCH", path, patch);
  if (change.contains("status"))
    server->try_write("incident", "PATCH", path + "/status", {{"status", change["status"]}});
}

void Reenactment::say_again(const SourceName& server) {
  const std::set<Place> unwanted = deleted_;
  for (const Place& place : unwanted)
    if (std::get<0>(place) == server) remove(place);
  for (const auto& [place, wanted] : objects_)
    if (std::get<0>(place) == server) put(place, wanted.patch, wanted.whole);
}

}  // namespace fairlead::simulation
