#include "tests/bench/flip_history.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/fold/evolve.h"
#include "engine/log/rocksdb/rocksdb_log.h"
#include "replay/virtual_hub.h"
#include "snapshots/snapshot_store.h"
#include "snapshots/state_codec.h"
#include "tests/bench/bench.h"
#include "tests/bench/workload.h"

namespace fairlead::bench {
namespace {

constexpr const char* kQueues[] = {"inference", "research", "training"};
constexpr const char* kFlavor = "on-demand";
constexpr std::uint64_t kCores = 40;  // of a node

// ---- a log that waits for no disk: what is measured is how it is read ----

class UnsyncedFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;
  rocksdb::IOStatus Sync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return rocksdb::IOStatus::OK();
  }
};

class UnsyncedFiles final : public rocksdb::FileSystemWrapper {
 public:
  UnsyncedFiles() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "UnsyncedFiles"; }

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* debug) override {
    std::unique_ptr<rocksdb::FSWritableFile> file;
    rocksdb::IOStatus status = FileSystemWrapper::NewWritableFile(name, options, &file, debug);
    if (status.ok()) *result = std::make_unique<UnsyncedFile>(std::move(file));
    return status;
  }
};

// ---- what happens ----

struct Flip {
  LogTime at;
  std::uint64_t cluster = 0;
  std::uint64_t node = 0;
  bool ready = false;
};

std::vector<Flip> flips_of(const FlipSettings& settings, LogTime first) {
  Random random(5);
  const auto below = [&](std::uint64_t bound) {
    return static_cast<std::int64_t>(random.roll() % bound);
  };
  const std::int64_t span = hours(24).ns * static_cast<std::int64_t>(settings.days);
  std::vector<Flip> flips;
  for (std::uint64_t i = 0; i < settings.clusters * settings.outages * settings.days; ++i) {
    const auto cluster = static_cast<std::uint64_t>(below(settings.clusters));
    const auto node = static_cast<std::uint64_t>(below(settings.nodes));
    const LogTime begin = first + Duration{below(static_cast<std::uint64_t>(span))};
    const std::int64_t longest = i % 8 == 7 ? hours(6).ns : seconds(60).ns;
    const Duration length{seconds(5).ns + below(static_cast<std::uint64_t>(longest))};
    flips.push_back({begin, cluster, node, false});
    flips.push_back({begin + length, cluster, node, true});
  }
  std::sort(flips.begin(), flips.end(), [](const Flip& a, const Flip& b) { return a.at < b.at; });
  return flips;
}

std::string name_of(std::uint64_t cluster) { return "cluster-" + std::to_string(cluster); }

ObjectSeen seen(ObjectKey key, std::string version, std::uint64_t resource_version, Facts facts) {
  ObjectSeen object;
  object.uid = "u-" + key.namespace_ + "-" + key.name;
  object.key = std::move(key);
  object.version = std::move(version);
  object.resource_version = std::to_string(resource_version);
  object.generation = 1;
  object.facts = std::move(facts);
  return object;
}

