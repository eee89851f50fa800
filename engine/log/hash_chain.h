// The hash chain: it makes every later change of the log detectable.
//
// Each group commit has a digest, SHA-256 over the digest of the commit before it (32 zero bytes
// before the first) followed by the canonical bytes of its events. Changing, dropping or reordering
// any event changes every later digest, so the last one vouches for the whole log.
//
// Example: a log of two commits, the first with events a and b, the second with c:
//   d1 = SHA-256(00..00 + bytes(a) + bytes(b))
//   d2 = SHA-256(d1 + bytes(c))            <- EventLog::chain()
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/base/digest.h"

namespace fairlead {

/// Returns the digest of a group commit whose events have these canonical bytes, after a commit
/// with the digest `previous`.
Digest extend_chain(const Digest& previous, std::span<const std::string> records);
Digest extend_chain(const Digest& previous, std::span<const std::string_view> records);

}  // namespace fairlead
