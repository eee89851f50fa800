#include "replay/bundle/bundle_sections.h"

#include "schema/codec.h"

namespace fairlead {
namespace {

// The position that a head names; nullopt if that is none.
std::optional<LogTail> tail_in(const Json& head, const char* name) {
  const Json& tail = member(head, name);
  const auto seq = natural_in(tail, "seq");
  const Json& time = member(tail, "logTime");
  const auto chain = Digest::from_hex(text_in(tail, "chain"));
  if (!seq || !time.is_number_integer() || !chain) return std::nullopt;
  return LogTail{{*seq}, {time.get<std::int64_t>()}, *chain};
}

}  // namespace

Result<void> read_head(Bundle& bundle, const BundleSection& section) {
  const auto refuse = [&section](ErrorCode code, const std::string& what) {
    return Error{code, section.place() + ": " + what};
  };
  const Json head = read_json(section.payload);
  if (text_in(head, "format") != kBundleFormat)
    return refuse(ErrorCode::incompatible, "it is no bundle");
  const auto version = natural_in(head, "version"), schema = natural_in(head, "schemaVersion");
  if (!version || !schema) return refuse(ErrorCode::corrupt, "it has no versions");
  if (*version > kBundleVersion || *schema > kSchemaVersion)
    return refuse(ErrorCode::incompatible,
                  "it was written by a newer program, " + text_in(head, "programVersion") +
                      ", with schema version " + std::to_string(*schema) +
                      "; this program reads up to " + std::to_string(kSchemaVersion));
  const auto base = tail_in(head, "base"), last = tail_in(head, "last");
  if (!base || !last) return refuse(ErrorCode::corrupt, "it has no base or no last position");
  bundle.base = *base;
  bundle.tail = *last;
  for (const Json& entry : list_in(head, "epochs")) {
    const auto epoch = natural_in(entry, "epoch");
    if (!epoch) return refuse(ErrorCode::corrupt, "an epoch has no number");
    bundle.epochs[Epoch{*epoch}] = text_in(entry, "programVersion");
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
