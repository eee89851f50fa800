// JsonIndex. The only file that includes simdjson.
#include "connectors/kube/document/json_index.h"

#include <simdjson.h>

#include <algorithm>

namespace fairlead {
namespace {

// Buffers of larger texts are freed with the next text.
constexpr std::size_t kKeepsMax = std::size_t{1} << 20;
constexpr std::size_t kDepth = 16;  // for simdjson's second stage, which we do not use

}  // namespace

struct JsonIndex::Impl {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
  std::size_t capacity = 0;
  std::span<const std::uint32_t> places;

  bool make_room(std::size_t bytes) {
    if (parser && bytes <= capacity && (capacity <= kKeepsMax || bytes > kKeepsMax)) return true;
    capacity = std::max(bytes, std::size_t{16} << 10);
    const simdjson::implementation* kernel = simdjson::get_active_implementation();
    return kernel->create_dom_parser_implementation(capacity, kDepth, parser) == simdjson::SUCCESS;
  }
};

JsonIndex::JsonIndex() : impl_(std::make_unique<Impl>()) {}
JsonIndex::~JsonIndex() = default;

std::span<const std::uint32_t> JsonIndex::places() const { return impl_->places; }

bool JsonIndex::find(std::string_view text) {
  text_ = text;
  impl_->places = {};
  if (text.empty() || !impl_->make_room(text.size())) return false;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  if (impl_->parser->stage1(bytes, text.size(), simdjson::stage1_mode::regular) !=
      simdjson::SUCCESS)
    return false;
  std::uint32_t* const places = impl_->parser->structural_indexes.get();
  const std::size_t count = impl_->parser->n_structural_indexes;
  places[count] = places[count + 1] = static_cast<std::uint32_t>(text.size());  // there is room
  impl_->places = {places, count};
  return true;
}

}  // namespace fairlead
