#include "engine/main/commands/help_text.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace fairlead {

namespace {

constexpr std::size_t kHelpColumns = 80;
// Option groups indent their options by two more.
constexpr std::size_t kGroupIndent = 2;

struct ExamplesOf {
  std::string_view command;  // below `fairlead`; empty: itself
  std::array<std::string_view, 2> lines;
};

constexpr auto kExamples = std::to_array<ExamplesOf>({
    {"", {"fairlead dev", "fairlead audit quota --as-of 14:07"}},
    {"hub",
     {"fairlead hub --data /var/lib/fairlead/data --config fairlead.yaml",
      "fairlead hub --recommend-only --kubeconfig hub.kubeconfig"}},
    {"dev", {"fairlead dev --fleet pool", "fairlead dev --speed 300 --for 1m --data fleet-data"}},
    {"plan",
     {"fairlead plan -o table docs/incident/hub.yaml docs/incident/nodes.jsonl",
      "kubectl get nodes,clusterqueues -o yaml | fairlead plan --detailed-exitcode -"}},
    {"log",
     {"fairlead log cat --follow -o text", "fairlead log verify --bundle incident.fairlead"}},
    {"log stat",
     {"fairlead log stat --data fairlead-data", "fairlead log stat --context hub-1 -o json"}},
    {"log cat",
     {"fairlead log cat --from yesterday --where 'kind=Node (name~gpu or NotReady)'",
      "fairlead log cat --follow --where 'kind=PatchIntended' -o text"}},
    {"log verify",
     {"fairlead log verify --data fairlead-data", "fairlead log verify --bundle x.fairlead"}},
    {"log export",
     {"fairlead log export incident.fairlead --data fairlead-data --to 15:00",
      "fairlead log export hub-1.fairlead --context hub-1 --force"}},
    {"log import",
     {"fairlead log import incident.fairlead --data incident-data",
      "fairlead log import incident.fairlead --data incident-data -o json"}},
    {"log prune",
     {"fairlead log prune --data fairlead-data --before -90d",
      "fairlead log prune --data fairlead-data --before 2026-01-01"}},
    {"log replicate",
     {"fairlead log replicate --data fairlead-data --config fairlead.yaml",
      "fairlead log replicate --data fairlead-data --config fairlead.yaml --replace"}},
    {"log unreplicate",
     {"fairlead log unreplicate --data fairlead-data --config fairlead.yaml",
      "fairlead log unreplicate --data fairlead-data --config fairlead.yaml --replace"}},
    {"replay",
     {"fairlead replay --verify --data fairlead-data",
      "fairlead replay --speed 60 --from 14:00 --bundle incident.fairlead"}},
    {"audit",
     {"fairlead audit why training --as-of 14:07",
      "fairlead audit --url 'http://127.0.0.1:8787/ui/#view=queue&queue=training'"}},
    {"audit quota",
     {"fairlead audit quota --as-of yesterday", "fairlead audit quota training -o wide --follow"}},
    {"audit history",
     {"fairlead audit history training --resource gpu --from -3d",
      "fairlead audit history --namespace acme/web --to 14:07"}},
    {"audit diff", {"fairlead audit diff 14:05 14:07 training", "fairlead audit diff -- -1h now"}},
    {"audit why",
     {"fairlead audit why training on-demand gpu --as-of 14:07",
      "fairlead audit why --pod acme/web/large"}},
    {"audit why-not",
     {"fairlead audit why-not training on-demand gpu",
      "fairlead audit why-not workload/team-ml/sim-1"}},
    {"audit admissions",
     {"fairlead audit admissions --from -7d",
      "fairlead audit admissions --object ClusterQueue/training"}},
    {"audit waiting",
     {"fairlead audit waiting team/train",
      "fairlead audit waiting --queue training --as-of 14:07"}},
    {"audit blocked-by",
     {"fairlead audit blocked-by node/gpu-6", "fairlead audit blocked-by cluster/east --from -7d"}},
    {"waiting", {"fairlead waiting team/train", "kubectl fairlead waiting"}},
    {"whatif",
     {"fairlead whatif --set debounce.shrinkWindow=10m --from yesterday",
      "fairlead whatif --config other.yaml --bundle incident.fairlead"}},
    {"usage",
     {"fairlead usage --from 2026-11-01 --to 2026-12-01 --unit hours -o csv",
      "fairlead usage --by namespace --every 1d --time-zone Europe/Berlin"}},
    {"serve",
     {"fairlead serve --context hub-1 --open",
      "fairlead serve --save incident.html --queue training --from 14:00 --to 15:00"}},
    {"snapshot",
     {"fairlead snapshot list --data fairlead-data",
      "fairlead snapshot verify --data fairlead-data"}},
    {"snapshot list",
     {"fairlead snapshot list --data fairlead-data",
      "fairlead snapshot list --data fairlead-data -o json"}},
    {"snapshot take",
     {"fairlead snapshot take --data fairlead-data",
      "fairlead snapshot take --data fairlead-data -o json"}},
    {"snapshot verify",
     {"fairlead snapshot verify --data fairlead-data",
      "fairlead snapshot verify --data fairlead-data -o json"}},
    {"snapshot prune",
     {"fairlead snapshot prune --data fairlead-data --keep 3",
      "fairlead snapshot prune --data fairlead-data --keep 1 -o json"}},
    {"completion",
     {"source <(fairlead completion bash)",
      "fairlead completion fish >~/.config/fish/completions/fairlead.fish"}},
    {"man", {"fairlead man audit why", "fairlead man plan | man -l -"}},
});

// A text whose first line is a sentence of its own.
std::string wrapped_paragraph(std::string text, std::size_t columns) {
  const std::size_t first = text.find('\n');
  for (char& c : text)
    if (c == '\n' && &c != text.data() + first) c = ' ';
  return wrapped(text, columns);
}

class WrappedHelp final : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(option->get_description(), text_columns());
  }
  // In a list of commands, the first line of what each says of itself.
  std::string make_subcommand(const CLI::App* command) const override {
    std::stringstream out;
    const std::string text = command->get_description();
    CLI::detail::format_help(out, command->get_display_name(true),
                             wrapped(text.substr(0, text.find('\n')), text_columns()),
                             column_width_);
    return out.str();
  }
  std::string make_description(const CLI::App* app) const override {
    return wrapped_paragraph(app->get_description(), kHelpColumns) + "\n";
  }

 private:
  std::size_t text_columns() const { return kHelpColumns - kGroupIndent - column_width_; }
};

