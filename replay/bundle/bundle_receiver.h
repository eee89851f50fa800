// Writes a bundle file out of its pages (bundle_page.h), and checks each section as open_bundle()
// does, so that a file that gets its name can be imported. In memory is one section at a time.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "replay/bundle/bundle.h"
#include "replay/bundle/bundle_page.h"

namespace fairlead {

class BundleReceiver {
 public:
  /// Begins to write into `path`.partial. Fails as BundleWriter::begin does.
  static Result<std::unique_ptr<BundleReceiver>> begin(const std::filesystem::path& path);

  /// Adds the sections of the next page. Fails with `corrupt` if it does not continue what came
  /// before or a section is not what was sent, with `incompatible` if a newer program made it, with
  /// `unavailable` if the file cannot be written.
  Result<void> add(const BundlePage& page);
  /// Replaces what exists at the path. Fails with `corrupt` if something is missing.
  Result<BundleReport> finish();
  /// The last event that was received; 0 before the first.
  Seq reached() const { return reached_.last; }

 private:
  explicit BundleReceiver(std::unique_ptr<BundleWriter> writer) : writer_(std::move(writer)) {}
  Result<void> add_part(const BundlePart& part);
  Result<void> add_section();
  Result<void> check(const BundleSection& section);

  const std::unique_ptr<BundleWriter> writer_;
  bool has_head_ = false;
  Bundle bundle_;                   // its head and configuration
  LogTail reached_;                 // by the packs
  std::optional<BundlePart> part_;  // the section that is not whole yet, with the bytes so far
  BundleReport report_;
};

}  // namespace fairlead
