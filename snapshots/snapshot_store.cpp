#include "snapshots/snapshot_store.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include "engine/base/check.h"
#include "engine/fold/evolve.h"
#include "engine/log/private_files.h"
#include "schema/codec.h"
#include "snapshots/snapshot_pieces.h"
#include "snapshots/state_codec.h"
#include "snapshots/state_frame.h"
#include "snapshots/stored_file.h"

namespace fairlead {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMagic = "FLSNAP01";
constexpr std::size_t kHeaderBytes = 8 + 32;  // the magic, SHA-256 of what follows

std::string_view as_text(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

Result<SnapshotEnvelope> read_envelope(std::string_view file) {
  if (!file.starts_with(kMagic) || file.size() < kHeaderBytes)
    return Error{ErrorCode::corrupt, "it is no snapshot"};
  const std::string_view envelope = file.substr(kHeaderBytes);
  if (as_text(sha256(envelope)) != file.substr(kMagic.size(), 32))
    return Error{ErrorCode::corrupt, "its bytes are not what was written"};
  return decode_snapshot(envelope);
}

Result<State> read_state(const SnapshotEnvelope& envelope) {
  if (envelope.fold_version != kFoldVersion)
    return Error{ErrorCode::incompatible, "it was folded by fold version " +
                                              std::to_string(envelope.fold_version) +
                                              ", this program is " + std::to_string(kFoldVersion)};
  const auto plain = decompress_state(envelope.state);
  if (!plain) return plain.error();
  if (sha256(plain->text()) != envelope.state_digest)
    return Error{ErrorCode::corrupt, "its state is not the one its digest names"};
  auto state = decode_state(plain->text());
  if (!state) return state.error();
  if (state->seq != envelope.seq)
    return Error{ErrorCode::corrupt, "its state is of another seq than it says"};
  return state;
}

SnapshotInfo info_of(const SnapshotEnvelope& envelope, std::size_t bytes) {
  return {envelope.seq,          envelope.log_time,   envelope.fold_version,
          envelope.state_digest, envelope.log_digest, bytes};
}

fs::path path_of(const fs::path& directory, Seq seq) { return directory / snapshot_file_name(seq); }

std::optional<Seq> seq_of(const fs::path& path) {
  if (path.extension() != ".snapshot") return std::nullopt;
  const std::string digits = path.stem().string();
  Seq seq;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), seq.value);
  if (read.ec != std::errc{} || read.ptr != digits.data() + digits.size()) return std::nullopt;
  return seq;
}

// Writes the file of a snapshot, of which `bytes` are the envelope.
Result<SnapshotInfo> store(const fs::path& directory, const SnapshotInfo& info,
                           std::string_view bytes) {
  if (auto made = make_private_directory(directory.parent_path()); !made) return made.error();
  // What exists is checked where it is opened: replace_file() refuses a link and an exposed
  // directory.
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
    return io_error(directory, "cannot be made");
  const Digest digest = sha256(bytes);
  const std::array<std::string_view, 3> file{kMagic, as_text(digest), bytes};
  if (auto written = replace_file(path_of(directory, info.seq), file); !written)
    return written.error();
  return info;
}

// Returns the seqs of the existing files, ascending.
std::vector<Seq> seqs_in(const fs::path& directory) {
  std::vector<Seq> seqs;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, none))
    if (const auto seq = seq_of(entry.path())) seqs.push_back(*seq);
  std::sort(seqs.begin(), seqs.end());
  return seqs;
}

// Removes what saves left that a crash cut off. What cannot be removed stays.
void remove_unfinished(const fs::path& directory) {
  const OpenFile opened(open_directory(directory));
  if (opened.descriptor < 0) return;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, none))
    if (entry.path().extension() == ".new" && seq_of(entry.path().stem()))
      ::unlinkat(opened.descriptor, entry.path().filename().c_str(), 0);
}

/// Returns the envelope of `seq`, and sets `bytes` to the size of its file. Fails if it is damaged
/// or of another seq.
Result<SnapshotEnvelope> envelope_in(const fs::path& directory, Seq seq, std::size_t& bytes) {
  const auto file = read_file(path_of(directory, seq));
  if (!file) return file.error();
  bytes = file->size();
  auto envelope = read_envelope(*file);
  if (envelope && envelope->seq != seq)
    return Error{ErrorCode::corrupt, "it is of seq " + std::to_string(envelope->seq.value)};
  return envelope;
}

/// Returns the envelope of `seq` without its state.
Result<SnapshotInfo> info_in(const fs::path& directory, Seq seq) {
  std::size_t bytes = 0;
  const auto envelope = envelope_in(directory, seq, bytes);
  if (!envelope) return envelope.error();
  return info_of(*envelope, bytes);
}

