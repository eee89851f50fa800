#include "engine/main/service/log_copy.h"

#include <system_error>

#include "engine/log/rocksdb/log_import.h"
#include "engine/main/client/hub_client.h"
#include "engine/main/client/log_export.h"
#include "replay/bundle/bundle.h"

namespace fairlead {

Result<void> copy_log(const HubPlace& from, const std::filesystem::path& data,
                      const Logger& logger) {
  logger({Severity::info, "copying the log of another replica", {{"from", from.server}}});
  const auto ask = reach_hub(from);
  if (!ask) return ask.error();
  std::error_code ignored;
  std::filesystem::create_directories(data, ignored);
  const std::filesystem::path file = data / kCopyName;
  const auto copy = [&]() -> Result<BundleReport> {
    if (auto exported = export_from_hub(*ask, file, "", {}); !exported) return exported;
    const auto bundle = open_bundle(file);
    if (!bundle) return bundle.error();
    return import_bundle(**bundle, data, {});
  };
  const auto copied = copy();
  std::filesystem::remove(file, ignored);
  if (!copied) return in_context("--copy-from " + from.server, copied.error());
  logger({Severity::info,
          "the log was copied",
          {{"events", std::to_string(copied->events)}, {"chain", copied->chain.hex()}}});
  return {};
}

}  // namespace fairlead
