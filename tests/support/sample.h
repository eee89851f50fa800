// How much a test tries, by what it was built for. A sanitized build runs each case about eight
// times slower, and looks for faults of memory, which the first cases show as well as all.
#pragma once
#include <cstddef>

namespace fairlead {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

/// How many of `count` random or enumerated cases a test tries: all of them, and sanitized one in
/// eight, at least one.
constexpr std::size_t sample(std::size_t count) { return kSanitized ? (count + 7) / 8 : count; }

}  // namespace fairlead
