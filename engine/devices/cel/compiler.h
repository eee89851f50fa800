// From the text of an expression to its program.
#pragma once

#include <memory>
#include <string_view>

#include "engine/devices/cel/program.h"

namespace fairlead::cel {

/// Compiles `text`, to run for at most `steps_max` steps. What is not understood is named in the
/// program, which then has no code.
std::shared_ptr<const Program> compile(std::string_view text, int steps_max);

}  // namespace fairlead::cel
