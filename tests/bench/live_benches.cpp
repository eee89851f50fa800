// What a node costs a running hub: State, and what the connector and ingest keep beside it.
//
// Lists as member API servers stream them go through reflectors on one thread, and by the inbox
// into the core and the log of a hub on another: values are made on one thread and kept by the
// other, which a fold alone does not show.
#include <memory>
#include <thread>
#include <vector>

#include "connectors/kube/watch/reflector.h"
#include "engine/core/batches.h"
#include "engine/log/rocksdb/rocksdb_log.h"
#include "engine/runtime/inbox.h"
#include "engine/runtime/leader.h"
#include "engine/runtime/system_clock.h"
#include "tests/bench/benches.h"
#include "tests/bench/kubelet_node.h"
#include "tests/bench/resident.h"
#include "tests/bench/workload.h"
#include "tests/unit/core/small_world.h"

namespace fairlead::bench {
namespace {

constexpr std::size_t kStreamChunkBytes = 16 * 1024;  // a TLS record
constexpr std::uint64_t kNodesOfMember = 5000;

std::string member_name(std::uint64_t member) { return "cluster-" + std::to_string(member); }

/// The Nodes of one member as its API server streams them: names, uids, zones and memory differ.
class NodeLines {
 public:
  NodeLines() : managed_(kubelet_managed_fields()), status_(kubelet_status()) {}

  void append(std::string& out, std::uint64_t member, std::uint64_t number) {
    const std::string zone(1, static_cast<char>('a' + number % 3));
    const std::string name = "ip-10-" + std::to_string(member % 256) + "-" +
                             std::to_string(number / 256) + "-" + std::to_string(number % 256) +
                             ".eu-central-1.compute.internal";
    const char* pool = number % 3 != 0 ? "on-demand" : "spot";
    out += R"({"type":"ADDED","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":")";
    out +=
        name + R"(","uid":")" + random_.uid() + R"(","resourceVersion":")" +
        std::to_string(++version_) +
        R"(","creationTimestamp":"2026-11-21T16:47:13Z","labels":{)"
        R"("beta.kubernetes.io/arch":"amd64","beta.kubernetes.io/instance-type":"p4d.24xlarge",)"
        R"("beta.kubernetes.io/os":"linux","kubernetes.io/arch":"amd64","kubernetes.io/hostname":")" +
        name +
        R"(","kubernetes.io/os":"linux","node.kubernetes.io/instance-type":)"
        R"("p4d.24xlarge","pool":")" +
        pool +
        R"(","topology.kubernetes.io/region":"eu-central-1","topology.kubernetes.io/zone":)"
        R"("eu-central-1)" +
        zone + R"("},)" + managed_ +
        R"(},"spec":{"providerID":"aws:///eu-central-1/i-0"},"status":{"allocatable":{)"
        R"("cpu":"95690m","ephemeral-storage":"95551679124","hugepages-1Gi":"0",)"
        R"("hugepages-2Mi":"0","memory":")" +
        std::to_string(1'176'334'668 + number % 999) +
        R"(Ki","nvidia.com/gpu":"8","pods":"110"},)" + status_ + "}}}\n";
  }

 private:
  const std::string managed_, status_;
  Random random_{7};
  std::uint64_t version_ = 40'000'000;
};

/// One member's stream of Nodes: the thread of the connector reads all of them.
struct MemberStream {
  explicit MemberStream(SourceName name)
      : source(std::move(name)), reflector(Kind::node, {}, load, [] { return std::uint64_t{0}; }) {
    reflector.served({}, "v1");
    reflector.opened({});
  }
  void feed(Inbox& inbox, std::string_view bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += kStreamChunkBytes)
      for (auto& said : reflector.bytes({}, bytes.substr(at, kStreamChunkBytes)).facts)
        inbox.push({source, std::move(said)});
  }
  SourceName source;
  ServerLoad load;
  Reflector reflector;
};

