// What tenants' pods that wait for devices cost, by the devices that searches try.
#include <catch2/catch.hpp>
#include <sstream>

#include "engine/fold/dispatch/counts.h"
#include "engine/fold/pool/shares.h"
#include "replay/audit/audit_moment.h"
#include "tests/unit/replay/audit_trace.h"

namespace fairlead {
namespace {

// So many pods that ask alike and wait: the GPUs of both clusters are used. Then a driver changes a
// taint, ten times, and at last a GPU gets free.
std::string waiting(int pods) {
  std::ostringstream text;
  text << "# Pods that wait.\n"
          "args: --set pool.clusters=[{\"cluster\":\"*\"}] --set dra.quota=false\n"
          "args: --set capacity.headroom.percent={} --set debounce.firstQuiet=0s\n"
          "args: --set claims.create=false --set pool.tenantObjectsMax=1000000\n"
          "include: pool_devices/one-gpu-each.facts\n"
          "device-claim r1/other/taken\n  took gpu-0 request=r driver=gpu pool=a\n"
          "device-claim r2/other/taken\n  took gpu-0 request=r driver=gpu pool=a\n"
          "at 00:01:00\n";
  for (int i = 0; i < pods; ++i)
    text << "pod tenant/acme/web/p" << i << " uid=p" << i << " cpu=1m memory=1Mi from:gpu=h100\n";
  for (int i = 2; i < 12; ++i)
    text << "at 00:" << (i < 10 ? "0" : "") << i << ":00\n"
         << "replace slice r1/a driver=gpu pool=a on=a gen=" << i << "\n  gpu-0 taint:t" << i
         << "=NoSchedule\n";
  text << "at 00:20:00\ndelete device-claim r2/other/taken\n----\n";
  return text.str();
}

State state_after(int pods) {
  std::istringstream text(waiting(pods));
  MemoryLog log;
  rehearse(read_trace(text), log);
  auto moment = moment_at({log, nullptr}, *parse_rfc3339("1970-01-01T00:21:00Z"));
  REQUIRE(moment.has_value());
  return std::move(moment->state);
}

TEST_CASE("pods that ask alike and wait cost a search an event, not a search each") {
  const State few = state_after(10);
  const State many = state_after(500);
  const std::uint64_t steps = count_dispatch(few).steps;
  CHECK(steps > 0);
  CHECK(count_dispatch(many).steps == steps);
  CHECK(many.pool.device_pods.size() == 499);
  const PoolPod* first = find_pod(many.pool, {"acme", "web", "p0"});
  REQUIRE(first);
  CHECK(first->cluster == "r2");
  REQUIRE(first->reserved);
  CHECK(first->reserved->cluster == "r2");
}

}  // namespace
}  // namespace fairlead
