#include "snapshots/aside_save.h"

#include <sys/wait.h>

#include <cerrno>
#include <thread>

#include "engine/base/check.h"
#include "engine/log/memory_log.h"
#include "tests/unit/log/log_fixture.h"

namespace fairlead {
namespace {

struct World {
  World() {
    REQUIRE(log.append(drafts(0, 3), LogTime{} + seconds(1), Epoch{1}).has_value());
    state = *state_at(log, nullptr, log.last_seq());
  }
  MemoryLog log;
  State state;
};

Result<SnapshotInfo> result_of(AsideSave& save) {
  for (;;) {
    if (auto result = save.result()) return *std::move(result);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST_CASE("a snapshot that is saved aside is of the State at its beginning") {
  World world;
  const ScratchDirectory aside, here;
  SnapshotStore store(aside.path()), same(here.path());
  const auto expected = same.save(world.state, world.log.chain());
  REQUIRE(expected.has_value());
  const auto save = AsideSave::begin(store, world.state, world.log.chain());
  REQUIRE(save != nullptr);
  world.state.clusters.begin()->second.presence.detached = true;
  const auto saved = result_of(*save);
  REQUIRE(saved.has_value());
  CHECK(*saved == *expected);
  CHECK(*store.bytes(saved->seq) == *same.bytes(saved->seq));
  CHECK_FALSE(save->result());  // once
}

TEST_CASE("a snapshot that cannot be saved aside says why") {
  const World world;
  const ScratchDirectory directory;
  std::filesystem::create_symlink("elsewhere", directory.path() / "snapshots");
  SnapshotStore store(directory.path());
  const auto save = AsideSave::begin(store, world.state, world.log.chain());
  REQUIRE(save != nullptr);
  const auto saved = result_of(*save);
  CHECK(saved.error().code == ErrorCode::unavailable);
  CHECK(saved.error().message.find("symbolic link") != std::string::npos);
}

TEST_CASE("a save that is given up leaves no process") {
  const World world;
  const ScratchDirectory directory;
  SnapshotStore store(directory.path());
  REQUIRE(AsideSave::begin(store, world.state, world.log.chain()) != nullptr);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

}  // namespace
}  // namespace fairlead
