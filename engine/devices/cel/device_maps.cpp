#include "engine/devices/cel/device_maps.h"

#include <algorithm>
#include <optional>

#include "engine/devices/cel/equality.h"

namespace fairlead::cel {
namespace {

/// A name as written, split.
struct QualifiedName {
  std::string_view domain;
  std::string_view id;
  bool qualified;
};

QualifiedName split(std::string_view name, std::string_view driver) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return {driver, name, false};
  return {name.substr(0, slash), name.substr(slash + 1), true};
}

std::string_view name_of(const DeviceAttributes::value_type& attribute) { return attribute.first; }
std::string_view name_of(const DeviceCapacity& capacity) { return capacity.name; }
std::string_view content_of(const DeviceAttributes::value_type& attribute) {
  return attribute.second;
}
const DeviceCapacity* content_of(const DeviceCapacity& capacity) { return &capacity; }

/// Returns what is published as `id` of `domain`. The sizes come first: of thirty names they leave
/// one or two to be compared.
template <class Published>
auto find(const Published& published, std::string_view driver, std::string_view domain,
          std::string_view id) {
  std::optional<decltype(content_of(*published.begin()))> found;
  const bool of_driver = domain == driver;
  for (const auto& one : published) {
    const std::string_view name = name_of(one);
    if (name.size() == domain.size() + 1 + id.size()) {
      const QualifiedName parts = split(name, driver);
      if (parts.qualified && parts.domain == domain && parts.id == id)
        return std::optional(content_of(one));
    } else if (of_driver && name == id && !split(name, driver).qualified) {
      found = content_of(one);
    }
  }
  return found;
}

/// Calls `visit(name)` for each distinct key of a map. Names are few: comparing each with those
/// before it costs nothing that matters.
template <class Published, class Key, class Visit>
void each_key(const Published& published, std::string_view driver, const Key& key,
              const Visit& visit) {
  for (auto one = published.begin(); one != published.end(); ++one) {
    const std::optional<std::string_view> found = key(split(name_of(*one), driver));
    if (!found) continue;
    const bool seen = std::any_of(published.begin(), one, [&](const auto& before) {
      return key(split(name_of(before), driver)) == found;
    });
    if (!seen) visit(*found);
  }
}

template <class Visit>
void each_key(const DeviceView& device, const Value& map, const Visit& visit) {
  const auto domains = [](const QualifiedName& name) { return std::optional(name.domain); };
  const auto ids = [&map](const QualifiedName& name) {
    return name.domain == map.text ? std::optional(name.id) : std::nullopt;
  };
  if (map.kind == Kind::attributes)
    each_key(device.facts.attributes, device.driver, domains, visit);
  if (map.kind == Kind::attribute_domain)
    each_key(device.facts.attributes, device.driver, ids, visit);
  if (map.kind == Kind::capacities) each_key(device.facts.capacity, device.driver, domains, visit);
  if (map.kind == Kind::capacity_domain) each_key(device.facts.capacity, device.driver, ids, visit);
}

Value value_of(const Value& map, std::string_view key, const DeviceView& device) {
  return map.kind == Kind::attribute_domain ? attribute(device, map.text, key, key)
                                            : capacity(device, map.text, key, key);
}

}  // namespace

Value attribute(const DeviceView& device, std::string_view domain, std::string_view id,
                std::string_view about) {
  const auto found = find(device.facts.attributes, device.driver, domain, id);
  if (!found) return fault(Fault::not_published, about);
  const std::string_view text = found->substr(std::min<std::size_t>(1, found->size()));
  switch (found->empty() ? '\0' : found->front()) {
    case kStringAttribute: return named(Kind::text, text);
    case kIntAttribute: return parse_integer(text);
    case kBoolAttribute: return boolean(text == "true");
    case kVersionAttribute: return parse_version(text);
    default: return fault(Fault::not_published, about);
  }
}

bool has_attribute(const DeviceView& device, std::string_view domain, std::string_view id) {
  return find(device.facts.attributes, device.driver, domain, id).has_value();
}

Value capacity(const DeviceView& device, std::string_view domain, std::string_view id,
               std::string_view about) {
  const auto found = find(device.facts.capacity, device.driver, domain, id);
  return found ? quantity((*found)->value, {}) : fault(Fault::not_published, about);
}

bool has_capacity(const DeviceView& device, std::string_view domain, std::string_view id) {
  return find(device.facts.capacity, device.driver, domain, id).has_value();
}

bool is_shared(const DeviceView& device) {
  return device.facts.extras && device.facts.extras->shared;
}

bool has_key(const DeviceView& device, const Value& map, std::string_view key) {
  if (map.kind == Kind::attribute_domain) return has_attribute(device, map.text, key);
  if (map.kind == Kind::capacity_domain) return has_capacity(device, map.text, key);
  bool found = false;
  each_key(device, map, [&](std::string_view one) { found = found || one == key; });
  return found;
}

std::int64_t count_keys(const DeviceView& device, const Value& map) {
  std::int64_t count = 0;
  each_key(device, map, [&](std::string_view) { ++count; });
  return count;
}

bool equal_maps(const DeviceView& device, const Value& a, const Value& b) {
  const std::int64_t count = count_keys(device, a);
  if (count != count_keys(device, b)) return false;
  // Maps of different kinds hold values of different types, and what `attributes` is cannot differ
  // from itself.
  if (count == 0 || a.kind != b.kind) return count == 0;
  if (a.kind == Kind::attributes || a.kind == Kind::capacities) return true;
  bool same = true;
  each_key(device, a, [&](std::string_view key) {
    same = same && has_key(device, b, key) &&
           equal_scalars(value_of(a, key, device), value_of(b, key, device));
  });
  return same;
}

}  // namespace fairlead::cel
