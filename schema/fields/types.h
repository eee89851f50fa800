// The sorts of values that a field has, as its visitors tell them apart.
#pragma once

#include <optional>
#include <type_traits>

#include "engine/base/boxed.h"
#include "engine/base/time.h"
#include "schema/packed_map.h"

namespace fairlead {

template <class T>
concept IsTime = std::is_same_v<T, LogTime> || std::is_same_v<T, Duration>;

template <class T>
inline constexpr bool kIsPacked = false;
template <class V>
inline constexpr bool kIsPacked<PackedMap<V>> = true;
template <class T>
concept IsPacked = kIsPacked<T>;

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsOptional<Boxed<T>> = true;
template <class T>
concept IsOptional = kIsOptional<T>;

/// What has a list of fields, among the types that no overload is for.
template <class T>
concept IsStruct = std::is_class_v<T> && !IsTime<T> && !IsPacked<T> && !IsOptional<T>;

}  // namespace fairlead
