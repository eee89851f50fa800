#include "replay/verify.h"

#include "engine/base/json.h"
#include "snapshots/state_codec.h"
#include "tests/unit/runtime/hub_bench.h"

namespace fairlead {
namespace {

// A hub's log: a claim, a lost node, the node back, a restart.
std::vector<Event> recorded() {
  HubBench bench;
  bench.at_once();
  bench.run();
  bench.advance(seconds(1));
  bench.leader->offer(bench.member.remove(HubBench::node("spot-3")));
  bench.advance(seconds(1));
  bench.start();
  bench.sync();
  bench.leader->offer(bench.add_node("spot-3", "spot"));
  bench.advance(minutes(1));
  return events_of(*bench.log);
}

void append_all(MemoryLog& log, const std::vector<Event>& events) {
  for (const Event& event : events) {
    const EventDraft draft{event.source, event.cause, event.fact};
    REQUIRE(log.append({&draft, 1}, event.log_time, event.epoch).has_value());
  }
}

ReplayReport verify(const std::vector<Event>& events, ReplayOptions options = {}) {
  MemoryLog log;
  append_all(log, events);
  if (options.comparison == Comparison::none) options.comparison = Comparison::all;
  auto report = replay(log, nullptr, options);
  REQUIRE(report.has_value());
  return std::move(*report);
}

// The events of the intents about queues, in order.
std::vector<PatchIntended*> queue_writes(std::vector<Event>& events) {
  std::vector<PatchIntended*> writes;
  for (Event& event : events)
    if (auto* intent = std::get_if<PatchIntended>(&event.fact);
        intent && intent->target.kind == Kind::cluster_queue)
      writes.push_back(intent);
  return writes;
}

Seq seq_of(const std::vector<Event>& events, const PatchIntended* intent) {
  for (const Event& event : events)
    if (std::get_if<PatchIntended>(&event.fact) == intent) return event.seq;
  return {};
}

TEST_CASE("a log that this program wrote holds") {
  const std::vector<Event> events = recorded();
  const ReplayReport report = verify(events);
  CHECK(report.holds());
  CHECK(report.events == events.size());
  CHECK(report.compared > 5);
  CHECK(report.differing == 0);
  CHECK(report.first_time == events.front().log_time);
  CHECK(report.last_time == events.back().log_time);
}

TEST_CASE("versions that the hub stamped are not compared") {
  std::vector<Event> events = recorded();
  PatchIntended& write = *queue_writes(events).back();
  write.resource_version = "987654";
  Json body = Json::parse(write.body);
  body["metadata"]["resourceVersion"] = "987654";
  write.body = to_text(body);
  CHECK(verify(events).holds());
}

TEST_CASE("another name, or a key that is not a version, differs wherever in the metadata it is") {
  const auto with = [](const char* metadata) {
    PatchIntended intent;
    intent.body = std::string("{\"metadata\":") + metadata + ",\"spec\":{\"a\":1}}";
    return intent;
  };
  const PatchIntended one = with(R"({"name":"q","resourceVersion":"1","uid":"u"})");
  CHECK(difference_between(one, with(R"({"name":"q","resourceVersion":"2"})")).empty());
  CHECK(difference_between(one, with(R"({"name":"q"})")).empty());
  CHECK(difference_between(one, with(R"({"name":"p","resourceVersion":"1","uid":"u"})")) == "body");
  CHECK(difference_between(one, with(R"({"name":"q","uids":"u"})")) == "body");
  CHECK(difference_between(one, with(R"({"name":"q","x":"}"})")) == "body");
  CHECK(difference_between(with(R"({"labels":{"a":"b"},"name":"q","uid":"u"})"),
                           with(R"({"labels":{"a":"b"},"name":"q"})"))
            .empty());
  CHECK(difference_between(with(R"({"labels":{"uid":"b"},"name":"q"})"),
                           with(R"({"labels":{},"name":"q"})")) == "body");
  PatchIntended spec = one;
  spec.body.replace(spec.body.size() - 3, 1, "2");
  CHECK(difference_between(one, spec) == "body");
}

TEST_CASE("each part of a write that differs is found, with both sides") {
  std::vector<Event> events = recorded();
  PatchIntended& write = *queue_writes(events)[2];
  std::string what;
  SECTION("body") {
    Json body = Json::parse(write.body);
    body["spec"]["resourceGroups"][0]["flavors"][1]["resources"][0]["nominalQuota"] = "401";
    write.body = to_text(body);
    what = "body";
  }
  SECTION("reason") {
    write.reason.text += "!";
    what = "reason";
  }
  SECTION("seqs of the reason") {
    write.reason.because.push_back(Seq{1});
    what = "reason";
  }
  SECTION("force") {
    write.force = false;
    what = "force";
  }
  SECTION("field manager") {
    write.field_manager = "other-manager";
    what = "fieldManager";
  }
  SECTION("version") {
    write.version = "v1beta1";
    what = "version";
  }
  SECTION("verb") {
    write.verb = Verb::create;
    what = "verb";
  }
  const ReplayReport report = verify(events);
  CHECK_FALSE(report.holds());
  REQUIRE(report.first.has_value());
  CHECK(report.first->seq == seq_of(events, &write));
  CHECK(report.first->what == what);
  CHECK(report.first->recorded == write);
  REQUIRE(report.first->planned.has_value());
  CHECK_FALSE(*report.first->planned == write);
  CHECK(report.differing >= 1);
}

TEST_CASE("a write that nothing asks for is found") {
  std::vector<Event> events = recorded();
  PatchIntended& write = *queue_writes(events)[2];
  write.target.name = "elsewhere";
  const ReplayReport report = verify(events);
  REQUIRE(report.first.has_value());
  CHECK(report.first->what == "nothing is planned");
  CHECK_FALSE(report.first->planned.has_value());
}

TEST_CASE("the first difference can end the replay, and the range leaves out what is before it") {
  std::vector<Event> events = recorded();
  const auto writes = queue_writes(events);
  writes[1]->reason.text += "!";
  writes[2]->reason.text += "!";
  const Seq first = seq_of(events, writes[1]), second = seq_of(events, writes[2]);
  CHECK(verify(events).differing == 2);

  ReplayOptions options;
  options.comparison = Comparison::until_differs;
  const ReplayReport stopped = verify(events, options);
  CHECK(stopped.first->seq == first);
  CHECK(stopped.events < events.size());

  options.from = next(first);
  CHECK(verify(events, options).first->seq == second);
  options.from = next(second);
  CHECK(verify(events, options).holds());
  options = {};
  options.to = Seq{first.value - 1};
  const ReplayReport cut = verify(events, options);
  CHECK(cut.holds());
  CHECK(cut.state.seq == *options.to);
}

TEST_CASE("a checkpoint that says otherwise of the log or the state is found") {
  const std::vector<Event> events = recorded();
  MemoryLog log;
  append_all(log, events);
  const auto state = state_at(log, nullptr, log.last_seq());
  REQUIRE(state.has_value());
  const Checkpoint right{state_digest(*state), events.size(), log.chain()};
  const auto verify_with = [&](const Checkpoint& checkpoint) {
    std::vector<Event> more = events;
    more.push_back({next(events.back().seq), events.back().log_time + seconds(1), Epoch{2}, "self",
                    Seq{}, checkpoint});
    return verify(more);
  };
  CHECK(verify_with(right).holds());
  CHECK(verify_with(right).checkpoints == 1);
  for (const Checkpoint& wrong : {Checkpoint{right.state, right.events + 1, right.log},
                                  Checkpoint{sha256("another"), right.events, right.log},
                                  Checkpoint{right.state, right.events, sha256("another")}}) {
    const ReplayReport report = verify_with(wrong);
    CHECK(report.bad_checkpoint == next(events.back().seq));
    CHECK_FALSE(report.holds());
  }
}

TEST_CASE("a checkpoint of a state that was saved while the hub went on is compared with it") {
  std::vector<Event> events = recorded();
  MemoryLog log;
  append_all(log, events);
  const auto state = state_at(log, nullptr, log.last_seq());
  REQUIRE(state.has_value());
  const std::uint64_t about = events.size();
  const auto add = [&events](Fact fact) {
    events.push_back({next(events.back().seq), events.back().log_time + seconds(1), Epoch{2},
                      "self", Seq{}, std::move(fact)});
  };
  add(Checkpoint{{}, about, log.chain()});
  add(TimerFired{events.back().log_time});
  const std::vector<Event> begun = events;
  const Checkpoint right{state_digest(*state), about, log.chain()};
  add(right);
  CHECK(verify(events).holds());
  CHECK(verify(events).checkpoints == 2);
  for (const Checkpoint& wrong :
       {Checkpoint{right.state, about + 1, right.log},
        Checkpoint{sha256("another"), about, right.log},
        Checkpoint{right.state, about, sha256("another")}, Checkpoint{{}, about, right.log}}) {
    events = begun;
    add(wrong);
    CHECK(verify(events).bad_checkpoint == events.back().seq);
  }
}

TEST_CASE("an empty log holds") {
  const ReplayReport report = verify({});
  CHECK(report.holds());
  CHECK(report.events == 0);
}

}  // namespace
}  // namespace fairlead
