// Help pages that fit a terminal and end with examples.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace fairlead {

/// Breaks text at spaces into lines of at most `columns` bytes; a longer word stays whole.
std::string wrapped(std::string_view text, std::size_t columns);

/// Returns the options of a command and of its groups of options.
std::vector<const CLI::Option*> all_options(const CLI::App& app);

/// Has every command that is added to `app` from now on print its help in 80 columns.
void wrap_help(CLI::App& app);
/// Ends the help of `app` and of all its commands with examples.
void add_examples(CLI::App& app);

}  // namespace fairlead
