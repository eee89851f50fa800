// The fields of a struct, in order, without a list of them: what Boost.PFR does, at a tenth of its
// cost to compile. PFR 1.81 counts the fields by trying as many initializers as the struct has
// bits; for State and what it holds this was a third of the seconds of its file. Here the count
// begins at kFieldsMax, and an initializer is `{}`, which needs no conversion.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace fairlead::fields {

// Lists of n braces and of n names: the language has no pack of either.
// clang-format off
#define FAIRLEAD_BRACES_1 {}
#define FAIRLEAD_BRACES_2 FAIRLEAD_BRACES_1, {}
#define FAIRLEAD_BRACES_3 FAIRLEAD_BRACES_2, {}
#define FAIRLEAD_BRACES_4 FAIRLEAD_BRACES_3, {}
#define FAIRLEAD_BRACES_5 FAIRLEAD_BRACES_4, {}
#define FAIRLEAD_BRACES_6 FAIRLEAD_BRACES_5, {}
#define FAIRLEAD_BRACES_7 FAIRLEAD_BRACES_6, {}
#define FAIRLEAD_BRACES_8 FAIRLEAD_BRACES_7, {}
#define FAIRLEAD_BRACES_9 FAIRLEAD_BRACES_8, {}
#define FAIRLEAD_BRACES_10 FAIRLEAD_BRACES_9, {}
#define FAIRLEAD_BRACES_11 FAIRLEAD_BRACES_10, {}
#define FAIRLEAD_BRACES_12 FAIRLEAD_BRACES_11, {}
#define FAIRLEAD_BRACES_13 FAIRLEAD_BRACES_12, {}
#define FAIRLEAD_BRACES_14 FAIRLEAD_BRACES_13, {}
#define FAIRLEAD_BRACES_15 FAIRLEAD_BRACES_14, {}
#define FAIRLEAD_BRACES_16 FAIRLEAD_BRACES_15, {}
#define FAIRLEAD_BRACES_17 FAIRLEAD_BRACES_16, {}
#define FAIRLEAD_BRACES_18 FAIRLEAD_BRACES_17, {}
#define FAIRLEAD_BRACES_19 FAIRLEAD_BRACES_18, {}
#define FAIRLEAD_BRACES_20 FAIRLEAD_BRACES_19, {}
#define FAIRLEAD_BRACES_21 FAIRLEAD_BRACES_20, {}
#define FAIRLEAD_BRACES_22 FAIRLEAD_BRACES_21, {}
#define FAIRLEAD_BRACES_23 FAIRLEAD_BRACES_22, {}
#define FAIRLEAD_BRACES_24 FAIRLEAD_BRACES_23, {}
#define FAIRLEAD_BRACES_25 FAIRLEAD_BRACES_24, {}
#define FAIRLEAD_BRACES_26 FAIRLEAD_BRACES_25, {}
#define FAIRLEAD_BRACES_27 FAIRLEAD_BRACES_26, {}
#define FAIRLEAD_BRACES_28 FAIRLEAD_BRACES_27, {}
#define FAIRLEAD_BRACES_29 FAIRLEAD_BRACES_28, {}
#define FAIRLEAD_BRACES_30 FAIRLEAD_BRACES_29, {}
#define FAIRLEAD_BRACES_31 FAIRLEAD_BRACES_30, {}
#define FAIRLEAD_BRACES_32 FAIRLEAD_BRACES_31, {}
#define FAIRLEAD_BRACES_33 FAIRLEAD_BRACES_32, {}
#define FAIRLEAD_BRACES_34 FAIRLEAD_BRACES_33, {}
#define FAIRLEAD_BRACES_35 FAIRLEAD_BRACES_34, {}
#define FAIRLEAD_BRACES_36 FAIRLEAD_BRACES_35, {}
#define FAIRLEAD_BRACES_37 FAIRLEAD_BRACES_36, {}
#define FAIRLEAD_BRACES_38 FAIRLEAD_BRACES_37, {}
#define FAIRLEAD_BRACES_39 FAIRLEAD_BRACES_38, {}
#define FAIRLEAD_BRACES_40 FAIRLEAD_BRACES_39, {}
#define FAIRLEAD_BRACES_41 FAIRLEAD_BRACES_40, {}
#define FAIRLEAD_BRACES_42 FAIRLEAD_BRACES_41, {}
#define FAIRLEAD_BRACES_43 FAIRLEAD_BRACES_42, {}
#define FAIRLEAD_BRACES_44 FAIRLEAD_BRACES_43, {}
#define FAIRLEAD_BRACES_45 FAIRLEAD_BRACES_44, {}
#define FAIRLEAD_BRACES_46 FAIRLEAD_BRACES_45, {}
#define FAIRLEAD_BRACES_47 FAIRLEAD_BRACES_46, {}
#define FAIRLEAD_BRACES_48 FAIRLEAD_BRACES_47, {}
#define FAIRLEAD_NAMES_1 f1
#define FAIRLEAD_NAMES_2 FAIRLEAD_NAMES_1, f2
#define FAIRLEAD_NAMES_3 FAIRLEAD_NAMES_2, f3
#define FAIRLEAD_NAMES_4 FAIRLEAD_NAMES_3, f4
#define FAIRLEAD_NAMES_5 FAIRLEAD_NAMES_4, f5
#define FAIRLEAD_NAMES_6 FAIRLEAD_NAMES_5, f6
#define FAIRLEAD_NAMES_7 FAIRLEAD_NAMES_6, f7
#define FAIRLEAD_NAMES_8 FAIRLEAD_NAMES_7, f8
#define FAIRLEAD_NAMES_9 FAIRLEAD_NAMES_8, f9
#define FAIRLEAD_NAMES_10 FAIRLEAD_NAMES_9, f10
#define FAIRLEAD_NAMES_11 FAIRLEAD_NAMES_10, f11
#define FAIRLEAD_NAMES_12 FAIRLEAD_NAMES_11, f12
#define FAIRLEAD_NAMES_13 FAIRLEAD_NAMES_12, f13
#define FAIRLEAD_NAMES_14 FAIRLEAD_NAMES_13, f14
#define FAIRLEAD_NAMES_15 FAIRLEAD_NAMES_14, f15
#define FAIRLEAD_NAMES_16 FAIRLEAD_NAMES_15, f16
#define FAIRLEAD_NAMES_17 FAIRLEAD_NAMES_16, f17
#define FAIRLEAD_NAMES_18 FAIRLEAD_NAMES_17, f18
#define FAIRLEAD_NAMES_19 FAIRLEAD_NAMES_18, f19
#define FAIRLEAD_NAMES_20 FAIRLEAD_NAMES_19, f20
#define FAIRLEAD_NAMES_21 FAIRLEAD_NAMES_20, f21
#define FAIRLEAD_NAMES_22 FAIRLEAD_NAMES_21, f22
#define FAIRLEAD_NAMES_23 FAIRLEAD_NAMES_22, f23
#define FAIRLEAD_NAMES_24 FAIRLEAD_NAMES_23, f24
#define FAIRLEAD_NAMES_25 FAIRLEAD_NAMES_24, f25
#define FAIRLEAD_NAMES_26 FAIRLEAD_NAMES_25, f26
#define FAIRLEAD_NAMES_27 FAIRLEAD_NAMES_26, f27
#define FAIRLEAD_NAMES_28 FAIRLEAD_NAMES_27, f28
#define FAIRLEAD_NAMES_29 FAIRLEAD_NAMES_28, f29
#define FAIRLEAD_NAMES_30 FAIRLEAD_NAMES_29, f30
#define FAIRLEAD_NAMES_31 FAIRLEAD_NAMES_30, f31
#define FAIRLEAD_NAMES_32 FAIRLEAD_NAMES_31, f32
#define FAIRLEAD_NAMES_33 FAIRLEAD_NAMES_32, f33
#define FAIRLEAD_NAMES_34 FAIRLEAD_NAMES_33, f34
#define FAIRLEAD_NAMES_35 FAIRLEAD_NAMES_34, f35
#define FAIRLEAD_NAMES_36 FAIRLEAD_NAMES_35, f36
#define FAIRLEAD_NAMES_37 FAIRLEAD_NAMES_36, f37
#define FAIRLEAD_NAMES_38 FAIRLEAD_NAMES_37, f38
#define FAIRLEAD_NAMES_39 FAIRLEAD_NAMES_38, f39
#define FAIRLEAD_NAMES_40 FAIRLEAD_NAMES_39, f40
#define FAIRLEAD_NAMES_41 FAIRLEAD_NAMES_40, f41
#define FAIRLEAD_NAMES_42 FAIRLEAD_NAMES_41, f42
#define FAIRLEAD_NAMES_43 FAIRLEAD_NAMES_42, f43
#define FAIRLEAD_NAMES_44 FAIRLEAD_NAMES_43, f44
#define FAIRLEAD_NAMES_45 FAIRLEAD_NAMES_44, f45
#define FAIRLEAD_NAMES_46 FAIRLEAD_NAMES_45, f46
#define FAIRLEAD_NAMES_47 FAIRLEAD_NAMES_46, f47
#define FAIRLEAD_NAMES_48 FAIRLEAD_NAMES_47, f48
#define FAIRLEAD_EACH_COUNT(X) \
  X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) \
  X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) \
  X(25) X(26) X(27) X(28) X(29) X(30) X(31) X(32) X(33) X(34) X(35) X(36) \
  X(37) X(38) X(39) X(40) X(41) X(42) X(43) X(44) X(45) X(46) X(47) X(48)
