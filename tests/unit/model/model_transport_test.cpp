// The port to an API server in memory: what is due in which order, and what a client of it sees.
#include "engine/fleet/model/model_transport.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace fairlead;
using namespace fairlead::model;

namespace {

struct Line {
  Line() { model.install_fairlead_crds(); }

  std::unique_ptr<Transport::Stream> watch(const std::string& query) {
    HttpRequest request;
    request.target = "/api/v1/nodes?watch=true&" + query;
    return transport.stream(
        std::move(request),
        {[this] { seen.emplace_back("opened"); },
         [this](std::string_view bytes) { seen.emplace_back(bytes.substr(0, bytes.find(','))); },
         [this](Result<HttpResponse> end) {
           seen.push_back("ended " + std::to_string(end->status));
         }});
  }
  void add(const std::string& name) {
    const Json node{{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", name}}}};
    REQUIRE(model.call("POST", "/api/v1/nodes", node).has_value());
  }
  void pass(Duration span) { time.advance_to(time.now() + span); }

  VirtualTime time{LogTime{}};
  Model model{time};
  ModelTransport transport{time, model, {milliseconds(10)}};
  std::vector<std::string> seen;
};

using Seen = std::vector<std::string>;

}  // namespace

TEST_CASE("work runs by time, of one moment in the order in which it was asked for") {
  VirtualTime time{LogTime{}};
  std::string ran;
  const auto late = time.after(seconds(2), [&] { ran += 'c'; });
  time.post(seconds(1), [&] {
    ran += 'a';
    time.post({}, [&] { ran += 'B'; });
  });
  time.post(seconds(1), [&] { ran += 'b'; });
  auto cancelled = time.after(seconds(1), [&] { ran += 'x'; });
  cancelled.reset();
  CHECK(time.next_due() == LogTime{} + seconds(1));
  time.advance_to(LogTime{} + seconds(1));
  CHECK(ran == "abB");
  time.advance_to(LogTime{} + seconds(3));
  CHECK(ran == "abBc");
  CHECK(time.now() == LogTime{} + seconds(3));
  CHECK(time.next_due() == kForever);
}

TEST_CASE("a request is carried out when it arrives, and its answer needs as long to come back") {
  Line line;
  int status = 0;
  HttpRequest request;
  request.target = "/api/v1/nodes/a";
  line.transport.send(std::move(request),
                      [&](const Result<HttpResponse>& answer) { status = answer->status; });
  line.pass(milliseconds(9));
  line.add("a");
  line.pass(milliseconds(10));
  CHECK(status == 0);
  line.pass(milliseconds(1));
  CHECK(status == 200);
}

TEST_CASE("a watch opens, has lines and ends when its time is over") {
  Line line;
  const auto stream = line.watch("timeoutSeconds=60");
  line.pass(seconds(1));
  line.add("a");
  CHECK(line.seen == Seen{"opened"});
  line.pass(seconds(1));
  CHECK(line.seen == Seen{"opened", R"({"object":{"apiVersion":"v1")"});
  line.pass(seconds(60));
  CHECK(line.seen.back() == "ended 200");
  line.add("b");
  line.pass(seconds(60));
  CHECK(line.seen.size() == 3);
}

TEST_CASE("a watch that is refused ends with the reason") {
  Line line;
  const auto stream = line.watch("resourceVersion=x");
  line.pass(seconds(1));
  CHECK(line.seen == Seen{"ended 500"});
}

TEST_CASE("of a stream that was let go nothing comes") {
  Line line;
  auto stream = line.watch("");
  line.pass(seconds(1));
  line.add("a");
  stream.reset();
  line.pass(hours(1));
  CHECK(line.seen == Seen{"opened"});
}
