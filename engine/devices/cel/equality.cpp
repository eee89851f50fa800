#include "engine/devices/cel/equality.h"

#include "engine/devices/cel/version.h"

namespace fairlead::cel {

bool equal_scalars(const Value& a, const Value& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::boolean:
    case Kind::integer:
    case Kind::quantity: return a.number == b.number;
    case Kind::text: return a.text == b.text;
    case Kind::version: return compare_versions(a.text, b.text) == 0;
    case Kind::device: return true;
    case Kind::fault:
    case Kind::list:
    case Kind::attributes:
    case Kind::capacities:
    case Kind::attribute_domain:
    case Kind::capacity_domain: return false;
  }
  return false;
}

std::optional<std::strong_ordering> order_of(const Value& a, const Value& b) {
  if (a.kind != b.kind) return std::nullopt;
  if (a.kind == Kind::text) return a.text <=> b.text;
  if (a.kind == Kind::integer || a.kind == Kind::boolean) return a.number <=> b.number;
  return std::nullopt;
}

std::optional<std::strong_ordering> order_of_amounts(const Value& a, const Value& b) {
  if (a.kind != b.kind) return std::nullopt;
  if (a.kind == Kind::quantity) return a.number <=> b.number;
  if (a.kind == Kind::version) return compare_versions(a.text, b.text);
  return std::nullopt;
}

}  // namespace fairlead::cel