// The info of a snapshot that cannot be read.
SnapshotInfo only_seq(Seq seq) { return {seq, {}, 0, {}, {}, 0}; }

// Fails unless the snapshot has the log's digest at its seq, and no Checkpoint names another state.
Result<void> expect_in_chain(const ReadableLog& log, const SnapshotEnvelope& envelope) {
  if (envelope.seq > log.last_seq() && !log.damage().empty())
    return Error{ErrorCode::corrupt, "the log is " + log.damage()};
  const auto chain = log.chain_at(envelope.seq);
  if (!chain) return chain.error();
  if (*chain != envelope.log_digest)
    return Error{ErrorCode::corrupt, "it is of another log: the chain differs at its seq"};
  if (voucher_of(log, info_of(envelope, 0)) == Voucher::denied)
    return Error{ErrorCode::corrupt, "the Checkpoint behind it names another state"};
  return {};
}

// Whether events between the snapshot and the first kept one were pruned: it is useless then.
bool outlived(const ReadableLog& log, Seq seq) { return next(seq) < log.first_seq(); }

// Checks a snapshot by its bytes, its place in the log and, if this fold made it, its state. One of
// another fold version is good for the program that made it.
SnapshotVerdict judge(const ReadableLog& log, const fs::path& directory, Seq seq) {
  SnapshotVerdict verdict{only_seq(seq), ""};
  std::size_t bytes = 0;
  const auto envelope = envelope_in(directory, seq, bytes);
  if (!envelope) {
    verdict.fault = envelope.error().message;
    return verdict;
  }
  verdict.info = info_of(*envelope, bytes);
  if (envelope->fold_version == kFoldVersion)
    if (const auto state = read_state(*envelope); !state) verdict.fault = state.error().message;
  if (verdict.fault.empty() && !outlived(log, seq))
    if (const auto placed = expect_in_chain(log, *envelope); !placed)
      verdict.fault = placed.error().message;
  return verdict;
}

// Finds, for each fold version, the first snapshot from which the kept events of a pruned log can
// be folded. Snapshots must be passed in the order of their seqs. Without that snapshot no state
// near the log's beginning could be computed, and without any later one no state at all.
class Beginnings {
 public:
  explicit Beginnings(const ReadableLog& log) : log_(log) {}
  void add(const SnapshotVerdict& good) {
    const Seq seq = good.info.seq;
    if (log_.first_seq() > Seq{1} && !outlived(log_, seq) &&
        voucher_of(log_, good.info) == Voucher::given)
      seqs_.emplace(good.info.fold_version, seq);
  }
  bool has(std::uint32_t fold_version) const { return seqs_.contains(fold_version); }
  bool has(Seq seq) const {
    return std::any_of(seqs_.begin(), seqs_.end(),
                       [&](const auto& beginning) { return beginning.second == seq; });
  }

 private:
  const ReadableLog& log_;
  std::map<std::uint32_t, Seq> seqs_;
};

}  // namespace

std::string snapshot_file_name(Seq seq) {
  std::string name = std::to_string(seq.value);
  name.insert(0, 20 - name.size(), '0');
  return name + ".snapshot";
}

Result<SnapshotInfo> read_snapshot_info(std::string_view bytes) {
  const auto envelope = decode_snapshot(bytes);
  if (!envelope) return envelope.error();
  if (const auto size = state_size(envelope->state); !size) return size.error();
  return info_of(*envelope, kHeaderBytes + bytes.size());
}

Result<Snapshot> read_snapshot(std::string_view bytes) {
  const auto envelope = decode_snapshot(bytes);
  if (!envelope) return envelope.error();
  auto state = read_state(*envelope);
  if (!state) return state.error();
  return Snapshot{info_of(*envelope, kHeaderBytes + bytes.size()), *std::move(state)};
}

std::uint64_t snapshot_spacing(std::int64_t every, std::uint64_t last_bytes) {
  constexpr std::uint64_t kMebibyteOfEvents = 20'000;  // events in 1 MiB of a log of Node changes
  return std::max(static_cast<std::uint64_t>(every), (last_bytes >> 20) * kMebibyteOfEvents);
}

SnapshotStore::SnapshotStore(fs::path data_directory, std::string_view folder)
    : directory_(std::move(data_directory) / folder) {}

std::optional<Seq> SnapshotStore::nearest(Seq seq) const {
  const std::vector<Seq> seqs = seqs_in(directory_);
  const auto later = std::upper_bound(seqs.begin(), seqs.end(), seq);
  return later == seqs.begin() ? std::nullopt : std::optional(*std::prev(later));
}

Result<std::vector<SnapshotInfo>> SnapshotStore::list() const {
  std::vector<SnapshotInfo> infos;
  for (const Seq seq : seqs_in(directory_))
    if (auto info = info_in(directory_, seq)) infos.push_back(*std::move(info));
  return infos;
}

