#include "replay/bundle/bundle_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "engine/log/private_files.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFirstTag = "FLB1";
constexpr std::string_view kLastTag = "TAIL";
constexpr std::size_t kDigestOffset = 32;
constexpr std::size_t kBufferBytes = std::size_t{4} << 20;

Error io_error(const fs::path& path) {
  return {errno == ENOENT || errno == EISDIR ? ErrorCode::not_found : ErrorCode::unavailable,
          path.string() + ": " + std::generic_category().message(errno)};
}

void put(std::string& out, std::uint64_t value) {
  for (unsigned i = 0; i < 8; ++i) out += static_cast<char>(value >> 8 * i & 0xFF);
}
std::uint64_t get(std::string_view bytes, std::size_t offset) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < 8; ++i)
    value |= std::uint64_t{static_cast<unsigned char>(bytes[offset + i])} << 8 * i;
  return value;
}
std::string_view as_text(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

Digest digest_of(std::string_view header, std::string_view payload) {
  const std::array<std::string_view, 2> parts{header.substr(0, kDigestOffset), payload};
  return sha256(parts);
}

bool printable(std::string_view tag) {
  for (const char letter : tag)
    if (letter < '0' || letter > 'Z') return false;
  return true;
}

}  // namespace

std::string BundleSection::place() const {
  std::string text = "section";
  if (printable(tag)) text += " " + std::string(tag);
  if (seq.value > 0) text += " of seq " + std::to_string(seq.value);
  return text + " at offset " + std::to_string(offset);
}

Result<std::unique_ptr<BundleFile>> BundleFile::open(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return io_error(path);
  struct stat about{};
  if (::fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) {
    ::close(descriptor);
    return Error{ErrorCode::incompatible, path.string() + " is no file"};
  }
  const auto size = static_cast<std::size_t>(about.st_size);
  // Read at once: read_sections() digests every byte.
  void* memory = size == 0
                     ? MAP_FAILED
                     : ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, descriptor, 0);
  const int failed = errno;
  ::close(descriptor);
  if (size == 0) return Error{ErrorCode::incompatible, path.string() + " is empty: no bundle"};
  if (memory == MAP_FAILED) {
    errno = failed;
    return io_error(path);
  }
  std::unique_ptr<BundleFile> file(new BundleFile({static_cast<const char*>(memory), size}));
  if (auto read = file->read_sections(); !read) return in_context(path.string(), read.error());
  return file;
}

BundleFile::~BundleFile() {
  // mmap gives what may be written; only munmap wants that back.
  ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

// Each section has a digest of its header and its payload, and its number; the last one has a
// digest of all headers before it. So a section that is changed, missing, twice or in another place
// is found, and so is a file that ends early or goes on. Sizes are compared with what is left of
// the file before they are added, so they cannot wrap.
Result<void> BundleFile::read_sections() {
  if (!bytes_.starts_with(kFirstTag))
    return Error{ErrorCode::incompatible,
                 "it is no bundle of Fairlead: section 0 at offset 0 is "
                 "not " +
                     std::string(kFirstTag)};
  std::string headers;
  for (std::uint64_t offset = 0;;) {
    const std::string_view rest = bytes_.substr(offset);
    BundleSection section{rest.substr(0, 4), {}, offset, {}};
    const auto refuse = [&section](const char* what) {
      return Error{ErrorCode::corrupt, section.place() + ": " + what};
    };
    if (rest.size() < kSectionHeaderBytes) return refuse("the bundle ends within its header");
    const std::string_view header = rest.substr(0, kSectionHeaderBytes);
    section.seq = {get(header, 16)};
    const std::uint64_t size = get(header, 8);
    if (size > rest.size() - kSectionHeaderBytes)
      return refuse("the bundle ends before the section does");
    section.payload = rest.substr(kSectionHeaderBytes, size);
    if (as_text(digest_of(header, section.payload)) != header.substr(kDigestOffset))
      return refuse("its bytes are not what was written");
    if (get(header, 24) != sections_.size()) return refuse("it is out of place");
    offset += kSectionHeaderBytes + size;
    if (section.tag != kLastTag) {
      headers += header;
      sections_.push_back(section);
      continue;
    }
    if (section.payload != as_text(sha256(headers)))
      return refuse("the sections before it are not those that it names");
    if (offset != bytes_.size()) return refuse("there are bytes behind the end of the bundle");
    return {};
  }
}

Result<std::unique_ptr<BundleWriter>> BundleWriter::begin(fs::path path) {
  std::error_code error;
  // finish() renames over the path. That would replace a device such as /dev/null, not write to it.
  const fs::file_status there = fs::status(path, error);
  if (fs::exists(there) && !fs::is_regular_file(there))
    return Error{ErrorCode::bad_input, path.string() + " is there and no regular file"};
  fs::path fresh = path;
  fresh += ".partial";
  const int descriptor = make_private_file(AT_FDCWD, fresh.c_str());
  if (descriptor < 0) return io_error(fresh);
  return std::unique_ptr<BundleWriter>(
      new BundleWriter(std::move(path), std::move(fresh), descriptor));
}

BundleWriter::BundleWriter(fs::path path, fs::path fresh, int descriptor)
    : path_(std::move(path)), fresh_(std::move(fresh)), descriptor_(descriptor) {}

BundleWriter::~BundleWriter() {
  ::close(descriptor_);
  if (!finished_) ::unlink(fresh_.c_str());
}

Result<void> BundleWriter::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return io_error(fresh_);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> BundleWriter::add(std::string_view tag, Seq seq, std::string_view payload) {
  std::string header(tag);
  header.append(4, '\0');
  put(header, payload.size());
  put(header, seq.value);
  put(header, count_++);
  header += as_text(digest_of(header, payload));
  headers_ += header;
  buffer_ += header;
  buffer_ += payload;
  bytes_ += header.size() + payload.size();
  if (buffer_.size() < kBufferBytes) return {};
  return write(std::exchange(buffer_, {}));
}

// The file is synced before it gets its name, and the directory after: under that name there is a
// whole bundle or none, also after a crash.
Result<void> BundleWriter::finish() {
  const Digest all = sha256(headers_);
  if (auto added = add(kLastTag, {}, as_text(all)); !added) return added.error();
  if (auto written = write(buffer_); !written) return written.error();
  if (::fsync(descriptor_) != 0) return io_error(fresh_);
  if (::rename(fresh_.c_str(), path_.c_str()) != 0) return io_error(path_);
  finished_ = true;
  const fs::path parent = path_.has_parent_path() ? path_.parent_path() : fs::path(".");
  const int directory = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = directory >= 0 && ::fsync(directory) == 0;
  if (directory >= 0) ::close(directory);
  return synced ? Result<void>() : io_error(parent);
}

}  // namespace fairlead