// clang-format on

inline constexpr std::size_t kFieldsMax = 48;

/// Whether T is an aggregate that takes n initializers, which one of up to n fields does not.
template <class T, std::size_t n>
consteval bool takes() {
#define FAIRLEAD_TAKES(count) \
  if constexpr (n == count) return requires { T{FAIRLEAD_BRACES_##count}; };
  FAIRLEAD_EACH_COUNT(FAIRLEAD_TAKES)
#undef FAIRLEAD_TAKES
}

/// The greatest n in [least, most] that T takes.
template <class T, std::size_t least, std::size_t most>
consteval std::size_t most_taken() {
  if constexpr (least == most) {
    return least;
  } else {
    constexpr std::size_t middle = (least + most + 1) / 2;
    if constexpr (takes<T, middle>())
      return most_taken<T, middle, most>();
    else
      return most_taken<T, least, middle - 1>();
  }
}

/// How many fields T has. A class that is no aggregate, or has a field that `{}` does not make,
/// says it as kFields; a wrong number does not compile.
template <class T>
consteval std::size_t count_of() {
  if constexpr (requires { T::kFields; })
    return T::kFields;
  else
    return most_taken<T, 0, kFieldsMax>();
}
template <class T>
inline constexpr std::size_t kCount = count_of<T>();

/// Returns use(field...) of all fields of `value`.
template <class T, class Use>
decltype(auto) with_fields(T& value, Use&& use) {
  constexpr std::size_t n = kCount<std::remove_const_t<T>>;
  if constexpr (n == 0) return use();
#define FAIRLEAD_USE(count)                 \
  if constexpr (n == count) {               \
    auto& [FAIRLEAD_NAMES_##count] = value; \
    return use(FAIRLEAD_NAMES_##count);     \
  }
  FAIRLEAD_EACH_COUNT(FAIRLEAD_USE)
#undef FAIRLEAD_USE
}

template <class... Field>
struct Types {};

/// The types of T's fields.
template <class T>
using TypesOf = decltype(with_fields(std::declval<T&>(), [](auto&... field) {
  return Types<std::remove_reference_t<decltype(field)>...>{};
}));

#undef FAIRLEAD_EACH_COUNT

}  // namespace fairlead::fields
