#include "engine/fold/seen_workload.h"

#include <cstring>
#include <utility>

#include "engine/fold/canonical_bytes.h"

namespace fairlead {

namespace {

// The size of the bytes precedes them.
using Size = std::uint32_t;

std::string_view bytes_of(const SharedBytes& packed) {
  Size size = 0;
  std::memcpy(&size, packed.get(), sizeof size);
  return {packed.get() + sizeof size, size};
}

}  // namespace

void SeenWorkload::adopt(Contents seen) {
  if (!seen.facts.pod_sets.empty()) {
    kept_ = Shared(std::move(seen));
    return;
  }
  canonical::Writer writer;
  writer.put(seen);
  const auto size = static_cast<Size>(writer.bytes.size());
  char* at = nullptr;
  kept_ = SharedBytes::make(sizeof size + size, at);
  std::memcpy(at, &size, sizeof size);
  std::memcpy(at + sizeof size, writer.bytes.data(), size);
}

Shared<SeenWorkload::Contents> SeenWorkload::read() const {
  const auto* const packed = std::get_if<SharedBytes>(&kept_);
  if (!packed) return std::get<Shared<Contents>>(kept_);
  Contents seen;
  canonical::Reader(bytes_of(*packed)).get(seen);
  return Shared(std::move(seen));
}

// The texts of the head are the first of the contents.
SeenWorkload::Head SeenWorkload::head() const {
  Head head;
  if (const auto* const packed = std::get_if<SharedBytes>(&kept_)) {
    canonical::Reader(bytes_of(*packed)).get(head);
  } else {
    const auto& seen = std::get<Shared<Contents>>(kept_);
    head = {seen->uid, seen->version, seen->resource_version, seen->generation};
  }
  return head;
}

// Equal contents have equal bytes.
bool operator==(const SeenWorkload& a, const SeenWorkload& b) {
  const auto* const one = std::get_if<SharedBytes>(&a.kept_);
  const auto* const other = std::get_if<SharedBytes>(&b.kept_);
  if (one && other) return bytes_of(*one) == bytes_of(*other);
  return *a.read() == *b.read();
}

}  // namespace fairlead