/// A hub that has listed all Nodes of its members.
class LiveHub {
 public:
  LiveHub(const std::filesystem::path& directory, std::uint64_t nodes)
      : directory_(directory),
        nodes_(nodes),
        members_((nodes + kNodesOfMember - 1) / kNodesOfMember),
        log_(need(RocksdbLog::open(directory / "data", OpenMode::write))),
        replica_(*log_, clock_, HubSettings{"bench"}, [](const Diagnostic&) {}),
        leader_(replica_),
        inbox_(kInboxFactsMax) {
    Configuration configuration;
    for (std::uint64_t i = 0; i < members_; ++i)
      configuration.member_kubeconfigs.push_back({member_name(i), "", member_name(i), ""});
    need(replica_.fold({}));
    need(leader_.begin(configuration));
    ResourceFlavorFacts flavor;
    for (const char* pool : {"on-demand", "spot"}) {
      flavor.node_labels = {{"pool", pool}};
      leader_.offer(
          {std::string(kHub),
           ObjectSeen{{Kind::resource_flavor, "", pool}, "v1beta2", pool, "1", 1, flavor, {}}});
    }
    for (WatchFact& list : ServerDouble("hub").list(every_hub_kind()))
      leader_.offer(std::move(list));
    step();
  }

  /// All lists advance abreast, as they do at the start of a hub.
  void list() {
    std::thread reader([this] { read_lists(); });
    std::size_t complete = 0;
    while (complete < members_) {
      Inbox::Content content = inbox_.dequeue(kIdle, kBatchFactsMax);
      for (WatchFact& fact : content.facts) {
        complete += std::holds_alternative<ListCompleted>(fact.said);
        leader_.offer(std::move(fact));
      }
      step(content.more_facts ? Input::more_pending : Input::complete);
    }
    reader.join();
    std::size_t known = 0;
    for (const auto& [name, cluster] : leader_.state().clusters)
      known += cluster.reports.nodes.size();
    if (known != nodes_) give_up("the hub knows other nodes than were listed");
  }
  void save_snapshot() {
    SnapshotStore store(directory_ / "data");
    need(store.save(leader_.state(), log_->chain()));
  }
  /// Until the windows of layer 0 are over.
  void rest() {
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    step();
  }

 private:
  static constexpr Duration kIdle = milliseconds(100);

  void step(Input input = Input::complete) { need(leader_.step(input)); }

  void read_lists() {
    NodeLines lines;
    std::string bytes;
    for (std::uint64_t i = 0; i < members_; ++i)
      streams_.push_back(std::make_unique<MemberStream>(member_name(i)));
    for (std::uint64_t number = 0; number < nodes_; ++number) {
      const std::uint64_t member = number % members_;
      bytes.clear();
      lines.append(bytes, member, number / members_);
      streams_[member]->feed(inbox_, bytes);
    }
    for (const auto& stream : streams_)
      stream->feed(inbox_,
                   R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"90000000",)"
                   R"("annotations":{"k8s.io/initial-events-end":"true"}}}})"
                   "\n");
  }

  const std::filesystem::path directory_;
  const std::uint64_t nodes_, members_;
  const std::unique_ptr<RocksdbLog> log_;
  SystemClock clock_;
  Replica replica_;
  Leader leader_;
  Inbox inbox_;
  std::vector<std::unique_ptr<MemberStream>> streams_;  // of the thread that reads
};

double bytes_of_live_hub(const std::filesystem::path& directory, std::uint64_t nodes) {
  LiveHub hub(directory, nodes);
  const double before = resident_bytes();
  hub.list();
  hub.rest();
  return grown_since(before);
}

// What a snapshot takes beside the hub, at its peak.
double bytes_of_snapshot(const std::filesystem::path& directory, std::uint64_t nodes) {
  LiveHub hub(directory, nodes);
  hub.list();
  hub.rest();
  return peak_bytes_of([&hub] { hub.save_snapshot(); });
}

auto prepare_live(double (*measure)(const std::filesystem::path&, std::uint64_t), double limit) {
  return [measure, limit](const Place& place) {
    const std::uint64_t nodes = place.size == Size::tiny ? 2'000 : 400'000;
    return Trial{[measure, nodes, directory = place.directory, trial = 0]() mutable {
                   const auto own = directory / std::to_string(++trial);
                   std::filesystem::create_directories(own);
                   return figure_of_a_process([&] { return measure(own, nodes); }) /
                          static_cast<double>(nodes);
                 },
                 [limit] { return limit; }};
  };
}

}  // namespace

void add_live_benches(Suite& suite) {
  suite.add({"memory/live hub, 400k nodes", "900 bytes a node", "bytes", Better::less, 1,
             prepare_live(bytes_of_live_hub, 900)});
  suite.add({"memory/snapshot of 400k nodes", "300 bytes a node beside the hub, at the peak",
             "bytes", Better::less, 1, prepare_live(bytes_of_snapshot, 300)});
}

}  // namespace fairlead::bench
