// Two or three engines on one ring, and everything that can happen to them, from a seed.
//
// Each may take over at any time, also while another believes that it leads: the ring alone decides
// who appends. What must hold, whatever happens:
//   - one chain: no two engines know different commits of one number;
//   - what was acknowledged is what every engine reads later;
//   - no slot goes back, or to another commit of its number, by an engine's write;
//   - once the faults end every append is decided, and every engine reads to one end.
// Where the store went back while several led, an engine may stop instead of the first two.
#include <algorithm>
#include <map>

#include "tests/support/sample.h"
#include "tests/unit/replicated/ring_fixture.h"

namespace fairlead {
namespace {

enum class RingMisfortune : std::uint8_t {
  network,  ///< answers, requests, reads, lists, streams, pauses
  hands,    ///< also slots that somebody touches, empties or deletes
  restore,  ///< also the store's history goes back, under one leader; half of the days without
            ///< hands
  /// The same while several lead. Then a replica that knows less may win: nothing in a ring shows
  /// what it had before. But nobody goes on in another history than it knew.
  contested_restore,
};

class RingDay {
 public:
  RingDay(std::uint64_t seed, RingMisfortune misfortune)
      : random_(seed),
        misfortune_(misfortune),
        meddles_(misfortune != RingMisfortune::network &&
                 (misfortune != RingMisfortune::restore || seed % 2 == 0)),
        slots_(static_cast<std::uint32_t>(4 + random_.below(5))),
        world_(slots_, seed * 31 + 7) {
    for (std::int64_t i = 2 + random_.below(2); i > 0; --i) add_engine();
    if (!contested())
      world_.servers.stored = [this](const RingSlot& slot) { check_write(slot.commit); };
    draw_faults();
  }

