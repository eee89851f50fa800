// When what is appended is on the disk.
#pragma once

#include <cstdint>

namespace fairlead {

enum class Durability : std::uint8_t {
  durable,  ///< when the call returns
  pending,  ///< later: it may be folded, but not published or acted on before
};

}  // namespace fairlead
