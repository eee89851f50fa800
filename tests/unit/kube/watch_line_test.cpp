// The short ways of a watch line against the long ones: read in place against read from a
// copy, whole in what arrived against put together from pieces; of recorded lines and of such as a
// broken server might send.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <random>

#include "connectors/kube/projection/projection.h"
#include "connectors/kube/watch/reflector.h"
#include "tests/support/sample.h"

using namespace fairlead;

namespace {

constexpr std::size_t kRounds = sample(6000);
constexpr std::size_t kFactsMin = sample(1000);  // of them, also where there are few records
constexpr std::size_t kLineBytesMax = 6000;      // longer ones take too long in a sanitized build

std::vector<std::string> recorded() {
  std::vector<std::string> lines;
  for (const char* folder : {"tests/unit/kube/recorded", "../shared/records"}) {
    if (!std::filesystem::exists(folder)) continue;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
      std::ifstream in(file);
      for (std::string line; std::getline(in, line);)
        if (line.size() <= kLineBytesMax) lines.push_back(line);
    }
  }
  return lines;
}

// Changes a line now and then; always the same way for the same seed.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_() % end); }

  std::string mutated(std::string line) {
    for (std::size_t times = below(4); times > 0 && !line.empty(); --times) mutate(line);
    return line;
  }

 private:
  void mutate(std::string& line) {
    constexpr std::string_view pieces = "{}[]:,\"\\ \t0-tfn1e.u/d\r";
    const std::size_t at = below(line.size());
    const std::size_t quote = line.find('"', at), colon = line.find(':', at);
    switch (below(8)) {
      case 0: line.erase(at, 1); break;
      case 1: line[at] = pieces[below(pieces.size())]; break;
      case 2: line.insert(at, 1, pieces[below(pieces.size())]); break;
      case 3: line.insert(at, line.substr(below(line.size()), below(40))); break;
      case 4: line.erase(at, below(30)); break;
      case 5: line.resize(at); break;
      case 6:
        if (quote != std::string::npos) line.insert(quote + 1, "\\u0041\\n");
        break;
      default:
        if (colon != std::string::npos) line.insert(colon + below(2), " ");
    }
  }
  std::mt19937_64 random_;
};

// All values of a tree, spelt as they were written.
std::string words_of(JsonView value) {
  std::string out = std::string(text_of(value.kind())) + " " + std::string(value.key()) + "=" +
                    std::string(value.text()) + "|" + std::string(value.written()) + "(";
  for (JsonView member : value) out += words_of(member);
  return out + ")";
}

std::string words_of(const WatchStep& step) {
  if (step.kind != WatchStep::Kind::event) return step.fault;
  return words_of(step.event->root);
}

std::string words_of(const ReflectorOutput& out) {
  std::string all;
  for (const auto& fact : out.facts) {
    if (const auto* seen = std::get_if<ObjectSeen>(&fact))
      all += seen->key.namespace_ + "/" + seen->key.name + " " + seen->uid + " " +
             seen->resource_version + " " + std::to_string(seen->generation) + " " +
             seen->raw.text + "\n";
    else
      all += std::to_string(fact.index()) + "\n";
  }
  for (const DiagnosticLine& line : out.diagnostics) all += line.text + "\n";
  return all;
}

// Whether `root`, which was read from a copy and as a whole, is a state of an object that is read;
// then the facts of `line`, in which the fingerprint leaves out what no projection reads, are the
// same.
bool check_facts(std::string_view line, JsonView root) {
  if (root["type"].string() != "ADDED" && root["type"].string() != "MODIFIED") return false;
  const auto whole = project(root["object"]);
  if (whole.has_error() || !*whole) return false;
  WatchDecoder decoder(LineFingerprinter((*whole)->key.kind),
                       [](const LineFingerprint&) { return false; });
  const WatchStep step = decoder.next(line);
  REQUIRE(step.kind == WatchStep::Kind::event);
  const auto seen = project(step.event->object());
  REQUIRE((seen.has_value() && seen->has_value()));
  CHECK(((*seen)->facts == (*whole)->facts));
  CHECK((*seen)->key == (*whole)->key);
  CHECK((*seen)->uid == (*whole)->uid);
  CHECK((*seen)->resource_version == (*whole)->resource_version);
  CHECK((*seen)->generation == (*whole)->generation);
  return true;
}

// The same, added value by value: nothing of it is as it was written.
void copy(JsonDocument& out, JsonView value) {
  if (!value.is(JsonKind::object) && !value.is(JsonKind::array)) {
    out.leaf(value.kind(), value.key(), value.text());
    return;
  }
  out.open(value.kind(), value.key());
  for (JsonView member : value) copy(out, member);
  out.close();
}

// Canonical text that may be what was written, of all that is in `value`.
void check_canonical(JsonView value) {
  JsonDocument copied;
  copy(copied, value);
  REQUIRE(canonical_text(value) == canonical_text(copied.root()));
  for (JsonView member : value) check_canonical(member);
}

// A reflector that watches.
struct Watch {
  explicit Watch(Kind kind) : reflector(kind, {}, load, [] { return std::uint64_t{0}; }) {
    reflector.served({}, std::string(kind == Kind::node ? "v1" : "v1beta2"));
    reflector.opened({});
    bytes(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"1","annotations":)"
          R"({"k8s.io/initial-events-end":"true"}}}})"
          "\n");
    facts.clear();
  }
  // From memory of its own, so that a sanitizer sees a step beyond it.
  void bytes(std::string_view text) {
    const std::vector<char> chunk(text.begin(), text.end());
    auto out = reflector.bytes({}, {chunk.data(), chunk.size()});
    words += words_of(out);
    for (auto& fact : out.facts)
      if (auto* seen = std::get_if<ObjectSeen>(&fact)) facts.push_back(std::move(seen->facts));
  }
  ServerLoad load;
  Reflector reflector;
  std::vector<Facts> facts;
  std::string words;
};

}  // namespace

