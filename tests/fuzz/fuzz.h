// What every fuzz target needs: the entry point of libFuzzer and a check that stops the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace fairlead {
inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}
}  // namespace fairlead
