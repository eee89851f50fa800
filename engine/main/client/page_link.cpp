#include "engine/main/client/page_link.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <utility>

#include "engine/main/client/http_target.h"

namespace fairlead {

namespace {

using Address = std::map<std::string, std::string, std::less<>>;

std::string part(const Address& address, std::string_view name) {
  const auto at = address.find(name);
  return at == address.end() ? "" : at->second;
}

AuditQuestion about(std::string subject, std::string object, std::string as_of) {
  AuditQuestion question;
  question.subject = std::move(subject);
  question.queue = std::move(object);
  question.as_of = std::move(as_of);
  return question;
}

AuditQuestion history_of(std::string object, const Address& address) {
  AuditQuestion question = about("history", std::move(object), "");
  question.from = part(address, "from");
  question.to = part(address, "to");
  return question;
}

// The cursor; until it was moved, the end of what is shown.
std::string cursor_of(const Address& address) {
  const std::string at = part(address, "at");
  return at.empty() ? part(address, "to") : at;
}

AuditQuestion about_queue(const Address& address) {
  const std::string resource = part(address, "resource");
  if (resource.empty()) return history_of(part(address, "queue"), address);
  AuditQuestion question = about("why", part(address, "queue"), cursor_of(address));
  question.flavor = part(address, "flavor");
  question.resource = resource;
  return question;
}

AuditQuestion about_list(const Address& address) {
  return about("why", "multikueueconfig/" + part(address, "list"), cursor_of(address));
}

// Without a setting a what-if shows what happened.
AuditQuestion about_what_happened(const Address& address) {
  AuditQuestion question = history_of(part(address, "queue"), address);
  question.flavor = part(address, "flavor");
  question.resource = part(address, "resource");
  return question;
}

AuditQuestion about_two_moments(const Address& address) {
  AuditQuestion question = about("diff", part(address, "queue"), "");
  question.from = part(address, "a");
  question.to = part(address, "b");
  if (question.from.empty()) question.from = "end-1h";  // as the page shows it
  if (question.to.empty()) question.to = "end";
  return question;
}

AuditQuestion about_pool(const Address& address) {
  AuditQuestion question = about("why", "", cursor_of(address));
  question.pod = part(address, "pod");
  if (question.pod.empty()) question.namespace_ = part(address, "namespace");
  return question;
}

AuditQuestion about_waits(const Address& address) {
  AuditQuestion question = about("waiting", "", "");
  question.workload = part(address, "workload");
  if (question.workload.empty()) {
    question.queue = part(address, "queue");
    question.as_of = part(address, "to");
    return question;
  }
  question.from = part(address, "from");
  question.to = part(address, "to");
  return question;
}

AuditQuestion about_blast(const Address& address) {
  AuditQuestion question = history_of("", address);
  question.subject = "blocked-by";
  question.object = part(address, "object");
  return question;
}

// The question of a view; nullopt: it is not a question of `audit`.
std::optional<AuditQuestion> asked_by(const std::string& view, const Address& address) {
  const bool of_pool = !part(address, "namespace").empty() || !part(address, "pod").empty();
  if (view == "fleet") return about("quota", "", part(address, "to"));
  if (view == "queue") return about_queue(address);
  if (view == "list") return about_list(address);
  if (view == "cohort") return history_of("cohort/" + part(address, "cohort"), address);
  if (view == "diff") return about_two_moments(address);
  if (view == "pool" && of_pool) return about_pool(address);
  if (view == "waiting") return about_waits(address);
  if (view == "blast" && !part(address, "object").empty()) return about_blast(address);
  if (view == "whatif" && part(address, "set").empty() && !part(address, "queue").empty())
    return about_what_happened(address);
  return std::nullopt;
}

// The settings of a what-if, which an address has as "growWindow=10s,shrinkWindow=1m"; where it has
// none, the one that the page begins with.
std::vector<std::string> settings_in(std::string_view text) {
  std::vector<std::string> settings;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    if (!one.empty()) settings.push_back("debounce." + std::string(one));
  }
  if (settings.empty()) settings.emplace_back("debounce.growWindow=1m0s");
  return settings;
}

// The command of a view that is not a question of `audit`; empty: there is none.
std::vector<std::string> other_words(const std::string& view, const Address& address) {
  // As many events as the view shows.
  constexpr const char* kEventsOfCluster = "100";
  constexpr const char* kEventsOfLog = "200";
  if (view == "cluster")
    return {"fairlead",
            "log",
            "cat",
            "--where",
            "cluster=" + part(address, "cluster") + " kind=Node",
            "--last",
            kEventsOfCluster};
  if (view == "log") {
    std::vector<std::string> words{"fairlead", "log", "cat"};
    if (const std::string where = part(address, "where"); !where.empty())
      words.insert(words.end(), {"--where", where});
    words.insert(words.end(), {"--last", kEventsOfLog});
    return words;
  }
  if (view == "proof") return {"fairlead", "log", "verify"};
  std::vector<std::string> words{"fairlead", view};
  if (view == "usage") {
    const std::string by = part(address, "by");
    words.insert(words.end(), {"--by", by.empty() ? "queue" : by});
  } else if (view == "whatif") {
    for (const std::string& setting : settings_in(part(address, "set")))
      words.insert(words.end(), {"--set", setting});
  } else {
    return {};
  }
  for (const char* name : {"from", "to"})
    if (const std::string value = part(address, name); !value.empty())
      words.insert(words.end(), {std::string("--") + name, value});
  return words;
}

// "http://HOST:PORT" of a page that is served.
std::string server_in(std::string_view page) {
  const std::size_t host = page.find("://");
  if (host == page.npos || !page.starts_with("http")) return "";
  return std::string(page.substr(0, page.find('/', host + 3)));
}

}  // namespace

Result<PageLink> read_page_link(std::string_view link) {
  const std::size_t hash = link.find('#');
  if (hash == link.npos && link.find("/ui/") == link.npos)
    return Error{ErrorCode::bad_input,
                 "--url: expected a link of the audit page "
                 "(http://127.0.0.1:8787/ui/#view=queue&queue=...), got \"" +
                     std::string(link) + "\""};
  const auto target =
      parse_target("/?" + std::string(hash == link.npos ? "" : link.substr(hash + 1)));
  if (!target) return in_context("--url", target.error());
  Address address;
  for (const auto& [name, value] : target->parameters) address[name] = value;
  std::string view = part(address, "view");
  if (view.empty()) view = "fleet";
  PageLink read{
      server_in(link.substr(0, hash)), {}, asked_by(view, address), {}, part(address, "chain")};
  const std::string seq = part(address, "seq");
  std::from_chars(seq.data(), seq.data() + seq.size(), read.seq.value);
  read.words = read.question ? command_words(*read.question) : other_words(view, address);
  if (read.words.empty())
    return Error{ErrorCode::bad_input,
                 "--url: no command prints what the view \"" + view + "\" shows"};
  return read;
}

std::string shell_line(const std::vector<std::string>& words) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=@%+,-";
  std::string line;
  for (const std::string& word : words) {
    line += line.empty() ? "" : " ";
    if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

}  // namespace fairlead
