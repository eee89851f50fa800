// Watch lines: the time until they are typed facts, or known to change nothing.
//
// The reflector is measured as the hub drives it: chunks of bytes in, watch facts out. The bound is
// simdjson's first stage over the same lines with the best kernel of the machine: the least work of
// any JSON parser of this speed.
#include <fstream>
#include <memory>

#include "connectors/kube/document/json_index.h"
#include "connectors/kube/watch/reflector.h"
#include "tests/bench/benches.h"
#include "tests/bench/kubelet_node.h"

namespace fairlead::bench {
namespace {

constexpr std::size_t kChunkBytes = 16 * 1024;

enum class Update : std::uint8_t { changed, unchanged };

std::vector<std::string> recorded(const std::string& name) {
  std::ifstream in(std::string(FAIRLEAD_RECORDED) + "/" + name);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("{\"type\":\"MODIFIED\"") || line.starts_with("{\"type\":\"ADDED\""))
      lines.push_back(line);
  if (lines.empty()) give_up("no recorded lines in " + name);
  return lines;
}

void insert_behind(std::string& line, std::string_view mark, const std::string& text) {
  const std::size_t at = line.find(mark);
  if (at == std::string::npos) give_up("a recorded line lacks " + std::string(mark));
  line.insert(at + mark.size(), text);
}

// The recorded Nodes were made by hand and are small. Adds what a kubelet reports on a machine in
// use: its owned fields, images, addresses, conditions, and the labels of a cloud.
std::string as_a_kubelet_reports(std::string line) {
  std::string labels;
  for (int i = 0; i < 20; ++i)
    labels += R"(,"node.example.com/label-)" + std::to_string(i) + R"(":"value-)" +
              std::to_string(i) + "\"";
  insert_behind(line, R"("metadata":{)",
                R"("labels":{"bench":"")" + labels + "}," + kubelet_managed_fields() + ",");
  insert_behind(
      line, R"("status":{)",
      R"("allocatable":{"cpu":"31850m","ephemeral-storage":"95551679124","hugepages-2Mi":)"
      R"("0","memory":"126913836Ki","nvidia.com/gpu":"8","pods":"110"},)" +
          kubelet_status() + ",");
  return line;
}

// The text between the first `begin` behind `from` and the next quote becomes `value`.
void replace_value(std::string& line, std::size_t from, std::string_view begin,
                   const std::string& value) {
  const std::size_t at = line.find(begin, from);
  if (at == std::string::npos) give_up("a recorded line lacks " + std::string(begin));
  const std::size_t text = at + begin.size();
  line.replace(text, line.find('"', text) - text, value);
}

// `count` updates of `objects` objects: each has its own name and uid, a higher resourceVersion
// than the one before, and a label, which the last one did not have if it is to be changed.
std::vector<std::string> updates(const std::vector<std::string>& lines, std::size_t objects,
                                 std::size_t first, std::size_t count, Update update) {
  std::vector<std::string> out;
  for (std::size_t i = first; i < first + count; ++i) {
    const std::string object = std::to_string(1'000'000 + i % objects);
    const std::string mark = update == Update::changed ? std::to_string(1'000'000 + i) : "same";
    std::string line = lines[i % objects % lines.size()];
    line.replace(0, line.find(','), first == 0 ? R"({"type":"ADDED")" : R"({"type":"MODIFIED")");
    const std::size_t metadata = line.find(R"("metadata":{)") + 12;
    replace_value(line, metadata, R"("name":")", object);
    replace_value(line, metadata, R"("uid":")",
                  "00000000-0000-4000-8000-000001" + object.substr(1));
    replace_value(line, metadata, R"("resourceVersion":")", std::to_string(1'000'000'000 + i));
    if (line.find(R"("labels":{"bench":")") == std::string::npos)
      line.insert(metadata, R"("labels":{"bench":"same"},)");
    replace_value(line, metadata, R"("bench":")", mark);
    out.push_back(line + "\n");
  }
  return out;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line;
  return out;
}

