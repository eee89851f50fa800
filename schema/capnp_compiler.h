// Lets Cap'n Proto 0.9.2 compile as C++20 with clang 16 and later.
//
// kj/string.h hides `bool operator==(const char*, const StringPtr&)` where three-way comparison
// exists, expecting the compiler to reverse the member operator; capnp/blob.h then asks for it by
// name and newer clang refuses. Declaring it before the first include of Cap'n Proto, and defining
// it after kj/string.h, suits every compiler. Include this header instead of, or before, any other
// of Cap'n Proto; only the codec does.
#pragma once

namespace kj {
class StringPtr;
bool operator==(const char* a, const StringPtr& b);
}  // namespace kj

#include <kj/string.h>

namespace kj {
// Calls the member operator by name: `b == a` would resolve to this very function, reversed.
inline bool operator==(const char* a, const StringPtr& b) { return b.operator==(StringPtr(a)); }
}  // namespace kj
