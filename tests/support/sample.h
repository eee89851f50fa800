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

/// How many of `count` random or enumerated cases a test tries. A sanitized build runs each about
/// eight times slower and looks for faults of memory, which the first cases show as well as all:
/// it tries one in eight, and at least one. The plain build tries them all.
constexpr std::size_t sample(std::size_t count) { return kSanitized ? (count + 7) / 8 : count; }

}  // namespace fairlead
