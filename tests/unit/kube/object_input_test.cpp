#include "connectors/kube/document/object_input.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <istream>
#include <sstream>
#include <streambuf>

#include "connectors/kube/document/json_document.h"

using namespace fairlead;

namespace {

// One line a line: line:time:cluster:type kind namespace/name@resourceVersion [read].
std::string summary(std::string_view text) {
  static const char* const words[] = {"added", "modified", "deleted", "bookmark",
                                      "error", "stale",    "lost",    "synced"};
  std::vector<InputLine> lines;
  if (auto done = read_objects_text(text, "in", lines); done.has_error())
    return done.error().message;
  std::string out;
  for (const InputLine& line : lines) {
    out += std::to_string(line.line) + " " + to_rfc3339(line.time).substr(11) + " " + line.cluster +
           " " + words[static_cast<int>(line.type)];
    if (!line.kind.empty())
      out +=
          " " + line.kind + " " + line.namespace_ + "/" + line.name + "@" + line.resource_version;
    if (line.seen) out += " read";
    out += "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("YAML documents are objects added at time 0 and carry their line") {
  CHECK(summary("# a comment\n---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\n---\n---\n"
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: d}\n") ==
        "3 00:00:00Z hub added Node /n1@ read\n8 00:00:00Z hub added ConfigMap d/c@\n");
  CHECK(summary("") == "");
  CHECK(summary(" \n---\n# nothing\n") == "");
}

TEST_CASE(
    "watch events are read one a line, pretty-printed and concatenated, with cluster and time") {
  CHECK(
      summary(
          R"({"type":"ADDED","object":{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","resourceVersion":"7"}},"cluster":"cluster2","time":"1970-01-01T00:00:05Z","extra":{}}
{
  "type": "MODIFIED",
  "object": {"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","resourceVersion":"8"}}
}{"type":"DELETED","object":{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}},"cluster":"cluster2","time":"1970-01-01T00:00:05Z"}
{"type":"BOOKMARK","object":{"apiVersion":"v1","kind":"Node","metadata":{"resourceVersion":"9"}}}
{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","code":410}}
{"type":"SOURCE_STALE","cluster":"cluster2","time":"1970-01-01T00:00:06Z"}
{"type":"SOURCE_LOST","cluster":"cluster2"}
{"type":"SOURCE_SYNCED","cluster":"cluster2","kind":"whatever"}
)") == R"(1 00:00:05Z cluster2 added Node /n1@7 read
2 00:00:05Z hub modified Node /n1@8 read
5 00:00:05Z cluster2 deleted Node /n1@ read
6 00:00:05Z hub bookmark Node /@9
7 00:00:05Z hub error
8 00:00:06Z cluster2 stale
9 00:00:06Z cluster2 lost
10 00:00:06Z cluster2 synced
)");
}

TEST_CASE(
    "a List is read as its items, a typed list gives them its kind, an empty one is nothing") {
  CHECK(summary("apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Node, metadata: "
                "{name: a}}\n"
                "- {apiVersion: v1, kind: Node, metadata: {name: b}}\n") ==
        "1 00:00:00Z hub added Node /a@ read\n1 00:00:00Z hub added Node /b@ read\n");
  CHECK(summary(R"({"apiVersion":"v1","kind":"NodeList","items":[{"metadata":{"name":"a"}}]})") ==
        "1 00:00:00Z hub added Node /a@ read\n");
  CHECK(summary("kind: List\napiVersion: v1\nitems: []\n") == "");
  CHECK(summary("kind: List\napiVersion: v1\n") == "");
  CHECK(summary("[{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"}}]") ==
        "1 00:00:00Z hub added Node /a@ read\n");
  CHECK(summary("kind: List\napiVersion: v1\nitems: 3\n") ==
        "in:1: expected items of a List to be an array, got a number");
}

TEST_CASE("an object with a field named type is an object") {
  CHECK(
      summary("apiVersion: v1\nkind: Secret\ntype: Opaque\nmetadata: {name: s, namespace: d}\n") ==
      "1 00:00:00Z hub added Secret d/s@ read\n");
}

TEST_CASE("an object with generateName alone is passed over if its kind is not read") {
  const std::string job =
      "apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: demo-, namespace: d}\n";
  const std::string node = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n";
  CHECK(summary(node + "---\n" + job) == summary(node));
  CHECK(summary("apiVersion: v1\nkind: List\nitems:\n- apiVersion: batch/v1\n  kind: Job\n"
                "  metadata: {generateName: demo-}\n") == "");
  CHECK(summary("apiVersion: v1\nkind: Node\nmetadata: {generateName: n-}\n") ==
        "in:1: expected Node to have a metadata.name, it has generateName n-");
}

