#include "connectors/ring/ring_json.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "engine/base/base64.h"

namespace fairlead {
namespace {

constexpr std::size_t kLogIdDigits = 32;

// Reads one object, and keeps the first fault.
class RingJsonReader {
 public:
  RingJsonReader(JsonView value, std::string_view where) : value_(value), where_(where) {
    if (!value.is(JsonKind::object))
      refuse("", "expected an object, found " + std::string(text_of(value.kind())));
    for (const JsonView member : value)
      if (std::find(std::begin(kMembers), std::end(kMembers), member.key()) == std::end(kMembers))
        refuse(member.key(), "unknown");
  }

  std::string log() {
    const std::string_view id = value_["log"].string();
    if (id.size() != kLogIdDigits ||
        id.find_first_not_of("0123456789abcdef") != std::string_view::npos)
      refuse("log", "expected 32 hexadecimal digits");
    return std::string(id);
  }

  std::uint64_t number(std::string_view name, std::uint64_t least, std::uint64_t most) {
    const std::optional<std::int64_t> read = value_[name].integer();
    if (read && *read >= 0) {
      const auto natural = static_cast<std::uint64_t>(*read);
      if (natural >= least && natural <= most) return natural;
    }
    refuse(name,
           "expected a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return least;
  }

  std::string pack() {
    const JsonView text = value_["pack"];
    if (text.is(JsonKind::absent)) return {};
    Result<std::string> bytes = decode_base64(text.string());
    if (!bytes) refuse("pack", "expected base64");
    return bytes ? std::move(*bytes) : std::string();
  }

  void refuse(std::string_view member, const std::string& why) {
    if (fault_) return;
    const std::string name = member.empty() ? "" : "." + std::string(member);
    fault_ = Error{ErrorCode::corrupt, std::string(where_) + name + ": " + why};
  }
  const std::optional<Error>& fault() const { return fault_; }

 private:
  static constexpr std::string_view kMembers[] = {"log",   "slots", "commit",
                                                  "first", "count", "pack"};

  const JsonView value_;
  const std::string_view where_;
  std::optional<Error> fault_;
};

}  // namespace

std::string ring_json(const RingCommit& commit) {
  std::string text = R"({"log":")" + commit.log + R"(","slots":)" + std::to_string(commit.slots) +
                     R"(,"commit":)" + std::to_string(commit.commit) + R"(,"first":)" +
                     std::to_string(commit.first.value) + R"(,"count":)" +
                     std::to_string(commit.count);
  if (!commit.pack.empty()) text += R"(,"pack":")" + encode_base64(commit.pack) + '"';
  return text + '}';
}

Result<RingCommit> read_ring_json(JsonView value, std::uint32_t slot, std::string_view where) {
  constexpr std::uint64_t kMost32 = std::numeric_limits<std::uint32_t>::max();
  constexpr std::uint64_t kMost64 = std::numeric_limits<std::int64_t>::max();
  RingJsonReader reader(value, where);
  RingCommit commit;
  commit.log = reader.log();
  commit.pack = reader.pack();
  const std::uint64_t used = commit.pack.empty() ? 0 : 1;
  commit.slots = static_cast<std::uint32_t>(reader.number("slots", 1, kMost32));
  commit.commit = reader.number("commit", 0, used ? kMost64 : slot);
  commit.first = {reader.number("first", used, used * kMost64)};
  commit.count = static_cast<std::uint32_t>(reader.number("count", used, used * kMost32));
  if (commit.slot() != slot)
    reader.refuse("commit", std::to_string(commit.commit) + " is of slot " +
                                std::to_string(commit.slot()) + ", not of slot " +
                                std::to_string(slot));
  if (reader.fault()) return *reader.fault();
  return commit;
}

std::optional<std::uint32_t> read_slot_number(std::string_view text) {
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [behind, fault] = std::from_chars(text.data(), end, number);
  if (fault != std::errc() || behind != end || std::to_string(number) != text) return std::nullopt;
  return number;
}

}  // namespace fairlead
