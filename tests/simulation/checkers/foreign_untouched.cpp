#include "tests/simulation/checkers/all.h"
#include "tests/simulation/checkers/reading.h"
#include "tests/simulation/world.h"

namespace fairlead::simulation {
namespace {

// What a server changes by itself with each write.
bool is_bookkeeping(const std::string& path) {
  for (const char* own : {"/metadata/managedFields", "/metadata/resourceVersion",
                          "/metadata/generation", "/metadata/uid", "/metadata/creationTimestamp"})
    if (path == own) return true;
  return false;
}

// The paths of the values that differ; lists are compared as a whole.
void differing(const Json& before, const Json& after, const std::string& path,
               std::vector<std::string>& paths) {
  if (before == after || is_bookkeeping(path)) return;
  if (!before.is_object() || !after.is_object()) return paths.push_back(path);
  for (const auto& [key, value] : before.items())
    differing(value, after.contains(key) ? after[key] : Json(), path + "/" + key, paths);
  for (const auto& [key, value] : after.items())
    if (!before.contains(key)) differing(Json(), value, path + "/" + key, paths);
}

bool carries_our_name(const Json& object, const std::string& key) {
  const Json& metadata = object.at("metadata");
  return metadata.value("labels", Json::object()).value("app.kubernetes.io/managed-by", "") ==
             "fairlead" ||
         key.substr(key.find('/') + 1).starts_with("fairlead");
}

// Of what others own only the documented fields change: of a ClusterQueue the nominalQuota and the
// lendingLimit of pairs that a claim has named, of a claim its status, our finalizer and its
// nominalResources, of AdmissionChecks and Workloads the status. Other objects that the hub writes
// are its own, and a member is not written.
class ForeignUntouched final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "foreign_untouched"; }

  void wrote(const SeenWrite& write) override {
    for (const SeenChange& change : write.changes) {
      if (write.by_hub()) judge(write, change);
      if (change.resource == kClaimResource && change.after != nullptr) note_named(*change.after);
    }
  }

 private:
  void note_named(const Json& claim) {
    const auto rows = rows_of(claim, world().configuration().resource_aliases);
    if (!rows) return;
    for (const SeenRow& row : *rows) named_.insert({row.queue, row.pair});
  }

  void judge(const SeenWrite& write, const SeenChange& change) {
    judges();
    const auto refuse = [&](const std::string& what) {
      fail(write.who + " " + write.method + " " + write.server + write.path + ": " + what);
    };
    const bool of_tenant = write.server.starts_with("tenant/");
    if (write.server != kHub && !of_tenant) return refuse("a member is not ours to write");
    if (change.resource == "events." || change.resource == "events.events.k8s.io") return;
    const Json& some = change.after != nullptr ? *change.after : *change.before;
    const bool status_is_ours = change.resource.starts_with("admissionchecks.") ||
                                change.resource.starts_with("workloads.");
    const bool shared = change.resource == kQueueResource || change.resource == kClaimResource ||
                        status_is_ours || of_tenant;
    if (!shared) {
      if (!carries_our_name(some, change.key) ||
          (change.before && change.after && !carries_our_name(*change.before, change.key)))
        refuse("the object is not ours");
      return;
    }
    if (change.resource == kClaimResource && change.before == nullptr) return;  // of a new cluster
    // The server deletes a claim with its last finalizer.
    if (change.resource == kClaimResource && change.after == nullptr &&
        change.before->at("metadata").contains("deletionTimestamp"))
      return;
    if (change.before == nullptr || change.after == nullptr)
      return refuse("it is not ours to create or delete");
    std::vector<std::string> paths;
    differing(*change.before, *change.after, "", paths);
    for (const std::string& path : paths) {
      const bool status = path == "/status" || path.starts_with("/status/");
      if (change.resource == kQueueResource && path == "/spec/resourceGroups")
        judge_groups(*change.before, *change.after, change.key, refuse);
      else if (change.resource == kClaimResource && path == "/metadata/finalizers")
        judge_finalizers(*change.before, *change.after, refuse);
      else if (change.resource == kClaimResource
                   ? !status && !path.starts_with("/spec/nominalResources")
               : status_is_ours ? !status
               : of_tenant      ? !path.starts_with("/metadata/") && !path.starts_with("/spec/")
                                : true)
        refuse("the field " + path + " is not ours");
    }
  }

  template <class Refuse>
  static void judge_finalizers(const Json& before, const Json& after, const Refuse& refuse) {
    const auto others = [](const Json& object) {
      Json rest = Json::array();
      for (const Json& finalizer : object.at("metadata").value("finalizers", Json::array()))
        if (finalizer != "fairlead.io/claim") rest.push_back(finalizer);
      return rest;
    };
    if (others(before) != others(after)) refuse("a finalizer that another writer set");
  }

  // Everything in the list stays but the amounts of named pairs; with the annotation
  // fairlead.io/extend-resource-groups pairs may come.
  template <class Refuse>
  void judge_groups(const Json& before, const Json& after, const std::string& queue,
                    const Refuse& refuse) {
    const auto& aliases = world().configuration().resource_aliases;
    const auto was = nominals_of(before, aliases), is = nominals_of(after, aliases);
    for (const auto& [pair, nano] : was) {
      const auto now = is.find(pair);
      if (now == is.end())
        refuse("the pair " + pair.first + " " + pair.second + " is gone");
      else if (now->second != nano && !named_.contains({queue, pair}))
        refuse("no claim has named the pair " + pair.first + " " + pair.second);
    }
    if (before.at("metadata")
            .value("annotations", Json::object())
            .value("fairlead.io/extend-resource-groups", "") == "true")
      return;
    if (without_amounts(before) != without_amounts(after))
      refuse("order, limits or other fields of the groups are not ours");
  }
  static Json without_amounts(const Json& queue) {
    Json groups = queue.at("spec").value("resourceGroups", Json::array());
    for (Json& group : groups)
      for (Json& flavor : group["flavors"])
        for (Json& resource : flavor["resources"]) {
          resource.erase("nominalQuota");
          resource.erase("lendingLimit");
        }
    return groups;
  }

  std::set<std::pair<std::string, SeenPair>> named_;
};

}  // namespace

std::unique_ptr<Checker> foreign_untouched(const World& world) {
  return std::make_unique<ForeignUntouched>(world);
}

}  // namespace fairlead::simulation
