#include "engine/log/pack_reader.h"

#include "engine/log/hash_chain.h"
#include "schema/codec.h"

namespace fairlead {
namespace {

Error at_seq(Seq seq, Error error) {
  return in_context("seq " + std::to_string(seq.value), std::move(error));
}

/// Walks the raw objects in step with the events.
class RawObjects {
 public:
  explicit RawObjects(const Store& store) : objects_(store.db->NewIterator({}, store.raw)) {
    objects_->SeekToFirst();
  }

  /// Empty if the raw object kept beside `event` is the one its digest names, or none is kept.
  std::string fault_at(const Event& event) {
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

/// One walk over a log; remembers how far all was well.
class Verification {
 public:
  explicit Verification(const Store& store) : raw_(store) {}

  LogVerdict verdict;
  Seq expected{1};

  bool fail(Seq at, std::string what) {
    verdict.broken_at = at;
    verdict.what = std::move(what);
    return false;
  }

  bool check_pack(std::string_view value) {
    const auto header = read_pack_header(value);
    if (!header) return fail(expected, header.error().message);
    if (header->first != expected) return fail(expected, "the pack begins at another seq");
    if (header->previous != chain_) return fail(expected, "the hash chain does not continue");
    const auto unpacked = unpack(value, *header);
    if (!unpacked) return fail(expected, unpacked.error().message);
    if (extend_chain(chain_, unpacked->records) != header->digest)
      return fail(expected, "the events are not those that the hash chain names");
    chain_ = header->digest;
    for (const std::string_view record : unpacked->records)
      if (!check_record(record)) return false;
    return time_ == header->last_time ||
           fail(expected, "the pack says another time than its events");
  }

 private:
  bool check_record(std::string_view record) {
    const auto event = decode(record);
    if (!event) return fail(expected, event.error().message);
    if (std::string fault = fault_in_record(*event, record, expected, time_); !fault.empty())
      return fail(expected, std::move(fault));
    if (std::string fault = raw_.fault_at(*event); !fault.empty())
      return fail(expected, std::move(fault));
    time_ = event->log_time;
    expected = next(expected);
    ++verdict.events;
    return true;
  }

  RawObjects raw_;
  Digest chain_;
  LogTime time_;
};

/// The first event that a damaged file of RocksDB concerns; the first of the log where that cannot
/// be told.
Seq first_seq_of(const Store& store, const std::string& message) {
  std::vector<rocksdb::LiveFileMetaData> files;
  store.db->GetLiveFilesMetaData(&files);
  for (const rocksdb::LiveFileMetaData& file : files)
    if (file.column_family_name == "events" &&
        message.find(file.name.substr(1)) != std::string::npos)
      return seq_of_key(file.smallestkey);
  return {1};
}

}  // namespace

PackReader::PackReader(std::shared_ptr<Store> store, Seq from, Seq last,
                       std::optional<LogDamage> damage)
    : store_(std::move(store)),
      next_(from.value == 0 ? Seq{1} : from),
      last_(last),
      damage_(std::move(damage)) {
  rocksdb::ReadOptions options;
  options.readahead_size = 2u << 20;
  options.fill_cache = false;
  packs_.reset(store_->db->NewIterator(options, store_->events));
}

Result<void> PackReader::load_pack() {
  if (started_)
    packs_->Next();
  else
    packs_->SeekForPrev(seq_key(next_));
  started_ = true;
  if (!packs_->status().ok()) return translate(packs_->status(), "cannot read");
  if (!packs_->Valid()) return Error{ErrorCode::corrupt, "it is not in the log"};
  const std::string_view value = packs_->value().ToStringView();
  auto header = read_pack_header(value);
  if (!header) return header.error();
  if (next_ < header->first || header->last() < next_)
    return Error{ErrorCode::corrupt, "it is not in the log"};
  auto unpacked = unpack(value, *header);
  if (!unpacked) return unpacked.error();
  unpacked_ = *std::move(unpacked);
  index_ = static_cast<std::size_t>(next_.value - header->first.value);
  return {};
}

Result<std::optional<Event>> PackReader::next() {
  if (next_ > last_) {
    if (damage_) return Error{ErrorCode::corrupt, "the log is " + damage_->text()};
    return std::optional<Event>();
  }
  if (index_ >= unpacked_.records.size())
    if (auto loaded = load_pack(); !loaded) return at_seq(next_, loaded.error());
  Result<Event> event = decode(unpacked_.records[index_]);
  if (!event) return at_seq(next_, event.error());
  if (event->seq != next_)
    return at_seq(next_, {ErrorCode::corrupt, "another seq is stored in its place"});
  ++index_;
  next_ = fairlead::next(next_);
  return std::optional<Event>(*std::move(event));
}

Result<LogVerdict> verify_store(const Store& store, Seq last,
                                const std::optional<LogDamage>& damage) {
  Verification verification(store);
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.readahead_size = 2u << 20;
  const std::unique_ptr<rocksdb::Iterator> packs(store.db->NewIterator(options, store.events));
  for (packs->SeekToFirst(); packs->Valid() && verification.expected <= last; packs->Next())
    if (!verification.check_pack(packs->value().ToStringView())) return verification.verdict;
  if (!packs->status().ok())
    verification.fail(verification.expected, translate(packs->status(), "cannot read").message);
  else if (damage)
    verification.fail(damage->at, damage->what);
  else if (next(last) != verification.expected)
    verification.fail(verification.expected, "the log ends early");
  else if (const auto files = store.db->VerifyFileChecksums(options); !files.ok())
    verification.fail(first_seq_of(store, files.ToString()),
                      translate(files, "a file is damaged").message);
  return verification.verdict;
}

}  // namespace fairlead
