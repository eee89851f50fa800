#include "engine/log/acknowledged.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "engine/log/private_files.h"

namespace fairlead {
namespace {

constexpr std::size_t kSlotBytes = 64;
constexpr std::size_t kSlotCheckOffset = 56;
constexpr std::string_view kSlotMagic = "FLACK001";

std::string_view check_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes.data()), kSlotBytes - kSlotCheckOffset};
}

std::string slot_bytes(const Acknowledged& mark) {
  std::string slot(kSlotMagic);
  for (unsigned i = 0; i < 8; ++i) slot += static_cast<char>(mark.seq.value >> 8 * i & 0xFF);
  slot.append(reinterpret_cast<const char*>(mark.chain.bytes.data()), mark.chain.bytes.size());
  slot.append(8, '\0');
  slot += check_of(sha256(slot));
  return slot;
}

std::optional<Acknowledged> parse_slot(std::string_view slot) {
  if (slot.size() < kSlotBytes || !slot.starts_with(kSlotMagic)) return std::nullopt;
  if (slot.substr(kSlotCheckOffset) != check_of(sha256(slot.substr(0, kSlotCheckOffset))))
    return std::nullopt;
  Acknowledged mark;
  for (unsigned i = 0; i < 8; ++i)
    mark.seq.value |= std::uint64_t{static_cast<unsigned char>(slot[8 + i])} << 8 * i;
  std::memcpy(mark.chain.bytes.data(), slot.data() + 16, mark.chain.bytes.size());
  return mark;
}

}  // namespace

std::optional<Acknowledged> read_acknowledged(const std::filesystem::path& file) {
  std::array<char, 2 * kSlotBytes> bytes{};
  // O_NONBLOCK: a FIFO or device in its place is not a watermark, and must not block the start.
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return std::nullopt;
  struct stat found{};
  // A file that ends early leaves zeros in `bytes`, which are not a slot.
  const bool read = ::fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode) &&
                    ::pread(descriptor, bytes.data(), bytes.size(), 0) > 0;
  ::close(descriptor);
  if (!read) return std::nullopt;
  const std::string_view all(bytes.data(), bytes.size());
  const auto first = parse_slot(all.substr(0, kSlotBytes));
  const auto second = parse_slot(all.substr(kSlotBytes));
  // One slot may be torn; of two whole ones the later commit is the watermark.
  if (!first || !second) return first ? first : second;
  return first->seq > second->seq ? first : second;
}

Result<std::unique_ptr<AcknowledgedFile>> AcknowledgedFile::open(
    const std::filesystem::path& file) {
  const Result<int> opened = open_private_file(file);
  if (!opened) return opened.error();
  return std::unique_ptr<AcknowledgedFile>(new AcknowledgedFile(*opened));
}

AcknowledgedFile::~AcknowledgedFile() { ::close(descriptor_); }

bool AcknowledgedFile::write_slot(const Acknowledged& mark) {
  const std::string slot = slot_bytes(mark);
  const auto offset = static_cast<off_t>(next_slot_ * kSlotBytes);
  if (::pwrite(descriptor_, slot.data(), slot.size(), offset) != static_cast<ssize_t>(kSlotBytes))
    return false;
  // Only after a whole write: a torn slot is the one that is overwritten next.
  next_slot_ = 1 - next_slot_;
  return true;
}

// Both slots: a slot of a former log must not win as the later commit. Synced, because a log with
// events and without a watermark counts as damaged.
bool AcknowledgedFile::begin(const Acknowledged& mark) {
  return write_slot(mark) && write_slot(mark) && sync();
}

// A watermark that is not written only proves less: the commit itself is durable.
void AcknowledgedFile::write(const Acknowledged& mark) { static_cast<void>(write_slot(mark)); }

// fdatasync flushes a size that grew too; only times are left out.
bool AcknowledgedFile::sync() { return ::fdatasync(descriptor_) == 0; }

}  // namespace fairlead
