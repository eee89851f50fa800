#include "connectors/kube/watch/known_objects.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace fairlead {

KnownObjects::Object* KnownObjects::find(std::string_view namespace_, std::string_view name) {
  sought_.resize(namespace_.size() + 1 + name.size());  // most are as long as the one before
  *std::copy(namespace_.begin(), namespace_.end(), sought_.begin()) = '/';
  std::copy(name.begin(), name.end(), sought_.end() - static_cast<std::ptrdiff_t>(name.size()));
  return objects_.find(sought_);
}

void KnownObjects::erase_sought() {
  Object* const object = objects_.find(sought_);
  if (!object) return;
  set_weight(*object, 0);
  objects_.erase(sought_);
}

void KnownObjects::set_weight(Object& object, std::uint32_t weight) {
  const auto replace = [&](std::size_t& sum) { sum = sum - object.weight + weight; };
  replace(weight_);
  if (object.listed) replace(listed_weight_);
  object.weight = weight;
}

void KnownObjects::forget_versions() {
  objects_.for_each([](std::string_view, Object& object) {
    object.resource_version = {};
    object.rest = {};
  });
}

void KnownObjects::begin_list() {
  listed_weight_ = 0;
  objects_.for_each([](std::string_view, Object& object) { object.listed = false; });
}

void KnownObjects::mark_listed(Object& object) {
  if (!std::exchange(object.listed, true)) listed_weight_ += object.weight;
}

std::vector<KnownObjects::Unlisted> KnownObjects::erase_unlisted() {
  std::vector<std::pair<std::string, std::string>> gone;  // "namespace/name", uid
  objects_.for_each([&](std::string_view name, Object& object) {
    if (object.listed) return;
    gone.emplace_back(name, object.uid.text());
    set_weight(object, 0);
  });
  for (const auto& [name, uid] : gone) objects_.erase(name);
  // The order of the table differs between processes, and what is returned enters the log.
  std::sort(gone.begin(), gone.end());
  std::vector<Unlisted> unlisted;
  unlisted.reserve(gone.size());
  for (auto& [name, uid] : gone) {
    // The first slash: no namespace holds one.
    const std::size_t slash = name.find('/');
    unlisted.push_back({name.substr(0, slash), name.substr(slash + 1), std::move(uid)});
  }
  return unlisted;
}

}  // namespace fairlead