std::vector<SnapshotVerdict> SnapshotStore::survey() const {
  std::vector<SnapshotVerdict> verdicts;
  for (const Seq seq : seqs_in(directory_)) {
    const auto info = info_in(directory_, seq);
    verdicts.push_back(info ? SnapshotVerdict{*info, ""}
                            : SnapshotVerdict{only_seq(seq), info.error().message});
  }
  return verdicts;
}

std::optional<SnapshotInfo> SnapshotStore::newest_info() const {
  const std::vector<Seq> seqs = seqs_in(directory_);
  for (auto seq = seqs.rbegin(); seq != seqs.rend(); ++seq)
    if (const auto info = info_in(directory_, *seq)) return *info;
  return std::nullopt;
}

Result<std::optional<Snapshot>> SnapshotStore::newest(Seq seq) const {
  const std::vector<Seq> seqs = seqs_in(directory_);
  for (auto at = std::upper_bound(seqs.begin(), seqs.end(), seq); at != seqs.begin();) {
    const auto file = read_file(path_of(directory_, *--at));
    if (!file) continue;  // pruned meanwhile
    const auto envelope = read_envelope(*file);
    // A damaged one, and one of another fold, is passed over: an older one and more events give the
    // same state.
    if (!envelope || envelope->seq != *at) continue;
    if (auto state = read_state(*envelope))
      return std::optional(Snapshot{info_of(*envelope, file->size()), *std::move(state)});
  }
  return std::optional<Snapshot>();
}

Result<std::string> SnapshotStore::bytes(Seq seq) const {
  const fs::path path = path_of(directory_, seq);
  if (!fs::exists(path))
    return Error{ErrorCode::not_found, "there is no snapshot of seq " + std::to_string(seq.value)};
  auto file = read_file(path);
  if (!file) return file.error();
  if (const auto envelope = read_envelope(*file); !envelope)
    return in_context(path.string(), envelope.error());
  return file->substr(kHeaderBytes);
}

// Once it is given up, what is left of the state is walked through and nothing is made of it.
Result<SnapshotInfo> SnapshotStore::save(const State& state, const Digest& chain,
                                         const GivesUp& gives_up) {
  const Error why{ErrorCode::unavailable, "it was given up, because the hub was asked to end"};
  bool given_up = false;
  Sha256 digest;
  StateCompressor compressor;
  write_state(state, [&](std::string_view piece) {
    given_up = given_up || (gives_up && gives_up());
    if (given_up) return;
    digest.add(piece);
    compressor.add(piece);
  });
  if (given_up) return why;
  auto frame = compressor.finish();
  if (!frame) return frame.error();
  SnapshotEnvelope envelope{kFoldVersion,    state.seq, state.now,
                            digest.finish(), chain,     *std::move(frame)};
  const std::string bytes = encode(envelope);
  envelope.state = {};
  if (gives_up && gives_up()) return why;
  return store(directory_, info_of(envelope, kHeaderBytes + bytes.size()), bytes);
}

Result<SnapshotInfo> SnapshotStore::keep(std::string_view bytes) {
  const auto envelope = decode_snapshot(bytes);
  if (!envelope) return envelope.error();
  if (const auto size = state_size(envelope->state); !size)
    return in_context("snapshot of seq " + std::to_string(envelope->seq.value), size.error());
  return store(directory_, info_of(*envelope, kHeaderBytes + bytes.size()), bytes);
}

Result<void> SnapshotStore::expect_writable() const {
  const OpenFile directory(open_directory(directory_));
  if (directory.descriptor < 0 && errno == ENOENT) return {};
  if (directory.descriptor < 0) return directory_not_opened(directory_);
  return expect_private(directory.descriptor, directory_);
}

Result<void> SnapshotStore::remove(Seq seq) {
  const OpenFile directory(open_directory(directory_));
  if (directory.descriptor < 0 && errno == ENOENT) return {};
  if (directory.descriptor < 0) return directory_not_opened(directory_);
  const std::string name = snapshot_file_name(seq);
  if (::unlinkat(directory.descriptor, name.c_str(), 0) != 0 && errno != ENOENT)
    return io_error(directory_ / name, "cannot be removed");
  return {};
}

