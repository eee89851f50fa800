#include "engine/log/rocksdb/log_import.h"

#include <rocksdb/write_batch.h>

#include <system_error>
#include <utility>

#include "engine/log/acknowledged.h"
#include "engine/log/pack.h"
#include "engine/log/private_files.h"
#include "engine/log/rocksdb/log_place.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBatchBytes = std::size_t{8} << 20;

/// Accepts only what a fresh volume has and what an interrupted import left: its store under the
/// temporary name, and perhaps snapshots and the watermark, which are written before the store is
/// renamed.
Result<void> expect_empty(const LogPaths& paths) {
  if (auto made = make_private_directory(paths.data); !made) return made.error();
  std::error_code error;
  const bool died = fs::exists(paths.fresh);
  for (const fs::directory_entry& entry : fs::directory_iterator(paths.data, error)) {
    const std::string name = entry.path().filename().string();
    if (name == "lost+found" || name == kCopyName || entry.path() == paths.lock) continue;
    if (entry.path() == paths.fresh) continue;
    if (died && (entry.path() == paths.mark || name == "snapshots")) continue;
    return Error{ErrorCode::bad_input, paths.data.string() + " holds \"" + name +
                                           "\": import into a new or empty directory"};
  }
  if (error) return file_failure(paths.data, error);
  return {};
}

}  // namespace

LogImport::LogImport(const fs::path& directory, const LogTail& base,
                     std::map<Epoch, std::string> versions)
    : paths_(directory),
      base_(base),
      versions_(std::move(versions)),
      batch_(std::make_unique<rocksdb::WriteBatch>()),
      verification_(base, [this](const Event& event) {
        index_.add(event, static_cast<std::size_t>(event.seq.value - pack_.value));
        return std::string();
      }) {}

LogImport::~LogImport() {
  // Without the lock the store is another writer's.
  if (finished_ || !lock_) return;
  store_.reset();
  std::error_code ignored;
  fs::remove_all(paths_.fresh, ignored);
}

Result<std::unique_ptr<LogImport>> LogImport::begin(const fs::path& directory, const LogTail& base,
                                                    std::map<Epoch, std::string> versions) {
  std::unique_ptr<LogImport> made(new LogImport(directory, base, std::move(versions)));
  const LogPaths& paths = made->paths_;
  if (auto empty = expect_empty(paths); !empty) return empty.error();
  Result<std::unique_ptr<WriterLock>> lock = WriterLock::acquire(paths.lock);
  if (!lock) return lock.error();
  made->lock_ = *std::move(lock);
  std::error_code error;
  // The mark of an import that died: without a log beside it, it would prove that one was lost.
  fs::remove(paths.mark, error);
  fs::remove_all(paths.fresh, error);
  if (auto created = create_store(paths.fresh, nullptr); !created) return created.error();
  auto store = open_store_for_writing(paths.fresh, nullptr);
  if (!store) return store.error();
  made->store_ = *std::move(store);
  if (base.last.value > 0)
    made->status_ = made->batch_->Put(made->store_->meta, "base", base_bytes(base));
  return made;
}

Result<void> LogImport::add(std::string_view pack) {
  // Set before the check, which calls back for each event (the constructor) and places it by this.
  pack_ = verification_.expected();
  if (!verification_.check_pack(pack))
    return Error{ErrorCode::corrupt, "seq " +
                                         std::to_string(verification_.verdict.broken_at->value) +
                                         ": " + verification_.verdict.what};
  if (status_.ok())
    status_ = batch_->Put(store_->events, seq_key(pack_), rocksdb::Slice(pack.data(), pack.size()));
  if (status_.ok()) status_ = index_.put(*batch_, *store_, pack_);
  if (!status_.ok()) return translate(status_, "cannot import");
  return batch_->GetDataSize() < kBatchBytes ? Result<void>() : flush();
}

/// Without the write-ahead log: a crash before the rename discards the import anyway, and finish()
/// flushes all to tables.
Result<void> LogImport::flush() {
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  status_ = store_->db->Write(options, batch_.get());
  batch_->Clear();
  if (!status_.ok()) return translate(status_, "cannot import");
  return {};
}

Result<void> LogImport::finish() {
  for (const auto& [epoch, version] : verification_.epochs()) {
    const auto known = versions_.find(epoch);
    const bool unnamed = version.empty() && known != versions_.end();
    if (status_.ok())
      status_ = batch_->Put(store_->meta, epoch_key(epoch), unnamed ? known->second : version);
  }
  if (status_.ok())
    if (auto flushed = flush(); !flushed) return flushed.error();
  // Nothing was in the write-ahead log, so the tables have to be durable before the rename.
  if (status_.ok()) status_ = store_->db->Flush({}, store_->handles);
  if (!status_.ok()) return translate(status_, "cannot import");
  store_.reset();
  // The watermark is durable before the log has its name: a log with events and without one counts
  // as damaged.
  auto mark = AcknowledgedFile::open(paths_.mark);
  if (!mark) return mark.error();
  std::error_code error;
  const bool marked = (*mark)->begin({verification_.tail().last, verification_.tail().chain});
  if (marked) fs::rename(paths_.fresh, paths_.store, error);
  if (!marked || error) {
    std::error_code ignored;
    fs::remove(paths_.mark, ignored);
    if (!marked) return Error{ErrorCode::unavailable, paths_.mark.string() + ": cannot be written"};
    return file_failure(paths_.store, error);
  }
  finished_ = true;
  return sync_entries(paths_.data);
}

}  // namespace fairlead
