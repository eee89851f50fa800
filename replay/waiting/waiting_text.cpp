// The tables of the answers about who waits, from their documents.
#include <cstdint>

#include "replay/audit/explain_text.h"
#include "replay/audit/readable_amount.h"
#include "replay/table.h"
#include "replay/waiting/waiting.h"

namespace fairlead {

namespace {

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

// "13m5s" of a number of seconds, to the second; shorter spans in full.
std::string waited_text(const Json& seconds_as_text) {
  const std::string text = cell(seconds_as_text);
  const std::size_t point = text.find('.');
  std::string whole = text.substr(0, point);
  if (whole == "0" && point != text.npos) return text + "s";
  const auto span = parse_go_duration(whole + "s");
  return span ? to_go_duration(*span) : text + "s";
}

std::string short_text(const Json& shortage, const char* source) {
  std::string text;
  for (const Json& row : shortage)
    if (row["source"] == source)
      text += (text.empty() ? "" : ", ") +
              readable_amount(cell(row["resource"]), cell(row["amount"])) + " " +
              cell(row["resource"]) + " in " + cell(row["flavor"]);
  return text;
}

void add_sentence(std::string& text, const std::string& more) {
  if (more.empty()) return;
  if (!text.empty()) text += "; ";
  text += more;
}

// Returns whether Kueue's message names more than missing amounts: a taint, a selector, a
// namespace. Kueue names a flavor with each amount, so more flavors than amounts say that one of
// them has another fault.
bool is_about_more_than_amounts(const Json& interval) {
  std::size_t amounts = 0, flavors = 0;
  for (const Json& row : interval["shortage"])
    if (row["source"] == "message") ++amounts;
  const std::string message = text_in(interval, "message");
  for (std::size_t at = 0; (at = message.find("flavor ", at)) != message.npos; ++at) ++flavors;
  return amounts == 0 || flavors > amounts;
}

// Why an interval began, and what is missing in it.
std::string interval_words(const Json& interval, bool everything) {
  std::string text = text_in(interval, "because");
  if (interval["changes"] != 0)
    add_sentence(text, cell(interval["changes"]) + " changes between quota and preemption");
  const std::string lacking = short_text(interval["shortage"], "quota");
  if (!lacking.empty()) add_sentence(text, "short of " + lacking);
  std::string checks;
  for (const Json& check : interval["checks"])
    checks += (checks.empty() ? "" : ", ") + cell(check["name"]) + " " + cell(check["state"]);
  add_sentence(text, checks);
  // Where the fit is known the amounts say more than Kueue's words, which may be older. But where
  // all fits, something else keeps it: without its gate UnadmittedWorkloadsObservability Kueue
  // writes Pending for a taint or a namespace, too.
  const std::string message = text_in(interval, "message");
  const bool is_told = everything || interval["fit"].is_null() ||
                       (interval["fit"] == "now" && is_about_more_than_amounts(interval));
  if (!message.empty() && is_told) add_sentence(text, "Kueue: " + message);
  return text;
}

std::string fit_text(const Json& fit) { return fit.is_null() ? "-" : cell(fit); }

std::string intervals_table(const Json& intervals, std::size_t columns) {
  std::vector<TableRow> rows{{"FROM", "TO", "CLASS", "REASON", "FITS", "WHY"}};
  for (const Json& one : intervals)
    rows.push_back({cell(one["from"]), cell(one["to"]), cell(one["class"]),
                    or_dash(cell(one["reason"])), fit_text(one["fit"]),
                    interval_words(one, columns == SIZE_MAX)});
  return narrow_table_text(rows, columns);
}

std::string waiting_one_text(const Json& document, std::size_t columns) {
  std::string text = "as of " + cell(document["asOf"]) + "\nWorkload " +
                     cell(document["namespace"]) + "/" + cell(document["name"]) +
                     " in LocalQueue " + or_dash(cell(document["queue"])) + ", ClusterQueue " +
                     or_dash(cell(document["clusterQueue"])) + ": " + cell(document["state"]) +
                     ", waited " + waited_text(document["waited"]) + "\n";
  for (const Json& wait : document["waits"]) {
    const bool goes_on = wait["end"] == "waiting";
    text += "\n" + std::string(goes_on ? "Waits since " : "Waited from ") + cell(wait["from"]) +
            (goes_on ? "" : " to " + cell(wait["to"]) + ", then " + cell(wait["end"])) + ": " +
            waited_text(wait["waited"]) + "\n" + intervals_table(wait["intervals"], columns);
  }
  for (const Json& worker : document["workers"])
    text += "\nOn worker " + cell(worker["cluster"]) + ":\n" +
            intervals_table(worker["intervals"], columns);
  if (document["waits"].empty()) text += "it did not wait in this span\n";
  return text;
}

std::string waiting_list_text(const Json& document, std::size_t columns) {
  const std::string queue = cell(document["queue"]);
  std::string text = "as of " + cell(document["asOf"]) + ", " +
                     std::to_string(document["workloads"].size()) +
                     (document["workloads"].size() == 1 ? " Workload waits" : " Workloads wait") +
                     (queue.empty() ? "" : " for ClusterQueue " + queue) + "\n";
  std::vector<TableRow> rows{
      {"WORKLOAD", "QUEUE", "WAITED", "CLASS", "REASON", "FITS", "SHORT OF"}};
  for (const Json& row : document["workloads"]) {
    // Where the fit is not known Kueue's message is all that there is.
    const std::string lacking =
        short_text(row["shortage"], row["fit"].is_null() ? "message" : "quota");
    rows.push_back({cell(row["namespace"]) + "/" + cell(row["name"]),
                    or_dash(cell(row["clusterQueue"])), waited_text(row["waited"]),
                    cell(row["class"]), or_dash(cell(row["reason"])), fit_text(row["fit"]),
                    or_dash(lacking)});
  }
  return rows.size() == 1 ? text : text + narrow_table_text(rows, columns);
}

std::string blocked_text(const Json& document, std::size_t columns) {
  std::string text =
      cell(document["object"]) + " kept " + std::to_string(document["workloads"].size()) +
      (document["workloads"].size() == 1 ? " Workload" : " Workloads") + " waiting\n";
  std::vector<TableRow> rows{{"WORKLOAD", "WAITED"}};
  for (const Json& row : document["workloads"])
    rows.push_back({cell(row["namespace"]) + "/" + cell(row["name"]), waited_text(row["waited"])});
  if (rows.size() > 1) text += narrow_table_text(rows, columns);
  for (const Json& row : document["resourceSeconds"])
    text += cell(row["amount"]) + " " + cell(row["resource"]) + " x seconds waited\n";
  std::vector<TableRow> lowered{{"QUEUE", "FLAVOR", "RESOURCE", "FROM", "TO", "TIME", "SEQ"}};
  for (const Json& row : document["quotas"]) {
    const std::string resource = cell(row["resource"]);
    lowered.push_back({cell(row["clusterQueue"]), cell(row["flavor"]), resource,
                       readable_amount(resource, cell(row["from"])),
                       readable_amount(resource, cell(row["to"])), cell(row["time"]),
                       cell(row["seq"])});
  }
  if (lowered.size() > 1) text += "quotas lowered\n" + narrow_table_text(lowered, columns);
  return text;
}

}  // namespace

std::string waiting_text(const Json& document, std::size_t columns) {
  const std::string kind = text_in(document, "kind");
  if (kind == "Waiting") return waiting_one_text(document, columns);
  return kind == "WaitingList" ? waiting_list_text(document, columns)
                               : blocked_text(document, columns);
}

}  // namespace fairlead
