#include "replay/bundle/bundle_receiver.h"

#include <utility>

#include "replay/bundle/bundle_sections.h"
#include "snapshots/snapshot_store.h"

namespace fairlead {

namespace {

Error broken_part(const BundlePart& part, const char* what) {
  return {ErrorCode::corrupt,
          "section " + part.tag + " of seq " + std::to_string(part.seq.value) + ": " + what};
}

}  // namespace

Result<std::unique_ptr<BundleReceiver>> BundleReceiver::begin(const std::filesystem::path& path) {
  auto writer = BundleWriter::begin(path);
  if (!writer) return writer.error();
  return std::unique_ptr<BundleReceiver>(new BundleReceiver(*std::move(writer)));
}

Result<void> BundleReceiver::add(const BundlePage& page) {
  for (const BundlePart& part : page.parts)
    if (auto added = add_part(part); !added) return added;
  return {};
}

Result<void> BundleReceiver::add_part(const BundlePart& part) {
  if (!part_) {
    if (part.offset != 0) return broken_part(part, "its beginning is missing");
    part_ = part;
  } else {
    const bool continues = part.tag == part_->tag && part.seq == part_->seq &&
                           part.size == part_->size && part.offset == part_->bytes.size();
    if (!continues) return broken_part(*part_, "its end is missing");
    part_->bytes += part.bytes;
  }
  if (part_->bytes.size() > part_->size) return broken_part(part, "it is longer than it says");
  return part_->bytes.size() == part_->size ? add_section() : Result<void>();
}

Result<void> BundleReceiver::add_section() {
  const BundlePart part = *std::exchange(part_, std::nullopt);
  if (part.digest && sha256(part.bytes) != *part.digest)
    return broken_part(part, "its bytes are not what was sent");
  if (auto checked = check({part.tag, part.seq, writer_->bytes(), part.bytes}); !checked)
    return checked;
  return writer_->add(part.tag, part.seq, part.bytes);
}

Result<void> BundleReceiver::check(const BundleSection& section) {
  if (!std::exchange(has_head_, true)) {
    if (section.tag != "FLB1")
      return Error{ErrorCode::corrupt, section.place() + ": expected FLB1 first"};
    if (auto head = read_head(bundle_, section); !head) return head;
    reached_ = bundle_.base;
    return {};
  }
  if (section.tag == "CONF") return read_configuration(bundle_, section);
  if (section.tag == "SNAP") {
    const auto info = read_snapshot_info(section.payload);
    if (!info) return in_context(section.place(), info.error());
    ++report_.snapshots;
    return {};
  }
  if (section.tag != "PACK") return unknown_section(section);
  const auto header = next_pack(section, reached_);
  if (!header) return header.error();
  ++report_.commits;
  report_.events += header->count;
  return {};
}

Result<BundleReport> BundleReceiver::finish() {
  if (part_) return broken_part(*part_, "its end is missing");
  if (!has_head_) return Error{ErrorCode::corrupt, "nothing was received"};
  if (auto ends = expect_end(bundle_, reached_); !ends) return ends.error();
  if (auto finished = writer_->finish(); !finished) return finished.error();
  report_.first = report_.events == 0 ? Seq{} : next(bundle_.base.last);
  report_.last = bundle_.tail.last;
  report_.chain = bundle_.tail.chain;
  report_.bytes = writer_->bytes();
  return report_;
}

}  // namespace fairlead
