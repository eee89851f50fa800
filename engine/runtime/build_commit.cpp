#include "engine/runtime/build_commit.h"

#include "engine/runtime/commit_of_build.h"  // written by cmake/commit.cmake

namespace fairlead {

std::string_view build_commit() { return FAIRLEAD_COMMIT; }

std::string build_identity() { return std::string(FAIRLEAD_VERSION " ") + FAIRLEAD_COMMIT; }

}  // namespace fairlead
