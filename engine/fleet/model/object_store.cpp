#include "engine/fleet/model/object_store.h"

#include <algorithm>

namespace fairlead::model {

ObjectRef ObjectStore::find(const std::string& resource, const std::string& key) const {
  const ObjectsByKey& all = objects(resource);
  auto found = all.find(key);
  return found == all.end() ? nullptr : found->second;
}

const ObjectsByKey& ObjectStore::objects(const std::string& resource) const {
  static const ObjectsByKey none;
  auto found = objects_.find(resource);
  return found == objects_.end() ? none : found->second;
}

ObjectsByKey ObjectStore::objects_at(const std::string& resource, std::uint64_t revision) const {
  ObjectsByKey past = objects(resource);
  // From the newest change backwards, so that of a key the oldest `before` counts.
  for (auto change = history_.rbegin(); change != history_.rend() && change->revision > revision;
       ++change) {
    if (change->resource != resource) continue;
    if (change->before)
      past[change->key] = change->before;
    else
      past.erase(change->key);
  }
  return past;
}

std::vector<Change> ObjectStore::changes_since(const std::string& resource,
                                               std::uint64_t revision) const {
  std::vector<Change> changes;
  auto first = std::find_if(history_.begin(), history_.end(),
                            [&](const Change& change) { return change.revision > revision; });
  std::copy_if(first, history_.end(), std::back_inserter(changes),
               [&](const Change& change) { return change.resource == resource; });
  return changes;
}

const Change& ObjectStore::put(const std::string& resource, const std::string& key, Json object) {
  object["metadata"]["resourceVersion"] = std::to_string(revision_ + 1);
  auto stored = std::make_shared<const Json>(std::move(object));
  ObjectRef& place = objects_[resource][key];
  ObjectRef before = std::exchange(place, stored);
  return record({0, resource, key, std::move(before), std::move(stored), nullptr});
}

const Change& ObjectStore::remove(const std::string& resource, const std::string& key) {
  ObjectsByKey& all = objects_[resource];
  auto found = all.find(key);
  ObjectRef before = found->second;
  all.erase(found);
  Json last = *before;
  // A DELETED event has the version of the deletion, as that of kube-apiserver.
  last["metadata"]["resourceVersion"] = std::to_string(revision_ + 1);
  return record({0, resource, key, std::move(before), nullptr,
                 std::make_shared<const Json>(std::move(last))});
}

const Change& ObjectStore::record(Change change) {
  change.revision = ++revision_;
  history_.push_back(std::move(change));
  while (history_.size() > history_max_) {
    compacted_ = history_.front().revision;
    history_.pop_front();
  }
  return history_.back();
}

void ObjectStore::compact() {
  history_.clear();
  compacted_ = revision_;
}

void ObjectStore::restore(const ObjectStore& saved, std::uint64_t jump) {
  objects_ = saved.objects_;
  revision_ = saved.revision_ + jump;
  compact();
}

}  // namespace fairlead::model
