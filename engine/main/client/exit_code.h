// Exit codes: 0 done, 1 the answer is "no", 2 bad usage or input, 3 an operating failure, 4
// something would change (`plan --detailed-exitcode`).
#pragma once

#include "engine/base/result.h"

namespace fairlead {

inline constexpr int kDone = 0;
inline constexpr int kAnswerIsNo = 1;
inline constexpr int kWouldChange = 4;

/// The exit code of a command that failed with `code`.
constexpr int exit_code_for(ErrorCode code) { return code == ErrorCode::bad_input ? 2 : 3; }

}  // namespace fairlead
