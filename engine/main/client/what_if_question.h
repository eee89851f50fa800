// A question about history under another configuration, as `fairlead whatif` and the audit page ask
// it.
#pragma once

#include <string>

#include "engine/main/client/configuration_options.h"
#include "engine/main/client/http_target.h"
#include "replay/whatif/what_if.h"

namespace fairlead {

struct WhatIfQuestion {
  ConfigurationOptions configuration;
  std::string from, to;  ///< positions (position.h); empty: all of the log

  friend bool operator==(const WhatIfQuestion&, const WhatIfQuestion&) = default;
};

/// Fails with `bad_input` if the question has neither a setting nor a file, or one that is wrong.
Result<void> check_what_if(const WhatIfQuestion& question);
/// Returns the options of what_if() for a question that check_what_if() accepts. Fails with
/// `bad_input` for a bad position, and as the log fails to be read.
Result<WhatIfOptions> what_if_options(const ReadableLog& log, const WhatIfQuestion& question);

/// Reads the parameters `set` (as often as there are settings), `from` and `to` of a target.
WhatIfQuestion what_if_question(const HttpTarget& target);

}  // namespace fairlead
