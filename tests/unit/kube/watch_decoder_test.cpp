#include "connectors/kube/watch/watch_decoder.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "connectors/kube/projection/projection.h"

using namespace fairlead;

namespace {

using Step = WatchStep::Kind;

// What comes out when `text` arrives in chunks of so many bytes: one letter an event.
std::string letters(std::string_view text, std::size_t chunk,
                    WatchDecoder decoder = WatchDecoder()) {
  std::string out;
  auto note = [&](const WatchStep& step) {
    if (step.kind == Step::malformed) out += '!';
    if (step.kind == Step::too_long) out += '>';
    if (step.kind == Step::event) out += "AMDBE"[static_cast<int>(step.event->type)];
    return step.kind == Step::event || step.kind == Step::malformed;
  };
  for (std::size_t at = 0; at < text.size(); at += chunk) {
    decoder.feed(text.substr(at, chunk));
    while (note(decoder.next())) {
    }
  }
  note(decoder.finish());
  return out;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace

TEST_CASE("lines are found however the stream is cut") {
  const std::string text =
      "{\"type\":\"ADDED\",\"object\":{}}\n\r\n{\"type\":\"MODIFIED\",\"object\":{}}\r\n{\"type\":"
      "\"DELETED\",\"object\":{}}\n"
      "{\"type\":\"BOOKMARK\",\"object\":{}}\n{\"type\":\"ERROR\",\"object\":{\"code\":410}}\n{"
      "\"kind\":\"Status\",\"code\":500}";
  for (std::size_t chunk = 1; chunk <= text.size(); ++chunk)
    CHECK(letters(text, chunk) == "AMDBEE");
}

TEST_CASE(
    "malformed lines are reported and skipped; a cut last line is malformed; a whole one is not") {
  CHECK(letters("oops\n{\"type\":\"ADDED\",\"object\":{}}\n", 7) == "!A");
  CHECK(letters("{\"type\":\"ADDED\",\"obj", 7) == "!");
  CHECK(letters("{\"type\":\"ADDED\",\"object\":{}}", 7) == "A");
  CHECK(letters("{\"type\":\"ADDED\"}\n{\"type\":\"ADDED\",\"object\":[]}\n{\"type\":7}\n[]\n{}\n",
                100) == "!!!!!");
  CHECK(letters("", 1) == "");
  CHECK(letters("\n\n  \n", 1) == "");
}

TEST_CASE("a line beyond the limit stops the stream, complete or not") {
  const std::string line =
      "{\"type\":\"ADDED\",\"object\":{\"a\":\"" + std::string(200, 'x') + "\"}}";
  CHECK(letters(line + "\n", 1000, WatchDecoder(100)) == ">");
  WatchDecoder decoder(100);
  decoder.feed(std::string_view(line).substr(0, 101));
  CHECK(decoder.next().kind == Step::too_long);
  CHECK(letters(line + "\n", 1000, WatchDecoder(line.size())) == "A");
}

TEST_CASE("an event carries its object; a bare Status is its own") {
  WatchDecoder decoder;
  decoder.feed(
      "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"n\"}}}\n{\"kind\":\"Status\","
      "\"code\":410}\n");
  CHECK(decoder.next().event->object()["metadata"]["name"].string() == "n");
  CHECK(decoder.next().event->object()["code"].integer() == 410);
}

TEST_CASE("recorded streams of real API servers decode and project without a fault") {
  // Our own: the watch of Nodes and ClusterQueues through a real kube-apiserver, with bookmarks and
  // the end of a streaming list.
  const std::filesystem::path own = "tests/unit/kube/recorded";
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(own)) files.push_back(entry.path());
  CHECK(files.size() >= 2);
  const std::filesystem::path shared = "../shared/records";
  if (std::filesystem::exists(shared)) {
    for (const auto& entry : std::filesystem::directory_iterator(shared))
      if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  } else {
    WARN("../shared/records is not there: the streams b- to y- were not run");
  }
  for (const auto& file : files) {
    INFO(file.string());
    const std::string text = read(file);
    WatchDecoder decoder;
    decoder.feed(text);
    std::size_t events = 0;
    for (WatchStep step = decoder.next(); step.kind != Step::need_more; step = decoder.next()) {
      INFO(step.fault);
      REQUIRE(step.kind == Step::event);
      ++events;
      if (step.event->type == WatchEventType::bookmark || step.event->type == WatchEventType::error)
        continue;
      auto seen = project(step.event->object());
      REQUIRE(seen.has_value());
      const Json object = to_json(step.event->object());
      CHECK(seen->has_value());
      CHECK(canonical_text(step.event->object()) == to_text(object));
      CHECK(raw_text(step.event->object()).find("managedFields") == std::string::npos);
    }
    CHECK(events > 0);
  }
}
