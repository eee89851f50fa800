// The audit page over a long log: how soon its first view is there, what its index takes, and what
// keeping that costs the hub beside it.
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/main/client/http_target.h"
#include "engine/main/service/index_keeper.h"
#include "engine/main/service/question_service.h"
#include "engine/runtime/http_endpoint.h"
#include "replay/timeline/timeline_file.h"
#include "snapshots/snapshot_store.h"
#include "tests/bench/benches.h"
#include "tests/bench/busy_hub.h"
#include "tests/bench/flip_history.h"

namespace fairlead::bench {
namespace {

// A week of 5,000 nodes that fail and come back so often that it is 10 M events.
FlipSettings week(const Place& place) {
  if (place.size == Size::tiny) return {4, 5, 20, 1, 1000};
  return {50, 100, 17'000, 7, 500'000};
}

struct IndexedLog {
  FlipHistory history;
  std::uint64_t log_bytes = 0;
  std::uint64_t index_bytes = 0;
};

std::shared_ptr<const IndexedLog> write_indexed(const Place& place) {
  auto written = std::make_shared<IndexedLog>();
  written->history = write_flips(place.directory / "week", week(place));
  const auto log = need(RocksdbLog::open(written->history.directory, OpenMode::read));
  Timeline timeline;
  need(timeline.follow(*log, nullptr, UINT64_MAX));
  written->index_bytes = need(save_timeline(timeline, written->history.directory));
  written->log_bytes = need(log->stat()).bytes;
  std::cerr << written->history.events << " events of " << written->log_bytes << " bytes, index of "
            << timeline.values().contents().steps << " steps, " << written->index_bytes
            << " bytes\n";
  return written;
}

Trial prepare_size(const Place& place) {
  const auto written = write_indexed(place);
  return {[written] { return static_cast<double>(written->index_bytes); },
          [written] { return static_cast<double>(written->log_bytes); }};
}

void ask(const QuestionService& questions, const std::string& target) {
  const HttpReply reply = questions.reply(target);
  if (reply.status != 200) give_up(target + ": " + reply.body);
  if (reply.body.find("\"building\":{") != std::string::npos) give_up("the index was not used");
}

/// What the first view asks of a hub that has just begun: which log it is, the overview, and the
/// lines of each queue.
double first_view(const IndexedLog& written) {
  return 1000 * seconds_of([&] {
           const QuestionService questions(need(served_log_in(written.history.directory, {})));
           ask(questions, "/ui/api/log");
           ask(questions, "/ui/api/overview");
           for (const char* queue : {"inference", "research", "training"})
             ask(questions, std::string("/ui/api/series?queue=") + queue);
         });
}

Trial prepare_first_view(const Place& place) {
  const auto written = write_indexed(place);
  return {[written] { return first_view(*written); }, [] { return 1000.0; }};
}

/// Events a CPU second of a fold.
template <class Fold>
double folded_per_second(const FlipHistory& history, const Fold& fold) {
  const double seconds =
      cpu_seconds_of([&] { fold(*need(RocksdbLog::open(history.directory, OpenMode::read))); });
  return static_cast<double>(history.events) / seconds;
}

Trial prepare_rate(const Place& place) {
  FlipSettings settings = week(place);
  settings.outages /= 10;
  const auto history =
      std::make_shared<FlipHistory>(write_flips(place.directory / "day", settings));
  return {[history] {
            return folded_per_second(*history, [](const ReadableLog& log) {
              Timeline timeline;
              need(timeline.follow(log, nullptr, UINT64_MAX));
              if (timeline.values().contents().steps == 0) give_up("nothing moved");
            });
          },
          [history] {
            return folded_per_second(*history, [](const ReadableLog& log) {
              keep(need(state_at(log, nullptr, log.last_seq())).seq);
            });
          }};
}

/// CPU us of the hub's thread an event, over two seconds in which it folds 1,000 a second.
double hub_work(const BusyHub& hub, Size size) {
  const double cpu = hub.cpu_seconds();
  const std::uint64_t folded = hub.folded();
  std::this_thread::sleep_for(std::chrono::milliseconds(size == Size::tiny ? 200 : 4000));
  const auto events = static_cast<double>(hub.folded() - folded);
  if (events < 1) give_up("the hub folded nothing");
  return 1e6 * (hub.cpu_seconds() - cpu) / events;
}

/// Pages that follow a hub: each has its live stream open, and they ask for the start view in turn.
class Pages {
 public:
  Pages(const QuestionService& questions, std::size_t count) : questions_(questions) {
    HttpServing serving;
    serving.handler = [](std::string_view) { return HttpReply{404, "text/plain", ""}; };
    serving.streams = {std::string(kPageLivePath), [&questions] { return questions.version(); }};
    serving.places.requests_of_address = serving.places.requests;
    endpoint_ = need(HttpEndpoint::start(need(parse_listen_address("127.0.0.1:0")), serving));
    for (std::size_t i = 0; i < count; ++i) streams_.push_back(opened_stream());
    thread_ = std::thread([this] { follow(); });
  }
  ~Pages() {
    ending_ = true;
    thread_.join();
    if (heard_ < streams_.size()) give_up("a page heard nothing");
    for (const pollfd& stream : streams_) ::close(stream.fd);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

 private:
  pollfd opened_stream() {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(endpoint_->port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const std::string request =
        "GET " + std::string(kPageLivePath) + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::send(descriptor, request.data(), request.size(), 0) < 0)
      give_up("a page cannot be opened");
    return {descriptor, POLLIN, 0};
  }
  // Reads what comes, and asks as one of the pages does after a version.
  void follow() {
    auto next = std::chrono::steady_clock::now();
    std::string read(65'536, '\0');
    while (!ending_) {
      ::poll(streams_.data(), streams_.size(), 20);
      for (const pollfd& stream : streams_)
        if ((stream.revents & POLLIN) != 0 && ::recv(stream.fd, read.data(), read.size(), 0) > 0)
          ++heard_;
      if (std::chrono::steady_clock::now() < next) continue;
      next = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
      keep(questions_.reply("/ui/api/overview").status);
    }
  }

  const QuestionService& questions_;
  std::unique_ptr<HttpEndpoint> endpoint_;
  std::vector<pollfd> streams_;
  std::size_t heard_ = 0;  // pieces of streams
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

auto prepare_hub_beside(std::size_t pages) {
  return [pages](const Place& place) {
    const auto hub = std::make_shared<BusyHub>(place.directory);
    const std::filesystem::path data = place.directory / "data";
    const Size size = place.size;
    return Trial{[hub, data, size, pages] {
                   const QuestionService questions(served_log_of_hub(hub->log(), data, nullptr));
                   LoopWatch watch({}, {});
                   const IndexKeeper keeper(questions, [](const Diagnostic&) {}, watch);
                   const Pages open(questions, pages);
                   return hub_work(*hub, size);
                 },
                 [hub, size] { return hub_work(*hub, size); }};
  };
}

}  // namespace

void add_page_benches(Suite& suite) {
  suite.add({"page/first view, 10 M events", "1 s", "ms", Better::less, 1, prepare_first_view});
  suite.add({"page/index of 10 M events", "the log", "B", Better::less, 0.1, prepare_size});
  suite.add(
      {"page/index, rate", "the fold alone", "events/CPU s", Better::more, 0.3, prepare_rate});
  suite.add({"page/hub beside the index", "the hub alone", "us", Better::less, 1.05,
             prepare_hub_beside(0)});
  suite.add({"page/hub with 50 pages", "the hub alone", "us", Better::less, 1.05,
             prepare_hub_beside(50)});
}

}  // namespace fairlead::bench