TEST_CASE("what is not understood names file, line and what was expected") {
  CHECK(summary("a: 1\n") == "in:1: expected an object with a kind");
  CHECK(summary("kind: Node\napiVersion: v1\n") == "in:1: expected Node to have a metadata.name");
  CHECK(summary("\n\nkind: Foo\nmetadata: {name: 1}\n") ==
        "in:3: expected Foo to have a metadata.name");
  CHECK(summary("just text\n") ==
        "in:1: expected an object with kind and metadata.name, got a string");
  CHECK(summary("a: [1\n").find("in:") == 0);
  CHECK(summary("kind: Foo\nmetadata:\n  name: x\nkind: Bar\n") ==
        "in:4: expected YAML: duplicate key \"kind\"");
  CHECK(summary("kind: Foo\nmetadata: {name: x}\n---\n}\n").find("in:4: expected YAML: ") == 0);
  CHECK(summary("\"a\",\"b\"\n").find("in:1: expected ") == 0);
  CHECK(summary("a: *nothing\n").find("in:1: expected YAML: ") == 0);
  CHECK(summary("{\"kind\":\n\"Node\",\n oops}").find("in:3: expected JSON: ") == 0);
  CHECK(summary("{\"kind\":").find("in:1: expected JSON: ") == 0);
  CHECK(summary("{}\n") == "in:1: expected an object with a kind");
  CHECK(
      summary("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"}}\nnull\n") ==
      "in:2: expected JSON: a document starts with { or [");
  CHECK(summary(R"({"type":"FROB","object":{}})").find("in:1: expected type ADDED, ") == 0);
  CHECK(summary(R"({"type":7,"object":{}})").find("in:1: expected type ADDED, ") == 0);
  CHECK(summary(R"({"object":{"kind":"Node","metadata":{"name":"a"}}})")
            .find("in:1: expected type ADDED, ") == 0);
  CHECK(summary(R"({"type":"ADDED"})") ==
        "in:1: expected object to be a Kubernetes object, got nothing");
  CHECK(summary(R"({"type":"ADDED","object":{"kind":"Node"},"cluster":7})") ==
        "in:1: expected cluster to be the name of an API server, got 7");
  CHECK(summary(R"({"type":"SOURCE_LOST","time":"yesterday"})") ==
        "in:1: expected time as in 2026-01-01T00:00:00Z, got \"yesterday\"");
  CHECK(summary("{\"type\":\"SOURCE_LOST\",\"time\":\"2026-01-01T00:00:01Z\"}\n"
                "{\"type\":\"SOURCE_LOST\",\"time\":\"2026-01-01T00:00:00Z\"}") ==
        "in:2: expected a time that is not before 2026-01-01T00:00:01Z, got 2026-01-01T00:00:00Z");
}

TEST_CASE("an object that no API server lets pass counts as deleted") {
  std::vector<InputLine> lines;
  const auto slice = [](int count) {
    return R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{"name":"s"},
      "spec":{"driver":"d","pool":{"name":"p","resourceSliceCount":)" +
           std::to_string(count) + "}}}";
  };
  REQUIRE(read_objects_text(slice(1) + slice(0), "in", lines).has_value());
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].type == InputType::added);
  CHECK(lines[1].type == InputType::deleted);
  CHECK(lines[1].seen->key == ObjectKey{Kind::resource_slice, "", "s"});
}

TEST_CASE("plain YAML scalars become what kubectl makes of them, with their digits") {
  std::vector<InputLine> lines;
  auto done = read_objects_text(R"(kind: ConfigMap
metadata: {name: x}
data: {a1: y, a2: Yes, a3: on, a4: ~, a5: Null, a6: 010, a7: 0x1F, a8: 0b11, a9: 0o17, b1: 1_000, b2: 1., b3: .5,
  b4: +5, b5: 1e3, b7: 2001-01-01, b9: -0, c1: "5", c2: !!str 5, c4: 12:30:45, c6: 1__0, c7: -0x1F,
  c8: 0777_0, c9: 08, d1: 1_000.5, d2: N, d3: !!int "5", d5: =, e1: 'yes', e2: -, e3: 1.2.3, e4: 0x, e5: 1e}
base: &base {p: 1, q: 2}
merged: {<<: *base, q: 3}
7: seven
true: yes
)",
                                "in", lines);
  REQUIRE(done.has_value());
  CHECK(
      to_text(lines.at(0).object["data"]) ==
      R"({"a1":true,"a2":true,"a3":true,"a4":null,"a5":null,"a6":8,"a7":31,"a8":3,"a9":15,"b1":1000,"b2":1,"b3":0.5,)"
      R"("b4":5,"b5":1000,"b7":"2001-01-01","b9":0,"c1":"5","c2":"5","c4":"12:30:45","c6":10,"c7":-31,"c8":4088,)"
      R"("c9":8,"d1":1000.5,"d2":false,"d3":5,"d5":"=","e1":"yes","e2":"-","e3":"1.2.3","e4":"0x","e5":"1e"})");
  CHECK(to_text(lines.at(0).object["merged"]) == R"({"p":1,"q":3})");
  CHECK(lines.at(0).object["7"] == "seven");
  CHECK(lines.at(0).object["true"] == true);
}

