// The audit page of a large hub: what its first view and its pool ask, against writing the same
// answers as text.
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/log/rocksdb/rocksdb_log.h"
#include "engine/main/client/http_target.h"
#include "engine/main/service/question_service.h"
#include "tests/bench/bench.h"
#include "tests/bench/benches.h"
#include "tests/bench/pool_world.h"

namespace fairlead::bench {
namespace {

constexpr double kSlowest = 1000;  // ms that one question may take, in full size

struct LargeHub {
  std::uint64_t queues = 400;
  std::uint64_t edits = 20;  ///< of each queue
  PoolSize pool{.tenants = 100, .namespaces = 10, .clusters = 120, .pods = 2};
};

LargeHub hub_of(Size size) {
  if (size == Size::tiny) return {8, 2, {.tenants = 2, .namespaces = 2, .clusters = 3, .pods = 1}};
  return {};
}

std::string queue_name(std::uint64_t number) { return "team-" + std::to_string(number); }

EventDraft edit_of(std::uint64_t number, std::uint64_t edit) {
  ClusterQueueFacts facts;
  const auto amount = [](std::uint64_t value) { return *Quantity::parse(std::to_string(value)); };
  facts.groups = {
      {{"cpu", "memory"},
       {{"spot", {{"cpu", amount(100 + edit), {}, {}}, {"memory", amount(1 << 30), {}, {}}}}}}};
  const std::string version = std::to_string(1000 * edit + number + 1);
  return {std::string(kHub),
          {},
          ObjectObserved{{Kind::cluster_queue, "", queue_name(number)},
                         "v1beta2",
                         queue_name(number),
                         version,
                         1,
                         std::move(facts),
                         {}}};
}

/// Writes what happened to the log in `directory`: a pool, then queues that people edit.
void write_large(const std::filesystem::path& directory, const LargeHub& hub) {
  const auto log = need(RocksdbLog::open(directory, OpenMode::write));
  std::vector<EventDraft> drafts;
  LogTime time;
  const auto flush = [&] {
    if (!drafts.empty()) need(log->append(drafts, time, Epoch{1}));
    drafts.clear();
  };
  const PoolWorld world(hub.pool, [&](const Event& event) {
    if (event.log_time != time || drafts.size() == 1000) flush();
    time = event.log_time;
    drafts.push_back({event.source, {}, event.fact});
  });
  for (std::uint64_t edit = 0; edit < hub.edits; ++edit) {
    flush();
    time = time + minutes(1);
    for (std::uint64_t number = 0; number < hub.queues; ++number)
      drafts.push_back(edit_of(number, edit));
  }
  flush();
  need(log->wait_durable());
}

/// A hub's questions with its index at the end of the log.
class Large {
 public:
  explicit Large(const Place& place) : size_(place.size) {
    const LargeHub hub = hub_of(place.size);
    write_large(place.directory / "large", hub);
    questions_ =
        std::make_unique<QuestionService>(need(served_log_in(place.directory / "large", {})));
    while (asked("/ui/api/overview").find("\"building\":{") != std::string::npos) continue;
  }
  /// Asks them; returns the ms that all took.
  double ask(const std::vector<std::string>& targets) {
    double all = 0;
    answers_.clear();
    for (const std::string& target : targets) {
      std::string body;
      const double took = 1000 * seconds_of([&] { body = asked(target); });
      if (size_ == Size::full && took > kSlowest)
        give_up(target.substr(0, 40) + " took " + std::to_string(took) + " ms");
      answers_.push_back(read_own_json(body));
      all += took;
    }
    return all;
  }
  /// Returns the ms that writing the last answers takes.
  double write() const {
    return 1000 * seconds_of([&] {
             for (const Json& answer : answers_) keep(to_text(answer).size());
           });
  }

 private:
  std::string asked(const std::string& target) const {
    HttpReply reply = questions_->reply(target);
    if (reply.status != 200) give_up(target + ": " + reply.body);
    return std::move(reply.body);
  }

  const Size size_;
  std::unique_ptr<QuestionService> questions_;
  std::vector<Json> answers_;
};

/// The overview, and the charts of every queue, a hundred at a time as the page asks for them.
std::vector<std::string> first_view(Size size) {
  std::vector<std::string> targets{"/ui/api/overview"};
  Json pairs = Json::array();
  const std::uint64_t queues = hub_of(size).queues;
  for (std::uint64_t number = 0; number < queues; ++number) {
    pairs.push_back({queue_name(number), "spot", "cpu"});
    if (pairs.size() < 100 && number + 1 < queues) continue;
    HttpTarget target{"/ui/api/sparks", {}};
    target.add("of", to_text(pairs));
    target.add("points", "200");
    targets.push_back(to_text(target));
    pairs = Json::array();
  }
  return targets;
}

Trial asked_of_large(const Place& place, std::vector<std::string> targets) {
  const auto large = std::make_shared<Large>(place);
  large->ask(targets);  // the bound is measured first
  return {[large, targets = std::move(targets)] { return large->ask(targets); },
          [large] { return large->write(); }};
}

}  // namespace

void add_large_page_benches(Suite& suite) {
  suite.add({"page/first view, 400 queues and 120 clusters", "writing its answers", "ms",
             Better::less, 10,
             [](const Place& place) { return asked_of_large(place, first_view(place.size)); }});
  suite.add({"page/pool of 120 super clusters, 1,000 namespaces", "writing its answer", "ms",
             Better::less, 20,
             [](const Place& place) { return asked_of_large(place, {"/ui/api/pool"}); }});
}

}  // namespace fairlead::bench
