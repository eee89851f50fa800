// The command line of `fairlead`: all of the program but what main() does before anything else.
#pragma once

namespace fairlead {

/// Runs the command that the arguments of main() name and returns the program's exit code.
int run_program(int argc, char** argv);

}  // namespace fairlead
