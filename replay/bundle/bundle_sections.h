// What a reader of a bundle checks of each section, whether the bundle is a file or on its way.
#pragma once

#include <string_view>

#include "replay/bundle/bundle.h"

namespace fairlead {

/// What the section FLB1 names as `format` and `version`.
inline constexpr std::string_view kBundleFormat = "fairlead.io/bundle";
inline constexpr unsigned kBundleVersion = 1;

/// Reads FLB1 into `bundle`. Fails with `incompatible` if a newer program wrote the bundle.
Result<void> read_head(Bundle& bundle, const BundleSection& section);
/// Reads CONF into `bundle`.
Result<void> read_configuration(Bundle& bundle, const BundleSection& section);
/// Reads the header of a PACK, and moves `reached` to its end. Fails with `corrupt` unless it
/// continues the hash chain from there.
Result<PackHeader> next_pack(const BundleSection& section, LogTail& reached);
/// The error for a section with a tag that no version up to this one writes.
Error unknown_section(const BundleSection& section);
/// Fails with `corrupt` unless the events end where FLB1 says.
Result<void> expect_end(const Bundle& bundle, const LogTail& reached);

}  // namespace fairlead
