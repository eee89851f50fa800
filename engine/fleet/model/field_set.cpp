#include "engine/fleet/model/field_set.h"

#include <algorithm>

namespace fairlead::model {
namespace {

std::string key_text(const std::string& json) {
  std::string text;
  const Json key = read_json(json);
  for (const auto& [name, value] : key.items())
    text += (text.empty() ? "" : ",") + name + "=" + to_text(value);
  return text;
}

}  // namespace

std::string path_text(const FieldPath& path) {
  std::string text;
  for (const std::string& element : path) {
    const std::string rest = element.substr(2);
    switch (element.front()) {
      case 'f': text += "." + rest; break;
      case 'k': text += "[" + key_text(rest) + "]"; break;
      case 'v': text += "[=" + rest + "]"; break;
      default: text += "[" + rest + "]";
    }
  }
  return text;
}

FieldSet FieldSet::from_json(const Json& fields_v1) {
  FieldSet set;
  if (!fields_v1.is_object()) return set;
  for (const auto& [element, below] : fields_v1.items()) {
    if (element == ".") continue;
    if (below.empty() || below.contains(".")) set.members_.insert(element);
    set.attach(element, from_json(below));
  }
  return set;
}

Json FieldSet::to_json() const {
  Json json = Json::object();
  for (const std::string& element : members_) json[element] = Json::object();
  for (const auto& [element, child] : children_) {
    Json below = child.to_json();
    if (members_.contains(element)) below["."] = Json::object();
    json[element] = std::move(below);
  }
  return json;
}

const FieldSet* FieldSet::below(const std::string& element) const {
  auto found = children_.find(element);
  return found == children_.end() ? nullptr : &found->second;
}

void FieldSet::insert(const FieldPath& path) {
  FieldSet* at = this;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) at = &at->children_[path[i]];
  if (!path.empty()) at->members_.insert(path.back());
}

void FieldSet::attach(const std::string& element, FieldSet set) {
  if (!set.empty()) children_[element] = std::move(set);
}

FieldSet FieldSet::united(const FieldSet& other) const {
  FieldSet set = *this;
  set.members_.insert(other.members_.begin(), other.members_.end());
  for (const auto& [element, child] : other.children_)
    set.children_[element] = set.children_[element].united(child);
  return set;
}

FieldSet FieldSet::intersected(const FieldSet& other) const {
  FieldSet set;
  std::set_intersection(members_.begin(), members_.end(), other.members_.begin(),
                        other.members_.end(), std::inserter(set.members_, set.members_.end()));
  for (const auto& [element, child] : children_)
    if (const FieldSet* theirs = other.below(element))
      set.attach(element, child.intersected(*theirs));
  return set;
}

FieldSet FieldSet::without(const FieldSet& other) const {
  FieldSet set;
  std::set_difference(members_.begin(), members_.end(), other.members_.begin(),
                      other.members_.end(), std::inserter(set.members_, set.members_.end()));
  for (const auto& [element, child] : children_) {
    const FieldSet* theirs = other.below(element);
    set.attach(element, theirs != nullptr ? child.without(*theirs) : child);
  }
  return set;
}

void FieldSet::drop(const std::string& element) {
  members_.erase(element);
  children_.erase(element);
}

void FieldSet::keep_only(const std::string& element) {
  std::erase_if(members_, [&](const std::string& member) { return member != element; });
  std::erase_if(children_, [&](const auto& child) { return child.first != element; });
}

void FieldSet::collect(FieldPath& prefix, std::vector<FieldPath>& found) const {
  std::set<std::string> elements = members_;
  for (const auto& entry : children_) elements.insert(entry.first);
  for (const std::string& element : elements) {
    prefix.push_back(element);
    if (members_.contains(element)) found.push_back(prefix);
    if (const FieldSet* child = below(element)) child->collect(prefix, found);
    prefix.pop_back();
  }
}

std::vector<FieldPath> FieldSet::paths() const {
  std::vector<FieldPath> found;
  FieldPath prefix;
  collect(prefix, found);
  return found;
}

}  // namespace fairlead::model
