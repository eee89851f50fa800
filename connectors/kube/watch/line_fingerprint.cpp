#include "connectors/kube/watch/line_fingerprint.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <utility>

#include "connectors/kube/projection/projection.h"
#include "connectors/kube/watch/line_fields.h"

namespace fairlead {
namespace {

// Fields that make no fact of any kind, as unread_fields() has those of one kind. The test of this
// file checks each against the projections.
constexpr std::string_view kOfAll =
    "metadata.{managedFields,resourceVersion} "
    "metadata.annotations.kubectl\\.kubernetes\\.io/last-applied-configuration ";
// Not for claims, whose facts have a digest of the whole status, which shows what others changed,
// nor for Workloads, whose conditions say why they wait.
constexpr std::string_view kOfConditions = " status.conditions.*.{lastTransitionTime,message}";

// Splits `text` at each `by`.
template <class Use>
void each_part(std::string_view text, char by, const Use& use) {
  for (std::size_t end = 0; !text.empty(); text.remove_prefix(std::min(end + 1, text.size()))) {
    end = std::min(text.find(by), text.size());
    if (end > 0) use(text.substr(0, end));
  }
}

std::vector<std::string> ignored_of(Kind kind) {
  std::string text(kOfAll);
  text += unread_fields(kind);
  if (kind != Kind::claim && kind != Kind::workload) text += kOfConditions;
  std::vector<std::string> out;
  each_part(text, ' ', [&out](std::string_view path) {
    const std::size_t brace = std::min(path.find('{'), path.size());
    if (brace == path.size())
      out.emplace_back(path);
    else
      each_part(path.substr(brace + 1, path.size() - brace - 2), ',', [&](std::string_view name) {
        out.emplace_back(path.substr(0, brace)).append(name);
      });
  });
  return out;
}

constexpr std::size_t kGatheredKeptMax = std::size_t{1} << 20;

// A random key of this process, which never leaves it.
std::uint64_t key() {
  static const std::uint64_t made = [] {
    std::random_device source;
    return std::uint64_t{source()} << 32 | source();
  }();
  return made;
}

// The hash's secret, derived from the key once: XXH3 would derive it anew for each long text.
std::span<const std::uint8_t> secret() {
  static const auto made = [] {
    std::array<std::uint8_t, XXH3_SECRET_DEFAULT_SIZE> bytes{};
    XXH3_generateSecret_fromSeed(bytes.data(), key());
    return bytes;
  }();
  return made;
}

// Memory for the hashed bytes of a line, which are gathered: hashing them at once avoids the state
// of a streaming hash.
char* room_for(std::size_t bytes) {
  thread_local std::string room;
  if (room.size() > kGatheredKeptMax && bytes <= kGatheredKeptMax) std::string().swap(room);
  if (room.size() < bytes) room.resize(bytes);
  return room.data();
}

// By how much a character changes the depth.
constexpr std::array<int, 256> kDeeper = [] {
  std::array<int, 256> change{};
  change['{'] = change['['] = 1;
  change['}'] = change[']'] = -1;
  return change;
}();

// Eight bytes at a time; the last eight may overlap those before.
bool has_escape(std::string_view text) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  constexpr std::uint64_t kOnes = ~std::uint64_t{0} / 0xff, kTops = kOnes << 7;
  if (text.size() < kWord) return text.find('\\') != std::string_view::npos;
  const auto any_in_word = [&](std::size_t at) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, kWord);
    word ^= kOnes * '\\';  // makes each byte that is a backslash zero
    return ((word - kOnes) & ~word & kTops) != 0;
  };
  for (std::size_t at = 0; at + kWord < text.size(); at += kWord)
    if (any_in_word(at)) return true;
  return any_in_word(text.size() - kWord);
}

}  // namespace

LineFingerprinter::LineFingerprinter(Kind kind) : kind_(kind), root_(&fields_of(kind)) {}

const LineField& LineFingerprinter::fields_of(Kind kind) {
  static std::mutex mutex;
  static std::map<Kind, LineField> known;
  const std::lock_guard lock(mutex);
  const auto [at, is_new] = known.try_emplace(kind);
  LineField& root = at->second;
  if (!is_new) return root;
  root.reach("type").reported = LineField::Reported::type;
  root.reach("type").left_out = true;  // a relist says ADDED of what was MODIFIED before
  LineField& object = root.reach("object");
  object.reach("metadata.namespace").reported = LineField::Reported::namespace_;
  object.reach("metadata.name").reported = LineField::Reported::name;
  object.reach("metadata.uid").reported = LineField::Reported::uid;
  object.reach("metadata.resourceVersion").reported = LineField::Reported::resource_version;
  for (const std::string& path : ignored_of(kind)) object.reach(path).left_out = true;
  // Who wrote a quota is kept with a change of it, and is no change by itself: a controller that
  // writes a status changes the entry of its manager.
  object.reach("metadata.managedFields").read = has_quota_writers(kind);
  return root;
}

std::vector<std::string> LineFingerprinter::ignored() const { return ignored_of(kind_); }

// Walks over the places of a line once. The byte behind the text is valid in no position, and its
// place follows the last one, twice: so no step needs an end test.
class LineFingerprinter::Walk {
 public:
  using Place = const std::uint32_t*;

