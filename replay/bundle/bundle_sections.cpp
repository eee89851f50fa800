#include "replay/bundle/bundle_sections.h"

#include "schema/codec.h"

namespace fairlead {
namespace {

// Throws nlohmann's exceptions; the caller converts them into an error.
LogTail tail_of(const Json& json) {
  LogTail tail{{json.at("seq").get<std::uint64_t>()},
               {json.at("logTime").get<std::int64_t>()},
               Digest::from_hex(json.at("chain").get<std::string>()).value_or(Digest{})};
  return tail;
}

}  // namespace

Result<void> read_head(Bundle& bundle, const BundleSection& section) {
  const auto refuse = [&section](ErrorCode code, const std::string& what) {
    return Error{code, section.place() + ": " + what};
  };
  try {
    const Json head = read_own_json(section.payload);
    if (head.at("format") != kBundleFormat)
      return refuse(ErrorCode::incompatible, "it is no bundle");
    if (head.at("version").get<unsigned>() > kBundleVersion ||
        head.at("schemaVersion").get<unsigned>() > kSchemaVersion)
      return refuse(ErrorCode::incompatible,
                    "it was written by a newer program, " +
                        head.at("programVersion").get<std::string>() + ", with schema version " +
                        to_text(head.at("schemaVersion")) + "; this program reads up to " +
                        std::to_string(kSchemaVersion));
    bundle.base = tail_of(head.at("base"));
    bundle.tail = tail_of(head.at("last"));
    for (const Json& entry : head.at("epochs"))
      bundle.epochs[Epoch{entry.at("epoch").get<std::uint64_t>()}] =
          entry.at("programVersion").get<std::string>();
  } catch (const Json::exception& error) {
    return refuse(ErrorCode::corrupt, error.what());
  }
  return {};
}

Result<void> read_configuration(Bundle& bundle, const BundleSection& section) {
  bundle.configuration = read_json(section.payload);
  if (!bundle.configuration.is_discarded()) return {};
  return Error{ErrorCode::corrupt, section.place() + ": it is no JSON"};
}

Result<PackHeader> next_pack(const BundleSection& section, LogTail& reached) {
  const auto header = read_pack_header(section.payload);
  if (!header) return in_context(section.place(), header.error());
  const bool continues = header->first == next(reached.last) && header->previous == reached.chain &&
                         section.seq == header->first && header->first_time >= reached.last_time;
  if (!continues)
    return Error{ErrorCode::corrupt, section.place() + ": the hash chain does not continue"};
  reached = {header->last(), header->last_time, header->digest};
  return header;
}

Error unknown_section(const BundleSection& section) {
  return {ErrorCode::incompatible, section.place() + ": this program knows no such section"};
}

Result<void> expect_end(const Bundle& bundle, const LogTail& reached) {
  if (reached.last == bundle.tail.last && reached.chain == bundle.tail.chain) return {};
  return Error{ErrorCode::corrupt, "the events end at seq " + std::to_string(reached.last.value) +
                                       ", other than section FLB1 at offset 0 says"};
}

}  // namespace fairlead
