#include "connectors/kube/watch/kept_bytes.h"

#include <boost/pfr.hpp>
#include <type_traits>
#include <utility>
#include <variant>

#include "schema/kind.h"

namespace fairlead {
namespace {

template <class T>
concept HasRange = requires(const T& value) { value.begin(), value.end(), value.size(); };
template <class T>
concept MayBeAbsent = requires(const T& value) { value.has_value(), *value; } ||
                      requires(const T& value) { static_cast<bool>(value), *value; };

// What `value` points to: its own size belongs to what holds it.
template <class T>
std::size_t pointed_to(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return value.size();
  } else if constexpr (requires { value.bytes(); }) {  // a PackedMap
    return value.bytes().size();
  } else if constexpr (MayBeAbsent<T>) {
    return value ? sizeof(*value) + pointed_to(*value) : 0;
  } else if constexpr (HasRange<T>) {
    std::size_t bytes = 0;
    for (const auto& item : value) bytes += sizeof item + pointed_to(item);
    return bytes;
  } else if constexpr (requires { value.first, value.second; }) {
    return pointed_to(value.first) + pointed_to(value.second);
  } else if constexpr (std::is_aggregate_v<T>) {
    std::size_t bytes = 0;
    boost::pfr::for_each_field(value, [&](const auto& field) { bytes += pointed_to(field); });
    return bytes;
  } else {
    return 0;  // a number
  }
}

}  // namespace

std::size_t kept_bytes(const Facts& facts) {
  if (!info(static_cast<Kind>(facts.index())).has(kIsOfMember | kIsOfTenant)) return 0;
  return std::visit([](const auto& kept) { return sizeof kept + pointed_to(kept); },
                    static_cast<const AnyFacts&>(facts));
}

}  // namespace fairlead
