#include "engine/fold/devices/device_resources.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "engine/fold/capacity/capacity.h"
#include "engine/fold/cluster_state.h"

namespace fairlead {

namespace {

// The class of each extended resource: the newest of those that give it.
std::map<std::string, std::string> newest_classes(const Cluster& cluster,
                                                  const std::set<std::string>& mapped) {
  std::map<std::string, std::string> newest;  // resource -> class
  for (const auto& [name, record] : cluster.devices.classes) {
    const std::string& resource = record.facts.extended_resource;
    if (resource.empty() || mapped.contains(name)) continue;
    const auto [at, first] = newest.try_emplace(resource, name);
    // Classes come by name: of two that are equally old the first stays.
    if (!first && record.facts.created > cluster.devices.classes.at(at->second).facts.created)
      at->second = name;
  }
  return newest;
}

// What no class's selectors may be: not understood. Returns it for a person, or an empty text.
std::string not_understood(const NamingClass& made, const DeviceClassFacts& facts) {
  for (const DeviceSelector& selector : facts.selectors)
    if (!selector.cel) return "a selector that is no CEL expression";
  for (const CelSelector& selector : made.selectors)
    if (!selector.supported()) return selector.unsupported();
  return {};
}

class Naming {
 public:
  Naming(CountReader state, Cluster& cluster) : state_(state), cluster_(cluster) {}

  DeviceResource& resource(const std::string& name) {
    const std::string& canonical = canonical_resource(state_.configuration.resource_aliases, name);
    const auto [at, added] = resources_.try_emplace(canonical);
    if (added) at->second.order = resources_.size();
    at->second.resource = canonical;
    return at->second;
  }
  void add_class(const std::string& resource_name, const std::string& name) {
    const auto at = cluster_.devices.classes.find(name);
    if (at == cluster_.devices.classes.end()) return;
    DeviceIndex& index = *cluster_.device_capacity.index;
    NamingClass made{name, {}};
    for (const DeviceSelector& selector : at->second.facts.selectors)
      if (selector.cel) made.selectors.push_back(compiled(index, *selector.cel));
    if (std::string what = not_understood(made, at->second.facts); !what.empty())
      cluster_.device_capacity.unsupported[name] = std::move(what);
    else
      resource(resource_name).classes.push_back(std::move(made));
  }
  std::vector<DeviceResource> finish() {
    std::vector<DeviceResource> made;
    for (auto& [name, resource] : resources_) {
      if (resource.classes.empty()) continue;
      std::sort(resource.classes.begin(), resource.classes.end(),
                [](const auto& a, const auto& b) { return a.name < b.name; });
      made.push_back(std::move(resource));
    }
    return made;
  }

 private:
  CountReader state_;
  Cluster& cluster_;
  std::map<std::string, DeviceResource> resources_;
};

}  // namespace

const CelSelector& compiled(DeviceIndex& index, const std::string& text) {
  const auto at = index.selectors.find(text);
  if (at != index.selectors.end()) return at->second;
  return index.selectors.emplace(text, CelSelector::compile(text)).first->second;
}

void name_resources(CountReader state, Cluster& cluster) {
  DeviceIndex& index = *cluster.device_capacity.index;
  cluster.device_capacity.unsupported.clear();
  // Texts of classes that are gone or changed would else stay for ever. What refers to a selector
  // holds a copy.
  index.selectors.clear();
  Naming naming(state, cluster);
  std::set<std::string> mapped;
  for (const DeviceClassMapping& mapping : state.configuration.dra.device_class_mappings) {
    // A class may be in several mappings, for different counters.
    for (const std::string& name : mapping.device_class_names) {
      mapped.insert(name);
      naming.add_class(mapping.name, name);
    }
    for (const DeviceSource& source : mapping.sources)
      naming.resource(mapping.name)
          .sources.push_back({source.kind == DeviceSourceKind::counter
                                  ? NamingSource::Kind::counter
                                  : NamingSource::Kind::capacity,
                              source.name, source.driver, compiled(index, source.expression)});
  }
  for (const auto& [resource, name] : newest_classes(cluster, mapped))
    naming.add_class(resource, name);
  index.resources = naming.finish();
  index.named = true;
}

}  // namespace fairlead