  void run() {
    for (int turn = 0; turn < 150; ++turn) {
      world_.run({random_.below(random_.below(4) == 0 ? 3'000'000'000 : 40'000'000)});
      if (random_.below(15) == 0) draw_faults();
      if (random_.below(40) == 0) world_.servers.full = !world_.servers.full;
      if (random_.below(40) == 0) go_down();
      if (random_.below(25) == 0) world_.servers.compact();
      if (meddles_ && random_.below(10) == 0) meddle();
      const bool restores = misfortune_ == RingMisfortune::restore || contested();
      if (restores && random_.below(25) == 0) restore();
      for (auto& engine : engines_) act(*engine);
    }
    end_well();
  }

  /// Whether an engine had to stop.
  bool stopped() const {
    for (const auto& player : engines_)
      if (player->engine.stopped) return true;
    return false;
  }
  std::uint64_t acknowledged() const { return acknowledged_.size(); }
  std::uint64_t fenced() const { return sum(&RingCounters::fenced); }
  std::uint64_t went_back() const { return sum(&RingCounters::went_back); }
  std::uint64_t foreign() const { return sum(&RingCounters::foreign); }

 private:
  struct Player {
    RingEngine engine;
    bool leads = false;
    bool reading = false;
    int ends = 0;
    explicit Player(MemoryRing& servers, std::uint32_t slots) : engine(servers, slots) {}
  };

  std::uint64_t sum(std::uint64_t RingCounters::* counter) const {
    std::uint64_t all = 0;
    for (const auto& player : engines_) all += player->engine.ring->counters().*counter;
    return all;
  }

  void add_engine() {
    engines_.push_back(std::make_unique<Player>(world_.servers, slots_));
    RingEngine& engine = engines_.back()->engine;
    engine.at_learned = [this](const RingCommit& commit) { know(commit); };
    engine.at_stored = [this](const RingCommit& commit) {
      know(commit);
      acknowledged_.emplace(commit.commit, commit.pack);
    };
    engine.ring->follow();
  }

  bool contested() const { return misfortune_ == RingMisfortune::contested_restore; }

  void know(const RingCommit& commit) {
    if (contested()) return;
    const auto [known, first] = known_.emplace(commit.commit, commit.pack);
    CHECK(known->second == commit.pack);
  }

  void check_write(const RingCommit& commit) {
    std::optional<RingCommit>& before = written_[commit.slot()];
    if (before && !commit.pack.empty()) {
      CHECK(commit.commit >= before->commit);
      if (commit.commit == before->commit) CHECK(commit.pack == before->pack);
    }
    // What is made again after a deletion may be empty; it is filled before anything else.
    if (!commit.pack.empty()) before = commit;
  }

  void draw_faults() {
    MemoryRingFaults& faults = world_.servers.faults;
    const auto some = [this](std::int64_t most) {
      return random_.below(3) == 0 ? static_cast<int>(random_.below(most)) : 0;
    };
    faults.lost_request = some(200);
    faults.lost_answer = some(200);
    faults.late_request = some(200);
    faults.error_before = some(200);
    faults.error_after = some(200);
    faults.refused = some(100);
    faults.failed_read = some(200);
    faults.old_list = some(800);
    faults.follow_late = some(200);
    faults.follow_again = some(300);
    faults.follow_skipped = some(500);
    faults.follow_cut = some(100);
    faults.follow_gone = some(100);
    faults.pause = some(20);
    faults.latest = seconds(1 + random_.below(60));
  }

  void go_down() {
    world_.servers.down = !world_.servers.down;
    if (world_.servers.down) world_.servers.cut(ErrorCode::unavailable);
  }

  std::uint64_t newest() const {
    std::uint64_t most = 0;
    for (const auto& [number, slot] : world_.servers.slots())
      if (!slot.commit.pack.empty()) most = std::max(most, slot.commit.commit);
    return most;
  }

  /// Returns whether a slot was written by an engine since somebody emptied or deleted it.
  bool intact(std::uint32_t number) const {
    const auto meddled = meddled_.find(number % slots_);
    if (meddled == meddled_.end()) return true;
    const auto found = world_.servers.slots().find(number % slots_);
    return found != world_.servers.slots().end() && found->second.version > meddled->second;
  }

  /// Changes or deletes a slot, but not what nothing in the ring would show: the newest commit, and
  /// two neighbours. Nor damages it what an engine still has to read, which would rightly stop.
  void meddle() {
    if (newest() == 0 || world_.servers.slots().size() < slots_) return;
    const auto slot = static_cast<std::uint32_t>(random_.below(slots_));
    const RingCommit held = world_.slot(slot).commit;
    if (!held.pack.empty() && held.commit >= newest()) return;
    RingCommit edited = held;
    switch (random_.below(4)) {
      case 0:
        if (!intact(slot + 1) || !intact(slot + slots_ - 1)) return;
        written_.erase(slot);
        meddled_[slot] = 0;
        return world_.servers.erase(slot);
      case 1:
        if (!intact(slot + 1) || !intact(slot + slots_ - 1)) return;
        meddled_[slot] = world_.servers.version() + 1;
        edited = {kTestLog, slots_, slot, Seq{}, 0, {}};
        break;
      case 2:
        for (const auto& player : engines_)
          if (player->engine.local.place.next <= held.commit) return;
        if (edited.pack.size() > 120) edited.pack[115] ^= 4;
        break;
      default: break;
    }
    world_.servers.edit(edited);
  }

  /// Whether no commit of the window is missing. A copy that is made while one is would be the
  /// ring's last word about it.
  bool is_whole() const {
    for (const auto& [number, slot] : world_.servers.slots())
      if (slot.commit.pack.empty() ? number <= newest() : slot.commit.commit + slots_ <= newest())
        return false;
    return true;
  }

  /// Goes back to a copy that was made a while ago.
  void restore() {
    if (!saved_ || random_.below(2) == 0) {
      if (meddles_ || is_whole()) saved_ = world_.servers.save();
      return;
    }
    const bool was_down = world_.servers.down;
    if (!meddles_) {  // it takes longer than a writer trusts what it heard
      world_.servers.down = true;
      world_.run(seconds(3));
    }
    world_.servers.restore(*saved_, random_.below(2) == 0 ? 0 : 100'000);
    world_.servers.down = was_down;
    saved_.reset();
    written_.clear();
  }

  /// One engine's turn. A paused one does nothing.
  void act(Player& player) {
    RingEngine& engine = player.engine;
    if (engine.store.paused() || engine.stopped) return;
    if (engine.behind) {
      catch_up_from_another(engine);
      player.leads = player.reading = false;
      return;
    }
    if (player.leads && engine.fences > fences_[&player]) {
      fences_[&player] = engine.fences;
      player.leads = false;
      engine.ring->follow();
    }
    if (player.leads) {
      if (engine.under_way) {
        if (misfortune_ == RingMisfortune::restore || random_.below(30) != 0) return;
        engine.under_way.reset();
        engine.ring->give_up();
        engine.ring->follow();
        player.leads = false;
      } else if (random_.below(3) != 0) {
        engine.append(++mark_, 1);
      }
    } else if (player.reading) {
      if (engine.ends == player.ends) return;
      player.reading = false;
      player.leads = true;
    } else if (random_.below(12) == 0 &&
               (misfortune_ != RingMisfortune::restore || &player == engines_.front().get())) {
      player.ends = engine.ends;
      player.reading = true;
      engine.ring->read_on();
    }
  }

  void catch_up_from_another(RingEngine& engine) {
    for (const auto& player : engines_) {
      const LocalCopy& other = player->engine.local;
      if (player->engine.stopped || other.place.next < *engine.behind) continue;
      const std::vector<RingCommit>& own = engine.local.commits;
      if (!std::equal(own.begin(), own.end(), other.commits.begin())) {
        // As one that fetches packs sees by their chain.
        engine.stopped = Error{ErrorCode::corrupt, "another history is elsewhere"};
        return;
      }
      engine.local = other;
      engine.begin();
      engine.ring->follow();
      return;
    }
    if (stopped()) engine.stopped = Error{ErrorCode::gone, "who had it has stopped"};
  }

  /// Without faults everything comes to an end, which is the same for all.
  void end_well() {
    world_.servers.faults = {};
    world_.servers.full = world_.servers.down = false;
    for (auto& player : engines_) player->engine.store.resume();
    world_.run(minutes(2));
    for (auto& player : engines_) {
      CHECK_FALSE(player->engine.under_way);
      if (!contested()) CHECK_FALSE(player->engine.stopped);
    }
    // Who knows most puts back what a restore took, unless it finds another history.
    RingEngine* last = nullptr;
    while ((last = longest()) != nullptr && !lead_once(*last)) CHECK(contested());
    if (last == nullptr) return;
    for (auto& player : engines_)
      if (!player->engine.stopped && read_to_end(player->engine))
        CHECK(player->engine.local.commits == last->local.commits);
    if (stopped()) {
      CHECK(contested());
      return;
    }
    for (const auto& [commit, pack] : acknowledged_) {
      REQUIRE(commit < last->local.commits.size());
      CHECK(last->local.commits[commit].pack == pack);
    }
    if (!meddles_ && !contested()) check_window(last->local.commits);
  }

  /// A replica that has what left the window finds the rest in the ring.
  void check_window(const std::vector<RingCommit>& commits) {
    RingEngine fresh(world_.servers, slots_);
    for (std::size_t at = 0; at + slots_ < commits.size(); ++at) fresh.local.add(commits[at], 0);
    fresh.begin();
    world_.catch_up(fresh);
    CHECK(fresh.local.commits == commits);
  }

  /// The engine that knows most of those that have not stopped.
  RingEngine* longest() const {
    RingEngine* most = nullptr;
    for (const auto& player : engines_) {
      RingEngine& engine = player->engine;
      if (!engine.stopped && (!most || engine.local.place.next > most->local.place.next))
        most = &engine;
    }
    return most;
  }

  bool lead_once(RingEngine& engine) {
    if (!read_to_end(engine)) return false;
    const int before = engine.stores;
    engine.append(++mark_);
    REQUIRE(world_.run_until([&] { return engine.stores > before || engine.stopped; }));
    return !engine.stopped;
  }

  /// Returns false if the engine stops.
  bool read_to_end(RingEngine& engine) {
    for (int attempt = 0; attempt < 3; ++attempt) {
      if (engine.behind) catch_up_from_another(engine);
      if (engine.stopped) return false;
      const int before = engine.ends;
      if (engine.behind) break;
      engine.ring->follow();
      engine.ring->read_on();
      REQUIRE(world_.run_until(
          [&] { return engine.ends > before || engine.behind || engine.stopped; }));
      if (engine.stopped) return false;
      if (engine.ends > before) return true;
    }
    FAIL("an engine does not come to the end of the ring");
    return false;
  }

  Random random_;
  const RingMisfortune misfortune_;
  const bool meddles_;  ///< somebody changes slots by hand
  const std::uint32_t slots_;
  RingWorld world_;
  std::vector<std::unique_ptr<Player>> engines_;
  std::map<const Player*, int> fences_;
  std::map<std::uint64_t, std::string> known_, acknowledged_;
  std::map<std::uint32_t, std::optional<RingCommit>> written_;
  std::map<std::uint32_t, StoreVersion> meddled_;  ///< emptied or deleted, as which version
  std::optional<MemoryRing::Saved> saved_;
  int mark_ = 1000;
};

/// Runs days, and requires that what they are about has happened in them.
void run_days(RingMisfortune misfortune, std::uint64_t first, std::size_t count) {
  std::uint64_t acknowledged = 0;
  std::uint64_t fenced = 0;
  std::uint64_t went_back = 0;
  std::uint64_t foreign = 0;
  std::size_t stopped = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    CAPTURE(seed);
    RingDay day(seed, misfortune);
    day.run();
    acknowledged += day.acknowledged();
    fenced += day.fenced();
    went_back += day.went_back();
    foreign += day.foreign();
    if (day.stopped()) ++stopped;
  }
  CAPTURE(acknowledged, fenced, went_back, foreign, stopped);
  CHECK(acknowledged > 5 * count);
  if (misfortune != RingMisfortune::restore) CHECK(fenced > count / 4);
  if (misfortune >= RingMisfortune::restore) CHECK(went_back > count / 8);
  if (misfortune != RingMisfortune::network) CHECK(foreign > count / 4);
}

TEST_CASE("Faults of the network and pauses lose no commit and fork no chain") {
  run_days(RingMisfortune::network, 1, sample(200));
}

TEST_CASE("Slots changed or deleted by hand lose no commit and fork no chain") {
  run_days(RingMisfortune::hands, 1001, sample(150));
}

TEST_CASE("A store that goes back loses no commit that an engine has") {
  run_days(RingMisfortune::restore, 2001, sample(150));
}

TEST_CASE("A store that goes back between two leaders lets nobody change its history") {
  run_days(RingMisfortune::contested_restore, 3001, sample(150));
}

TEST_CASE("The same for many more days", "[.long]") {
  run_days(RingMisfortune::network, 10'001, 5000);
  run_days(RingMisfortune::hands, 20'001, 5000);
  run_days(RingMisfortune::restore, 30'001, 5000);
  run_days(RingMisfortune::contested_restore, 40'001, 5000);
}

}  // namespace
}  // namespace fairlead
