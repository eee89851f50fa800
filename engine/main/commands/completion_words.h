// What a shell offers for the word under the cursor: commands, options, values of options, and
// names out of the log or the hub that the line names.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace fairlead {

/// Returns the words that may stand in the place of the last of `words`, the arguments so far;
/// sorted. None where a file is expected, or the log cannot be read.
std::vector<std::string> completion_words(const CLI::App& root,
                                          const std::vector<std::string>& words);

}  // namespace fairlead