TEST_CASE("a line that is read in place is read as from a copy") {
  const std::vector<std::string> lines = recorded();
  REQUIRE_FALSE(lines.empty());
  Mutator mutator(1);
  std::size_t events = 0, malformed = 0, same_facts = 0;
  for (std::size_t i = 0; i < kRounds; ++i) {
    const std::string line = mutator.mutated(lines[mutator.below(lines.size())]);
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::vector<char> chunk = [&] {
      std::vector<char> out(line.begin(), line.end());
      out.push_back('\n');
      return out;
    }();
    WatchDecoder decoder;
    std::string_view bytes(chunk.data(), chunk.size());
    const WatchStep step = decoder.next(bytes);
    CHECK(bytes.empty());
    JsonFault fault;
    const auto whole = parse_json(line, fault);
    INFO(line);
    if (!whole) {
      ++malformed;
      CHECK(step.kind == WatchStep::Kind::malformed);
      CHECK(step.fault == "byte " + std::to_string(fault.offset) + ": " + fault.what);
    } else if (step.kind == WatchStep::Kind::event) {
      ++events;
      REQUIRE(words_of(step.event->root) == words_of(whole->root()));
      check_canonical(step.event->root);
      same_facts += check_facts({chunk.data(), chunk.size()}, whole->root()) ? 1 : 0;
    } else {
      CHECK(step.kind == WatchStep::Kind::malformed);
      CHECK(step.fault.find("byte") == std::string::npos);
    }
  }
  CHECK(events > kRounds / 4);
  CHECK(same_facts > kFactsMin);
  CHECK(malformed > kRounds / 8);
}

TEST_CASE("bytes that are handed over and bytes that are fed say the same, however they are cut") {
  const std::vector<std::string> lines = recorded();
  Mutator mutator(2);
  for (std::size_t i = 0; i < kRounds / 8; ++i) {
    std::string stream;
    for (std::size_t n = 1 + mutator.below(4); n > 0; --n)
      stream += mutator.mutated(lines[mutator.below(lines.size())]) + "\n";
    if (mutator.below(2) == 0) stream.resize(mutator.below(stream.size()));
    const std::size_t chunk = 1 + mutator.below(stream.size() + 1);
    WatchDecoder fed, handed;
    for (std::size_t at = 0; at < stream.size(); at += chunk) {
      const std::vector<char> part(
          stream.begin() + static_cast<std::ptrdiff_t>(at),
          stream.begin() + static_cast<std::ptrdiff_t>(std::min(at + chunk, stream.size())));
      std::string_view bytes(part.data(), part.size());
      fed.feed(bytes);
      for (;;) {
        const WatchStep a = fed.next(), b = handed.next(bytes);
        REQUIRE(a.kind == b.kind);
        REQUIRE(words_of(a) == words_of(b));
        if (a.kind == WatchStep::Kind::need_more) break;
      }
      REQUIRE(bytes.empty());
    }
    const WatchStep a = fed.finish(), b = handed.finish();
    REQUIRE(a.kind == b.kind);
    REQUIRE(words_of(a) == words_of(b));
  }
}

TEST_CASE("a reflector tells the same of a stream in one piece, in small ones and line by line") {
  for (const auto& [kind, file] : {std::pair{Kind::node, "nodes.jsonl"},
                                   std::pair{Kind::cluster_queue, "clusterqueues.jsonl"}}) {
    std::vector<std::string> lines;
    std::ifstream in(std::string("tests/unit/kube/recorded/") + file);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    REQUIRE_FALSE(lines.empty());
    Mutator mutator(3);
    std::size_t facts = 0, unchanged = 0;
    for (std::size_t i = 0; i < kRounds / 8; ++i) {
      std::string stream;
      // Often the same line again, so that there is something to recognise.
      for (std::size_t n = 1 + mutator.below(6); n > 0; --n) {
        const std::string& line = lines[mutator.below(lines.size())];
        for (std::size_t again = 1 + mutator.below(3); again > 0; --again)
          stream += (mutator.below(10) == 0 ? mutator.mutated(line) : line) + "\n";
      }
      Watch whole(kind), pieces(kind), by_line(kind);
      whole.bytes(stream);
      const std::size_t chunk = 1 + mutator.below(700);
      for (std::size_t at = 0; at < stream.size(); at += chunk)
        pieces.bytes(std::string_view(stream).substr(at, chunk));
      for (std::size_t at = 0, end = 0; at < stream.size(); at = end) {
        end = stream.find('\n', at) + 1;
        by_line.bytes(std::string_view(stream).substr(at, end - at));
      }
      for (const Watch* other : {&pieces, &by_line}) {
        REQUIRE(other->words == whole.words);
        REQUIRE((other->facts == whole.facts));
        CHECK(other->reflector.counters().unchanged == whole.reflector.counters().unchanged);
        CHECK(other->reflector.counters().older == whole.reflector.counters().older);
        CHECK(other->reflector.counters().malformed == whole.reflector.counters().malformed);
      }
      facts += whole.facts.size();
      unchanged += whole.reflector.counters().unchanged;
    }
    CHECK(facts > sample(300));
    CHECK(unchanged > 20);
  }
}