  Walk(const JsonIndex& line, std::vector<PlaceRange>& left_out, LineFingerprint& out)
      : text_(line.text().data()),
        size_(line.text().size()),
        first_(line.places().data()),
        last_(first_ + line.places().size()),
        left_out_(left_out),
        out_(out),
        kept_(room_for(size_)),
        kept_end_(kept_) {
    left_out_.clear();
  }

  bool walk(const LineField& root) {
    if (first_ == last_ || text_[*first_] != '{' || members(root, first_) != last_) return false;
    copy_up_to(size_);
    const std::span<const std::uint8_t> own = secret();
    const XXH128_hash_t hash = XXH3_128bits_withSecretandSeed(
        kept_, static_cast<std::size_t>(kept_end_ - kept_), own.data(), own.size(), key());
    out_.rest = {hash.low64, hash.high64};
    return true;
  }

 private:
  // Keeps the bytes between the last field that was left out and `end`.
  void copy_up_to(std::size_t end) {
    std::memcpy(kept_end_, text_ + copied_, end - copied_);
    kept_end_ += end - copied_;
    copied_ = end;
  }

  int deeper(Place at) const { return kDeeper[static_cast<unsigned char>(text_[*at])]; }

  // Returns the place behind the value at `at`, which it does not read; null if it has no end.
  Place skip(Place at) const {
    int depth = deeper(at++);
    if (depth < 0) return nullptr;
    if (depth == 0) return at;
    // Four places at a time, so that the end is tested less often.
    for (; last_ - at >= 4; at += 4)
      for (int i = 0; i < 4; ++i)
        if ((depth += deeper(at + i)) == 0) return at + i + 1;
    for (; at < last_; ++at)
      if ((depth += deeper(at)) == 0) return at + 1;
    return nullptr;
  }

  // Behind the value at `at`.
  Place value(const LineField& field, Place at) {
    if (field.reported != LineField::Reported::no) report(field.reported, at);
    if (field.below.empty()) return skip(at);
    if (text_[*at] == '{') return members(field, at);
    if (text_[*at] == '[') return items(field, at);
    return skip(at);
  }

  // Behind the object that begins at `at`.
  Place members(const LineField& object, Place at) {
    const char* const text = text_;  // (what is stored below could be it, for all a compiler knows)
    for (++at; text[*at] != '}';) {
      if (text[*at] == ',') ++at;
      // A name, its colon and something behind it.
      if (text[*at] != '"' || text[at[1]] != ':') return nullptr;
      const std::uint32_t begin = *at;
      const LineField* const field = object.find(string_at(at));
      at += 2;
      if (field == nullptr)
        at = deeper(at) == 0 ? at + 1 : skip(at);
      else
        at = field->left_out ? leave_out(*field, begin, at) : value(*field, at);
      if (at == nullptr || at > last_) return nullptr;
    }
    return at + 1;
  }

  // Behind the member that begins at `begin` with its name; its value is at `at`.
  Place leave_out(const LineField& field, std::uint32_t begin, Place at) {
    copy_up_to(begin);
    const bool reported = field.reported != LineField::Reported::no;
    if (reported) report(field.reported, at);
    const Place end = skip(at);
    if (end == nullptr || end >= last_) return nullptr;
    if (!reported && !field.read) left_out_.push_back({index_of(at), index_of(end)});
    copied_ = *end;
    return end;
  }
  std::size_t index_of(Place place) const { return static_cast<std::size_t>(place - first_); }

  // Behind the array that begins at `at`.
  Place items(const LineField& list, Place at) {
    const LineField* const each = list.find("*");
    if (each == nullptr) return skip(at);
    for (++at; text_[*at] != ']';) {
      if (text_[*at] == ',') ++at;
      at = value(*each, at);
      if (at == nullptr || at > last_) return nullptr;
    }
    return at + 1;
  }

  // Between the quotes, as it is spelt.
  std::string_view string_at(Place at) const {
    const std::size_t begin = *at + 1;
    std::size_t end = at[1];
    if (text_[end - 1] != '"')
      while (end > begin && JsonIndex::is_space(text_[end - 1])) --end;
    return end > begin ? std::string_view(text_ + begin, end - 1 - begin) : std::string_view{};
  }

  void report(LineField::Reported reported, Place at) {
    if (text_[*at] != '"') return;
    const std::string_view text = string_at(at);
    if (has_escape(text)) return;
    switch (reported) {
      case LineField::Reported::type: out_.type = text; break;
      case LineField::Reported::namespace_: out_.namespace_ = text; break;
      case LineField::Reported::name: out_.name = text; break;
      case LineField::Reported::uid: out_.uid = text; break;
      case LineField::Reported::resource_version: out_.resource_version = text; break;
      case LineField::Reported::no: break;
    }
  }

  const char* const text_;
  const std::size_t size_;
  const Place first_, last_;
  std::vector<PlaceRange>& left_out_;
  LineFingerprint& out_;
  char* const kept_;
  char* kept_end_;
  std::size_t copied_ = 0;  // bytes of the text that are kept or left out
};

std::optional<LineFingerprint> LineFingerprinter::fingerprint(
    const JsonIndex& line, std::vector<PlaceRange>& left_out) const {
  std::optional<LineFingerprint> out(std::in_place);
  if (!Walk(line, left_out, *out).walk(*root_)) out.reset();
  return out;
}

}  // namespace fairlead