TEST_CASE("a number in YAML reaches the facts with every digit") {
  std::vector<InputLine> lines;
  auto done = read_objects_text(
      "apiVersion: galaxy.kubestellar.io/v1alpha1\nkind: ClusterResourceClaim\nmetadata: {name: "
      "c}\n"
      "spec: {clusterName: c2, nominalResources: {cpu: 1000, memory: 1.5, a: 0.000000001, b: "
      "1e3}}\n",
      "in", lines);
  REQUIRE(done.has_value());
  REQUIRE(lines.at(0).seen);
  const auto& spec = std::get<ClaimFacts>(lines[0].seen->facts).spec;
  CHECK(spec.malformed.empty());
  CHECK(spec.nominal_resources ==
        std::map<std::string, std::string>{
            {"a", "1n"}, {"b", "1k"}, {"cpu", "1k"}, {"memory", "1500m"}});
}

TEST_CASE("an alias bomb is refused") {
  std::string text = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 9; ++i) {
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) text += (j != 0 ? "," : "") + ("*a" + std::to_string(i - 1));
    text += "]\n";
  }
  CHECK(summary(text).find("expected YAML: aliases that stand for more than") != std::string::npos);
}

// Gives `left` bytes of an array of strings and ends without closing it.
class Unclosed : public std::streambuf {
 public:
  explicit Unclosed(std::size_t left) : left_(left) {}
  std::size_t given() const { return given_; }

 protected:
  int_type underflow() override {
    if (left_ == 0) return traits_type::eof();
    const std::size_t size = std::min(left_, sizeof page_);
    for (std::size_t i = 0; i < size; ++i) page_[i] = kText[(given_ + i) % kText.size()];
    if (given_ == 0) page_[0] = '[';
    given_ += size;
    left_ -= size;
    setg(page_, page_, page_ + size);
    return traits_type::to_int_type(page_[0]);
  }

 private:
  static constexpr std::string_view kText = " \"a\",\n";
  std::size_t left_;
  std::size_t given_ = 0;
  char page_[4096];
};

TEST_CASE("JSON that is not closed is refused without reading it into a tree") {
  Unclosed text(kJsonBytesMax + 1);
  std::istream in(&text);
  const auto refused = read_objects({"-"}, in);
  REQUIRE(refused.has_error());
  CHECK(refused.error() ==
        Error{ErrorCode::bad_input,
              "-:1: expected JSON: the document that begins here is not closed after " +
                  std::to_string(kJsonBytesMax + 1) + " bytes"});
}

TEST_CASE("input that never ends is read up to a bound") {
  constexpr std::size_t kMost = 3'000'000;
  Unclosed text(SIZE_MAX);
  std::istream in(&text);
  const auto refused = read_objects({"-"}, in, kMost);
  REQUIRE(refused.has_error());
  CHECK(
      refused.error() ==
      Error{
          ErrorCode::bad_input,
          "-:1: expected a document of up to 3000000 bytes, which begins here, got a longer one"});
  CHECK(text.given() < 2 * kMost);
}

TEST_CASE("YAML is bounded by the document, not by the file") {
  std::istringstream none;
  CHECK(read_objects({"/dev/zero"}, none).error() ==
        Error{ErrorCode::bad_input,
              "/dev/zero:1: expected a document of up to 33554432 bytes, which begins here, got a "
              "longer one"});
  const std::string node = "kind: Node\napiVersion: v1\nmetadata: {name: a}\n";
  const std::string filler = "# " + std::string(2'000'000, 'x') + "\n";
  std::istringstream three(node + filler + "---\n" + node + filler + "---\n" + node + filler);
  const auto lines = read_objects({"-"}, three, 3'000'000);
  REQUIRE(lines.has_value());
  CHECK(lines->size() == 3);
  std::istringstream longer(node + "---\n" + node + filler + filler);
  CHECK(read_objects({"-"}, longer, 3'000'000).error() ==
        Error{ErrorCode::bad_input,
              "-:4: expected a document of up to 3000000 bytes, which begins here, got a longer "
              "one"});
}

TEST_CASE("files are read one behind the other and a dash is standard input") {
  const auto folder = std::filesystem::temp_directory_path() / "fairlead-object-input-test";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "nodes.yaml").string();
  std::ofstream(path) << "kind: Node\napiVersion: v1\nmetadata: {name: a}\n";
  std::istringstream in("{\"type\":\"SOURCE_LOST\",\"time\":\"1970-01-01T00:00:09Z\"}");
  auto lines = read_objects({"-", path}, in);
  REQUIRE(lines.has_value());
  REQUIRE(lines->size() == 2);
  CHECK((*lines)[0].file == "-");
  CHECK((*lines)[1].file == path);
  CHECK((*lines)[1].time == (*lines)[0].time);
  const std::string none = (folder / "none").string();
  for (const auto& [bad, what] : {std::pair(folder.string(), "expected a file, got a directory"),
                                  std::pair(none, "cannot be read: No such file or directory")}) {
    auto refused = read_objects({bad}, in);
    REQUIRE(refused.has_error());
    CHECK(refused.error() == Error{ErrorCode::bad_input, bad + ": " + what});
  }
  std::filesystem::remove_all(folder);
}