void add_examples_below(CLI::App& app, const std::string& path) {
  for (const auto& [command, lines] : kExamples)
    if (command == path)
      app.footer("Examples:\n  " + std::string(lines[0]) + "\n  " + std::string(lines[1]));
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; }))
    if (!command->get_name().empty())
      add_examples_below(*command, path + (path.empty() ? "" : " ") + command->get_name());
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t columns) {
  std::string out;
  std::size_t used = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\n' || text[at] == ' ') {
      if (text[at] == '\n') {
        out += '\n';
        used = 0;
      }
      ++at;
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    if (used > 0 && used + 1 + (end - at) > columns) {
      out += '\n';
      used = 0;
    }
    if (used > 0) out += ' ';
    used += (used > 0 ? 1 : 0) + (end - at);
    out.append(text.substr(at, end - at));
    at = end;
  }
  return out;
}

std::vector<const CLI::Option*> all_options(const CLI::App& app) {
  std::vector<const CLI::Option*> options =
      app.get_options([](const CLI::Option*) { return true; });
  for (const CLI::App* group :
       app.get_subcommands([](const CLI::App* below) { return below->get_name().empty(); }))
    for (const CLI::Option* option : all_options(*group)) options.push_back(option);
  return options;
}

void wrap_help(CLI::App& app) { app.formatter(std::make_shared<WrappedHelp>()); }

void add_examples(CLI::App& app) { add_examples_below(app, ""); }

}  // namespace fairlead
