// Any order of inputs: the reflector never stops asking, never loops without waiting, and its facts
// agree with a model of what is there.
#include "connectors/kube/watch/reflector.h"

#include <set>

#include "tests/fuzz/fuzz.h"

using namespace fairlead;

namespace {

// Applies facts as the rest of the engine would and checks that they make sense one by one.
struct World {
  std::set<std::string> names;

  void take(const ReflectorOutput& out) {
    for (const auto& fact : out.facts) {
      if (auto* seen = std::get_if<ObjectSeen>(&fact)) names.insert(seen->key.name);
      if (auto* missing = std::get_if<ObjectMissing>(&fact))
        check(names.erase(missing->key.name) == 1, "only what was there goes missing");
    }
  }
};

std::string object(std::uint8_t a, std::uint8_t b) {
  return R"({"metadata":{"name":"n)" + std::to_string(a % 4) + R"(","uid":"u)" +
         std::to_string(a / 4 % 3) + R"(","resourceVersion":")" + std::to_string(b % 8) + "\"}}";
}

std::string line(std::uint8_t type, std::uint8_t a, std::uint8_t b) {
  static const char* const types[] = {"ADDED", "MODIFIED", "DELETED"};
  switch (type % 6) {
    case 3:
      return R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}})";
    case 4:
      return R"({"type":"ERROR","object":{"code":)" + std::to_string(a % 2 == 0 ? 410 : 500) + "}}";
    case 5: return "{\"type\":";
    default:
      return std::string(R"({"type":")") + types[type % 6] + R"(","object":)" + object(a, b) + "}";
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ReflectorSettings settings;
  const Kind kind = size % 8 < 4 ? Kind::node : Kind::pod;
  settings.limits = {.objects_max = size % 4,
                     .shared_objects_max = size % 4 + 2,
                     .changes_per_minute = static_cast<std::int64_t>(size % 5)};
  ServerLoad load;
  Reflector reflector(kind, settings, load, [] { return std::uint64_t{0}; });
  World world;
  LogTime now;
  bool watching = false, asked = false;
  auto follow = [&](const ReflectorOutput& out) {
    world.take(out);
    if (out.cancel) asked = false;
    if (out.request) asked = true, watching = out.request->kind == ReflectorRequest::Kind::watch;
    check(asked || out.wake != kForever,
          "a reflector either waits for an answer or wants to be woken");
  };
  follow(reflector.served(now, "v1"));
  static const int statuses[] = {200, 0, 400, 401, 403, 404, 410, 413, 422, 429, 500, 503};
  for (std::size_t i = 0; i + 3 < size; i += 4) {
    const std::uint8_t a = data[i + 1], b = data[i + 2], c = data[i + 3];
    now = now + milliseconds(a);
    const int status = statuses[b % std::size(statuses)];
    switch (data[i] % 7) {
      case 0:
        now = now + seconds(b);
        follow(reflector.timer(now));
        break;
      case 1:
        if (!asked || watching) break;
        asked = false;
        follow(reflector.page(now, status,
                              R"({"metadata":{"resourceVersion":"5","continue":")" +
                                  std::string(c % 3 == 0 ? "m" : "") + R"("},"items":[)" +
                                  object(a, c) + "]}",
                              std::nullopt));
        break;
      case 2:
        if (asked && watching) follow(reflector.opened(now));
        break;
      case 3:
      case 4:
        if (asked && watching) follow(reflector.bytes(now, line(a, b, c) + "\n"));
        break;
      case 5:
        if (!asked || !watching) break;
        asked = false;
        follow(reflector.ended(now, status, "", std::nullopt));
        break;
      default:
        follow(reflector.served(now, b % 4 == 0 ? std::string("v2") : std::string("v1")));
        break;
    }
  }
  return 0;
}