Result<SnapshotPruning> SnapshotStore::prune(const ReadableLog& log, std::size_t count) {
  SnapshotPruning pruning;
  std::vector<SnapshotInfo> good;
  Beginnings beginnings(log);
  for (const Seq seq : seqs_in(directory_)) {
    SnapshotVerdict verdict = judge(log, directory_, seq);
    if (!verdict.fault.empty()) {
      pruning.faulty.push_back(std::move(verdict));
      continue;
    }
    beginnings.add(verdict);
    good.push_back(std::move(verdict.info));
  }
  std::map<std::uint32_t, std::size_t> newer;  // fold version -> number of newer ones kept
  std::vector<Seq> too_many;
  for (auto info = good.rbegin(); info != good.rend(); ++info) {
    if (!outlived(log, info->seq) && newer[info->fold_version] < count) {
      ++newer[info->fold_version];
      continue;
    }
    (beginnings.has(info->seq) ? pruning.needed : too_many).push_back(info->seq);
  }
  std::sort(pruning.needed.begin(), pruning.needed.end());
  std::sort(too_many.begin(), too_many.end());
  for (const Seq seq : too_many) {
    if (auto removed = remove(seq); !removed) return removed.error();
    pruning.removed.push_back(seq);
  }
  return pruning;
}

// Removes every second snapshot of the older half. Each call halves the density of that half, so
// the older a moment is, the more events a question about it folds. The newer half keeps its
// spacing. A call removes a quarter of the files, so it is not needed after each snapshot. The
// oldest (index 0) stays, so that the span that
// snapshots cover does not shrink.
//
// Each file is complete by itself, so any subset is a valid store. A crash in between, or names
// that come back because the directory was not synced, leave more snapshots than intended, and the
// next call thins what it finds.
Result<std::vector<Seq>> SnapshotStore::apply_retention(const ReadableLog& log, std::size_t most) {
  remove_unfinished(directory_);
  std::vector<Seq> removed;
  const std::vector<Seq> seqs = seqs_in(directory_);
  if (seqs.size() <= most) return removed;
  Beginnings beginnings(log);
  if (log.first_seq() > Seq{1})
    for (auto seq = seqs.begin(); seq != seqs.end() && !beginnings.has(kFoldVersion); ++seq)
      if (const SnapshotVerdict verdict = judge(log, directory_, *seq); verdict.fault.empty())
        beginnings.add(verdict);
  for (std::size_t i = 1; i < seqs.size() / 2; i += 2) {
    if (beginnings.has(seqs[i])) continue;
    if (auto done = remove(seqs[i]); !done) return done.error();
    removed.push_back(seqs[i]);
  }
  return removed;
}

Result<std::vector<SnapshotVerdict>> verify_snapshots(const ReadableLog& log,
                                                      const SnapshotStore& store) {
  std::vector<SnapshotVerdict> verdicts;
  std::optional<State> before;  // the state of the last good snapshot: the fold continues from it
  for (const Seq seq : seqs_in(store.directory())) {
    SnapshotVerdict verdict{only_seq(seq), ""};
    const auto held = [&]() -> Result<void> {
      std::size_t bytes = 0;
      const auto envelope = envelope_in(store.directory(), seq, bytes);
      if (!envelope) return envelope.error();
      verdict.info = info_of(*envelope, bytes);
      auto state = read_state(*envelope);
      if (!state) return state.error();
      if (auto placed = expect_in_chain(log, *envelope); !placed) return placed.error();
      // The first snapshot of a pruned log has no events before it to be folded from: it is only
      // compared with the Checkpoint behind it.
      if (before || log.first_seq() == Seq{1}) {
        auto folded = state_from(log, before ? *std::move(before) : State{}, seq);
        before.reset();
        if (!folded) return folded.error();
        if (!(*folded == *state))
          return Error{ErrorCode::corrupt, "the log folds to another state"};
      } else if (voucher_of(log, verdict.info) != Voucher::given) {
        return Error{ErrorCode::corrupt, "no Checkpoint behind it names its state"};
      }
      before = *std::move(state);
      return {};
    };
    if (const auto good = held(); !good) verdict.fault = good.error().message;
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

std::optional<SnapshotInfo> first_snapshot_from(const SnapshotStore& store, Seq seq) {
  const std::vector<Seq> seqs = seqs_in(store.directory());
  for (auto at = std::lower_bound(seqs.begin(), seqs.end(), seq); at != seqs.end(); ++at)
    if (const auto info = info_in(store.directory(), *at)) return *info;
  return std::nullopt;
}

Result<std::uint64_t> snapshot_bytes(const SnapshotStore& store, Seq seq) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path_of(store.directory(), seq), error);
  if (!error && size >= kHeaderBytes) return size - kHeaderBytes;
  return Error{ErrorCode::not_found, "there is no snapshot of seq " + std::to_string(seq.value)};
}

Result<std::string> snapshot_piece(const SnapshotStore& store, Seq seq, std::uint64_t offset,
                                   std::uint64_t count) {
  std::ifstream in(path_of(store.directory(), seq), std::ios::binary);
  std::string bytes(count, '\0');
  in.seekg(static_cast<std::streamoff>(kHeaderBytes + offset));
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (in) return bytes;
  return Error{ErrorCode::not_found,
               "the snapshot of seq " + std::to_string(seq.value) + " was removed meanwhile"};
}

}  // namespace fairlead
