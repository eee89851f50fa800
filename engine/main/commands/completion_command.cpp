// `fairlead completion` and `fairlead man`: completions and man pages, made from the tree of
// commands itself, so that neither can be outdated.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "engine/main/client/standard_streams.h"
#include "engine/main/commands/commands.h"
#include "engine/main/commands/completion_words.h"
#include "engine/main/commands/help_text.h"

namespace fairlead {

namespace {

// Each script asks the program itself for the words; files are completed where it has none.
constexpr std::string_view kBash = R"(_fairlead() {
  local IFS=$'\n'
  COMPREPLY=($(fairlead completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _fairlead fairlead
)";
constexpr std::string_view kZsh = R"zsh(#compdef fairlead
_fairlead() {
  local -a found
  found=(${(f)"$(fairlead completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  (( $#found )) && compadd -- $found || _files
}
if [ "$funcstack[1]" = _fairlead ]; then _fairlead "$@"; else compdef _fairlead fairlead; fi
)zsh";
constexpr std::string_view kFish = R"(function __fairlead_words
  set -l before (commandline -opc)
  fairlead completion words -- $before[2..-1] (commandline -ct) 2>/dev/null
end
complete -c fairlead -a '(__fairlead_words)'
)";

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_name().empty(); });
}

const CLI::App* find_command(const CLI::App& app, const std::string& word) {
  for (const CLI::App* command : commands_of(app))
    if (command->get_name() == word) return command;
  return nullptr;
}

// ---- man pages ----

// Text as roff takes it: a hyphen is a minus, and no line begins with a request.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
      out.append("\\&").push_back(c);
    else
      out += c;
  }
  return out;
}

std::string joined(const std::vector<std::string>& path, const char* between) {
  std::string out = "fairlead";
  for (const std::string& word : path) out += between + word;
  return out;
}

void print_options(std::ostream& out, const CLI::App& app) {
  for (const CLI::Option* option : all_options(app)) {
    const bool valued = option->get_items_expected_max() > 0;
    out << ".TP\n\\fB" << roff(option->get_name(false, true)) << "\\fR"
        << (valued && !option->get_positional() ? " \\fI" + roff(option->get_type_name()) + "\\fR"
                                                : "")
        << "\n"
        << roff(option->get_description())
        << (option->get_default_str().empty()
                ? ""
                : " Default: " + roff(option->get_default_str()) + ".")
        << "\n";
  }
}

void print_man(std::ostream& out, const CLI::App& app, const std::vector<std::string>& path) {
  const std::vector<const CLI::App*> commands = commands_of(app);
  std::string title = joined(path, "-");
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const std::string description = app.get_description();
  out << ".TH " << title << " 1 \"\" \"fairlead " FAIRLEAD_VERSION "\" \"Fairlead\"\n"
      << ".SH NAME\n"
      << roff(joined(path, "-")) << " \\- " << roff(description.substr(0, description.find('\n')))
      << "\n.SH SYNOPSIS\n\\fB" << joined(path, " ") << "\\fR [\\fIOPTIONS\\fR]"
      << (commands.empty() ? "" : " \\fICOMMAND\\fR") << "\n.SH DESCRIPTION\n"
      << roff(description) << "\n.SH OPTIONS\n";
  print_options(out, app);
  if (!commands.empty()) out << ".SH COMMANDS\n";
  for (const CLI::App* command : commands)
    out << ".TP\n\\fB" << command->get_name() << "\\fR\n"
        << roff(command->get_description()) << "\n";
  out << ".SH EXIT STATUS\n0 done; 1 the answer is no; 2 bad usage or input; 3 an operating "
         "failure; 4 something would change (plan).\n";
  if (const std::string examples = app.get_footer(); !examples.empty())
    out << ".SH EXAMPLES\n.nf\n" << roff(examples.substr(examples.find('\n') + 1)) << "\n.fi\n";
}

// Shows a page to a person, by the program `man`. False where there is none.
bool show_man(const std::string& page) {
  // Where `man` is missing, the shell's message is dropped: the caller prints the help instead.
  std::signal(SIGPIPE, SIG_IGN);
  FILE* const viewer = ::popen("man -l - 2>/dev/null", "w");
  if (viewer == nullptr) return false;
  const bool written = std::fwrite(page.data(), 1, page.size(), viewer) == page.size();
  return ::pclose(viewer) == 0 && written;
}

// roff into a pipe or a file, a page on a terminal.
void print_page(const CLI::App& app, const std::vector<std::string>& path) {
  std::ostringstream page;
  print_man(page, app, path);
  if (::isatty(STDOUT_FILENO) == 0)
    std::cout << page.str();
  else if (!show_man(page.str()))
    std::cout << app.help();
}

const CLI::App* find_page(const CLI::App& root, const std::vector<std::string>& path) {
  const CLI::App* app = &root;
  for (const std::string& word : path)
    if (app) app = find_command(*app, word);
  return app;
}

void finish(int& exit_code) {
  if (!flush_output()) exit_code = 3;
}

}  // namespace

void add_completion_command(CLI::App& app, int& exit_code) {
  struct Asked {
    std::string what;
    std::vector<std::string> words;
  };
  const auto asked = std::make_shared<Asked>();
  CLI::App* completion = app.add_subcommand(
      "completion", "Print a script that makes a shell complete commands and options");
  completion
      ->add_option("SHELL", asked->what, "bash, zsh or fish; words: the candidates themselves")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish", "words"}));
  completion->add_option("WORD", asked->words,
                         "With words, behind --: the arguments so far, the last to be completed");
  completion->callback([&app, asked, &exit_code] {
    if (asked->what == "bash") std::cout << kBash;
    if (asked->what == "zsh") std::cout << kZsh;
    if (asked->what == "fish") std::cout << kFish;
    if (asked->what == "words")
      for (const std::string& word : completion_words(app, asked->words)) std::cout << word << '\n';
    finish(exit_code);
  });
}

void add_man_command(CLI::App& app, int& exit_code) {
  const auto path = std::make_shared<std::vector<std::string>>();
  CLI::App* man = app.add_subcommand("man", "Print the man page of the program or of a command");
  man->add_option("COMMAND", *path, "Command, and the command below it: log stat");
  man->callback([&app, path, &exit_code] {
    if (const CLI::App* page = find_page(app, *path)) {
      print_page(*page, *path);
      return finish(exit_code);
    }
    std::cerr << "fairlead man: no such command: " << joined(*path, " ") << '\n';
    exit_code = 2;
  });
}

}  // namespace fairlead