// A reflector whose list is complete.
struct Stream {
  explicit Stream(Kind kind, std::string_view version, const std::vector<std::string>& objects)
      : reflector(kind, {}, load, [] { return std::uint64_t{0}; }) {
    reflector.served({}, std::string(version));
    reflector.opened({});
    feed(joined(objects));
    feed(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"1","annotations":)"
         R"({"k8s.io/initial-events-end":"true"}}}})"
         "\n");
    if (!reflector.synced()) give_up("the list of a bench did not end");
  }
  // Returns the number of facts.
  std::size_t feed(std::string_view bytes) {
    std::size_t facts = 0;
    for (std::size_t at = 0; at < bytes.size(); at += kChunkBytes)
      facts += reflector.bytes({}, bytes.substr(at, kChunkBytes)).facts.size();
    return facts;
  }
  ServerLoad load;
  Reflector reflector;
};

// Nanoseconds a line; the lines go on from round to round, so that versions rise.
class Lines {
 public:
  Lines(Kind kind, std::string_view version, std::vector<std::string> lines, Size size,
        Update update)
      : recorded_(std::move(lines)),
        objects_(size == Size::tiny ? 10 : 500),
        count_(size == Size::tiny ? 20 : 5000),
        update_(update),
        stream_(kind, version, updates(recorded_, objects_, 0, objects_, update)),
        next_(objects_) {}

  double measured() {
    const auto lines = updates(recorded_, objects_, next_, count_, update_);
    next_ += count_;
    const std::string bytes = joined(lines);
    std::size_t facts = 0;
    const std::uint64_t unchanged = stream_.reflector.counters().unchanged;
    const double seconds = cpu_seconds_of([&] { facts = stream_.feed(bytes); });
    const std::uint64_t known = stream_.reflector.counters().unchanged - unchanged;
    if (known != (update_ == Update::changed ? 0 : count_))
      give_up("lines were taken for what they are not");
    if (update_ == Update::changed && facts != count_) give_up("lines gave no facts");
    return seconds * 1e9 / static_cast<double>(count_);
  }
  double bound() {
    const auto lines = updates(recorded_, objects_, next_, count_, update_);
    JsonIndex index;
    std::size_t places = 0;
    for (const std::string& line : lines) index.find(line);  // its buffers are warm
    const double seconds = cpu_seconds_of([&] {
      for (const std::string& line : lines) {
        if (!index.find(line)) give_up("a recorded line is no JSON");
        places += index.places().size();
      }
    });
    keep(places);
    return seconds * 1e9 / static_cast<double>(count_);
  }

 private:
  const std::vector<std::string> recorded_;
  const std::size_t objects_, count_;
  const Update update_;
  Stream stream_;
  std::size_t next_;
};

void add(Suite& suite, const std::string& name, Kind kind, std::string_view version,
         const std::function<std::vector<std::string>()>& read, Update update, double limit) {
  suite.add({name, "simdjson stage 1 of the same lines", "ns/line", Better::less, limit,
             [kind, version, read, update](const Place& place) {
               auto lines = std::make_shared<Lines>(kind, version, read(), place.size, update);
               return Trial{[lines] { return lines->measured(); },
                            [lines] { return lines->bound(); }};
             }});
}

}  // namespace

void add_decode_benches(Suite& suite) {
  const auto small_nodes = [] { return recorded("nodes.jsonl"); };
  const auto nodes = [] {
    std::vector<std::string> lines = recorded("nodes.jsonl");
    for (std::string& line : lines) line = as_a_kubelet_reports(std::move(line));
    return lines;
  };
  const auto queues = [] { return recorded("clusterqueues.jsonl"); };
  for (const auto& [name, read] :
       {std::pair<std::string, std::function<std::vector<std::string>()>>{"node of 8 KB", nodes},
        {"node of 0.5 KB", small_nodes}}) {
    add(suite, "decode/" + name + " to facts", Kind::node, "v1", read, Update::changed, 5);
    add(suite, "decode/unchanged " + name, Kind::node, "v1", read, Update::unchanged, 2.5);
  }
  add(suite, "decode/ClusterQueue to facts", Kind::cluster_queue, "v1beta2", queues,
      Update::changed, 5);
  add(suite, "decode/unchanged ClusterQueue", Kind::cluster_queue, "v1beta2", queues,
      Update::unchanged, 2.5);
}

}  // namespace fairlead::bench