NodeFacts node_facts(const std::string& name, bool ready) {
  NodeFacts facts;
  facts.labels = {{"kubernetes.io/arch", "amd64"},
                  {"kubernetes.io/hostname", name},
                  {"kubernetes.io/os", "linux"},
                  {"pool", kFlavor}};
  facts.ready = ready;
  facts.allocatable = {
      {"cpu", static_cast<Amount>(kCores * 1000)}, {"memory", 270'582'939'648}, {"pods", 110}};
  return facts;
}

ClaimFacts claim_facts(std::uint64_t cluster, std::uint64_t nodes) {
  ClaimFacts facts;
  facts.finalizers = {"fairlead.io/claim"};
  facts.spec.cluster_name = name_of(cluster);
  facts.spec.nominal_resources = {{"cpu", std::to_string(nodes * kCores)}};
  for (const char* queue : kQueues) {
    ClaimAssignment assignment;
    assignment.cluster_queue = queue;
    assignment.flavor = kFlavor;
    assignment.resources = {{"cpu", std::to_string(nodes * kCores * 3 / 10)}};
    facts.spec.assignments.push_back(assignment);
  }
  return facts;
}

// ---- the hub ----

class Writer {
 public:
  Writer(const std::filesystem::path& directory, const FlipSettings& settings)
      : settings_(settings),
        snapshots_(directory),
        log_(need(RocksdbLog::open_on(*env_, directory, OpenMode::write))),
        hub_(ports(), Feedback::assumed) {}

  std::uint64_t write() {
    begin();
    for (const Flip& flip : flips_of(settings_, kFirst + minutes(10))) {
      if (flip.at > hub_.now()) need(hub_.run_to(flip.at));
      const Seq before = log_->last_seq();
      observe(flip.cluster, flip.node, flip.ready);
      if (log_->last_seq() > before) check_point();  // a moment that is not decided, as in the log
    }
    need(hub_.run_to(kFirst + hours(24 * static_cast<std::int64_t>(settings_.days))));
    next_snapshot_ = {};
    save_snapshot();
    need(log_->wait_durable());
    need(log_->move_to_tables());
    return log_->last_seq().value;
  }

 private:
  static constexpr LogTime kFirst{1'750'000'000'000'000'000};

  VirtualPorts ports() {
    VirtualPorts ports;
    ports.append = [this](std::vector<EventDraft> drafts, LogTime at) {
      return log_->append(std::move(drafts), at, Epoch{1}, Durability::durable);
    };
    return ports;
  }

  void begin() {
    std::vector<EventDraft> drafts;
    drafts.push_back({std::string(kSelf), {}, EpochStarted{"bench", "bench", kFoldVersion, 1}});
    drafts.push_back({std::string(kSelf), {}, ConfigChanged{}});
    need(hub_.append(kFirst, std::move(drafts)));
    ResourceFlavorFacts flavor;
    flavor.node_labels = {{"pool", kFlavor}};
    tell(seen({Kind::resource_flavor, "", kFlavor}, "v1beta2", ++version_, flavor));
    for (const char* queue : kQueues) {
      ClusterQueueFacts facts;
      facts.groups = {{{"cpu"}, {{kFlavor, {{"cpu", {}, {}, {}}}}}}};
      tell(seen({Kind::cluster_queue, "", queue}, "v1beta2", ++version_, facts));
    }
    for (std::uint64_t cluster = 0; cluster < settings_.clusters; ++cluster)
      tell(seen({Kind::claim, "", name_of(cluster) + "-claim"}, "v1alpha1", ++version_,
                claim_facts(cluster, settings_.nodes)));
    for (std::uint64_t cluster = 0; cluster < settings_.clusters; ++cluster)
      for (std::uint64_t node = 0; node < settings_.nodes; ++node) observe(cluster, node, true);
  }
  void tell(ObjectSeen object) { need(hub_.offer({std::string(kHub), std::move(object)})); }
  void observe(std::uint64_t cluster, std::uint64_t node, bool ready) {
    const std::string name = "node-" + std::to_string(node);
    need(hub_.offer({name_of(cluster),
                     seen({Kind::node, "", name}, "v1", ++version_, node_facts(name, ready))}));
  }
  void save_snapshot() {
    const Seq last = log_->last_seq();
    if (settings_.snapshot_every == 0 || last < next_snapshot_) return;
    next_snapshot_ = Seq{last.value + settings_.snapshot_every};
    need(snapshots_.save(hub_.state(), log_->chain()));
    next_checkpoint_ = last;  // without one behind it a snapshot does not count
  }
  void check_point() {
    save_snapshot();
    const Seq last = log_->last_seq();
    if (last < next_checkpoint_) return;
    next_checkpoint_ = Seq{last.value + 25'000};
    std::vector<EventDraft> drafts;
    drafts.push_back({std::string(kSelf),
                      {},
                      Checkpoint{state_digest(hub_.state()), last.value, log_->chain()}});
    need(hub_.append(hub_.now(), std::move(drafts)));
  }

  const FlipSettings settings_;
  SnapshotStore snapshots_;
  Seq next_snapshot_;
  const std::unique_ptr<rocksdb::Env> env_ =
      rocksdb::NewCompositeEnv(std::make_shared<UnsyncedFiles>());
  const std::unique_ptr<RocksdbLog> log_;
  VirtualHub hub_;
  std::uint64_t version_ = 40'000'000;
  Seq next_checkpoint_{25'000};
};

}  // namespace

FlipHistory write_flips(const std::filesystem::path& directory, const FlipSettings& settings) {
  return {directory, Writer(directory, settings).write()};
}

}  // namespace fairlead::bench
