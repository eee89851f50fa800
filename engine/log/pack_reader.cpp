#include "engine/log/pack_reader.h"

#include "engine/log/pack_verification.h"
#include "schema/codec.h"

namespace fairlead {
namespace {

Error at_seq(Seq seq, Error error) {
  const std::string place = "seq " + std::to_string(seq.value);
  if (error.code != ErrorCode::corrupt) return in_context(place, std::move(error));
  return {ErrorCode::corrupt,
          "the log is damaged at " + place + ": " + error.message + ". " + kDamageAdvice};
}

Error in_another_place() { return {ErrorCode::corrupt, "another seq is stored in its place"}; }

/// Walks the raw objects in step with the events.
class RawObjects {
 public:
  explicit RawObjects(const Store& store) : objects_(store.db->NewIterator({}, store.raw)) {
    objects_->SeekToFirst();
  }

  /// Returns the fault of the raw object kept beside `event`; empty if it has the digest that the
  /// event names, or none is kept.
  std::string fault_at(const Event& event) {
    // Both are in the order of seqs, so one walk beside the events finds each object.
    while (objects_->Valid() && seq_of_key(objects_->key()) < event.seq) objects_->Next();
    if (!objects_->status().ok())
      return translate(objects_->status(), "cannot read raw objects").message;
    if (!objects_->Valid() || seq_of_key(objects_->key()) != event.seq) return {};
    const auto* observed = std::get_if<ObjectObserved>(&event.fact);
    if (observed == nullptr || observed->raw_digest == Digest{}) return {};
    if (sha256(objects_->value().ToStringView()) == observed->raw_digest) return {};
    return "the raw object kept beside it is not the one its digest names";
  }

 private:
  std::unique_ptr<rocksdb::Iterator> objects_;
};

/// Returns the first event in the table that `message` names as damaged; seq 1 if it names no table
/// of events.
Seq first_seq_of(const Store& store, const std::string& message) {
  std::vector<rocksdb::LiveFileMetaData> files;
  store.db->GetLiveFilesMetaData(&files);
  for (const rocksdb::LiveFileMetaData& file : files)
    // RocksDB's name begins with a slash, its messages have the whole path.
    if (file.column_family_name == "events" &&
        message.find(file.name.substr(1)) != std::string::npos)
      return seq_of_key(file.smallestkey);
  return {1};
}

}  // namespace

PackReader::PackReader(std::shared_ptr<Store> store, Seq from, Seq last,
                       std::optional<LogDamage> damage)
    : store_(std::move(store)), next_(from), last_(last), damage_(std::move(damage)) {
  // No fixed readahead: RocksDB's own grows with what is read, so that one event costs one block.
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  packs_.reset(store_->db->NewIterator(options, store_->events));
}

// The first pack is found by its key, the greatest that is not above the wanted seq; from then on
// the next key must be the pack that continues the chain. So a pack that is missing in between is
// found, although keys tell nothing of it.
Result<void> PackReader::load_pack() {
  if (chain_)  // a pack was read before: its successor must be the next one
    packs_->Next();
  else
    packs_->SeekForPrev(seq_key(next_));
  if (!packs_->status().ok()) return translate(packs_->status(), "cannot read");
  if (!packs_->Valid()) return Error{ErrorCode::corrupt, "it is not in the log"};
  const std::string_view value = packs_->value().ToStringView();
  auto header = read_pack_header(value);
  if (!header) return header.error();
  if (next_ < header->first || header->last() < next_)
    return Error{ErrorCode::corrupt, "it is not in the log"};
  if (chain_ && header->previous != *chain_)
    return Error{ErrorCode::corrupt, "the hash chain does not continue"};
  if (auto unpacked = unpack_into(value, *header, unpacked_); !unpacked) return unpacked.error();
  chain_ = header->digest;
  index_ = static_cast<std::size_t>(next_.value - header->first.value);
  return {};
}

Result<void> PackReader::ending() const {
  if (damage_)
    return Error{ErrorCode::corrupt, "the log is " + damage_->text() + ". " + kDamageAdvice};
  return {};
}

Result<std::optional<Event>> PackReader::next() {
  if (failed_) return *failed_;
  if (next_ > last_) {
    if (auto ended = ending(); !ended) return ended.error();
    return std::optional<Event>();
  }
  if (index_ >= unpacked_.records.size())
    if (auto loaded = load_pack(); !loaded) return *(failed_ = at_seq(next_, loaded.error()));
  Result<Event> event = decode(unpacked_.records[index_]);
  if (event && event->seq != next_) event = in_another_place();
  if (!event) return *(failed_ = at_seq(next_, event.error()));
  ++index_;
  next_ = fairlead::next(next_);
  return std::optional<Event>(*std::move(event));
}

Result<void> PackReader::next_batch(EventBatch& batch) {
  batch.clear();
  if (failed_) return *failed_;
  while (batch.size() < kBatchEvents && next_ <= last_) {
    Result<void> copied = index_ < unpacked_.records.size() ? Result<void>() : load_pack();
    if (copied) copied = copy_rest_of_pack(batch);
    if (!copied) return *(failed_ = at_seq(next_, copied.error()));
  }
  if (batch.size() > 0) return {};
  return ending();
}

Result<void> PackReader::copy_rest_of_pack(EventBatch& batch) {
  batch.keep(unpacked_.words);  // swaps the buffer's owner; the records' addresses stay valid
  for (; index_ < unpacked_.records.size(); ++index_) {
    Event& event = batch.add();
    auto decoded = decode_into(unpacked_.records[index_], event);
    if (decoded && event.seq != next_) decoded = in_another_place();
    if (!decoded) {
      // The batch keeps the events before the unreadable one.
      batch.drop_last();
      return decoded;
    }
    next_ = fairlead::next(next_);
  }
  return {};
}

// The chain first, because it names the seq of a fault. The checksums of the files cover what the
// chain does not, such as the index of objects.
Result<LogVerdict> verify_store(const Store& store, const LogTail& base, Seq last,
                                const std::optional<LogDamage>& damage, const LogProgress& report) {
  const auto epochs = read_epochs(store);
  if (!epochs) return epochs.error();
  RawObjects raw(store);
  PackVerification verification(base, [&raw](const Event& event) { return raw.fault_at(event); });
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.readahead_size = 2u << 20;
  const std::unique_ptr<rocksdb::Iterator> packs(store.db->NewIterator(options, store.events));
  // Packs behind `last` were appended meanwhile: they belong to the next verification.
  PacedProgress progress(report);
  for (packs->SeekToFirst(); packs->Valid() && verification.expected() <= last; packs->Next()) {
    if (!verification.check_pack(packs->value().ToStringView())) return verification.verdict;
    progress.reached(verification.expected(), last);
  }
  if (!packs->status().ok())
    verification.fail(verification.expected(), translate(packs->status(), "cannot read").message);
  else if (damage)
    verification.fail(damage->at, damage->what);
  else if (next(last) != verification.expected())
    verification.fail(verification.expected(), "the log ends early");
  else if (!verification.check_epochs(*epochs))
    return verification.verdict;
  else if (const auto files = store.db->VerifyFileChecksums(options); !files.ok())
    verification.fail(first_seq_of(store, files.ToString()),
                      translate(files, "a file is damaged").message);
  return verification.verdict;
}

}  // namespace fairlead
