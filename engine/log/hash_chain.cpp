#include "engine/log/hash_chain.h"

#include <vector>

namespace fairlead {
namespace {

template <class Records>
Digest extend(const Digest& previous, const Records& records) {
  std::vector<std::string_view> parts;
  parts.reserve(records.size() + 1);
  parts.emplace_back(reinterpret_cast<const char*>(previous.bytes.data()), previous.bytes.size());
  parts.insert(parts.end(), records.begin(), records.end());
  return sha256(parts);
}

}  // namespace

Digest extend_chain(const Digest& previous, std::span<const std::string> records) {
  return extend(previous, records);
}
Digest extend_chain(const Digest& previous, std::span<const std::string_view> records) {
  return extend(previous, records);
}

}  // namespace fairlead
