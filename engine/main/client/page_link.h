// Turns a link of the audit page into the command that gives the same answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/main/client/audit_question.h"

namespace fairlead {

struct PageLink {
  std::string server;              ///< http://HOST:PORT; empty: the page is a file
  std::vector<std::string> words;  ///< of the command, without the place of the log
  /// What is asked, where it is a question of `audit`.
  std::optional<AuditQuestion> question;
  /// The log that was shown: its hash chain at an event.
  Seq seq{};
  std::string chain;
};

/// Reads a link. Fails with `bad_input` if it is none, or of a view that no command has.
Result<PageLink> read_page_link(std::string_view link);

/// A line of a shell with these words.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace fairlead
