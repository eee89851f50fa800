// What comes of a watch while its client is cut off.
#include "tests/simulation/network.h"

#include <catch2/catch.hpp>

using namespace fairlead;
using namespace fairlead::simulation;

namespace {

struct CutOff {
  CutOff() {
    HttpRequest request;
    request.target = "/api/v1/namespaces?watch=true&timeoutSeconds=300";
    stream = network.stream(std::move(request),
                            {[] {}, [this](std::string_view bytes) { lines += bytes; },
                             [this](Result<HttpResponse>) { ended = true; }});
    pass(seconds(1));
  }
  void pass(Duration span) { time.advance_to(time.now() + span); }
  void make(const std::string& name) {
    server.write("administrator", "POST", "/api/v1/namespaces",
                 {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}});
  }
  bool has(const std::string& name) const { return lines.find(name) != std::string::npos; }

  const Storm storm;
  model::VirtualTime time{*parse_rfc3339("2026-01-01T00:00:00Z")};
  Server server{time, std::string(kHub), storm, 0, [](const SeenWrite&) {}};
  Faults faults{storm, time, [](const SeenFault&) {}};
  const LifeRef life = std::make_shared<Life>();
  Network network{time, server, faults, life, [] { return Sender{}; }};
  std::string lines;
  bool ended = false;
  std::unique_ptr<Transport::Stream> stream;
};

}  // namespace

TEST_CASE("a stream that outlives a partition has lost no line") {
  CutOff cut;
  cut.make("before");
  cut.pass(seconds(1));
  CHECK(cut.has("before"));
  cut.life->alone = cut.time.now() + seconds(20);
  cut.make("within");
  cut.pass(seconds(19));
  CHECK_FALSE(cut.has("within"));
  cut.pass(seconds(2));
  CHECK(cut.has("within"));
  cut.make("after");
  cut.pass(seconds(1));
  CHECK(cut.has("after"));
  CHECK_FALSE(cut.ended);
}
