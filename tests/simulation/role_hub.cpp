#include "tests/simulation/role_hub.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/fleet/random.h"
#include "tests/simulation/hub.h"

namespace fairlead::simulation {
namespace {

// How often the loop looks, though nothing wakes it.
constexpr Duration kLook = seconds(4);

RingPlace place_of(const RocksdbLog& local, const RoleWorld& roles) {
  const auto known = local.ring_place();
  check(known.has_value(), "a log of this run has a readable place");
  return known->value_or(RingPlace{kRingLog, roles.slots, 0, 0, {}, {}});
}

}  // namespace

// The shipped elector, on a Lease of the hub's API server.
class RoleHub::LeaseElection final : public Election {
 public:
  LeaseElection(Transport& way, const std::string& name, RoleWorld& roles, Clock& clock,
                std::function<void()> wake, std::function<void(const std::string&)> say)
      : time_(way),
        roles_(roles),
        name_(name),
        elector_(way, settings_of_lease(name, clock), {wake, wake, std::move(say)}) {
    elector_.start();
  }
  bool leads() const override { return elector_.leads(); }
  std::string leader() const override {
    return elector_.seen() ? elector_.seen()->holder : std::string();
  }
  void say_listed() override { roles_.listed = true; }
  bool listed() const override { return roles_.listed; }
  std::vector<std::uint64_t> copies() const override {
    std::vector<std::uint64_t> copies;
    for (const auto& [name, other] : roles_.living)
      if (name != name_) copies.push_back(other.commits);
    return copies;
  }
  // One that stands still or is cut off does not answer.
  OthersSaid others() const override {
    OthersSaid said{0, true};
    for (const auto& [name, other] : roles_.living) {
      const LogTime silent = std::max(other.life->paused, other.life->alone);
      if (name == name_) continue;
      if (time_.now() < silent)
        said.all = false;
      else
        said.commits = std::max(said.commits, other.commits);
    }
    return said;
  }
  void yield() override { elector_.yield(); }
  void release() override {
    elector_.release([] {});
  }

 private:
  static LeaseSettings settings_of_lease(const std::string& name, Clock& clock) {
    LeaseSettings settings;
    settings.namespace_ = "kube-system";
    settings.name = "fairlead";
    settings.identity = name;
    // A quarter of the shipped pace: renewals would be most of a run.
    settings.lease_duration = seconds(60);
    settings.renew_deadline = seconds(40);
    settings.retry_period = seconds(8);
    std::uint64_t seed = 0;
    for (const char letter : name) seed = seed * 31 + static_cast<unsigned char>(letter);
    settings.random = [source = std::make_shared<Random>(seed)] {
      return static_cast<std::uint64_t>(source->below(INT64_MAX));
    };
    settings.wall_clock = [&clock] { return clock.now(); };
    return settings;
  }

  Transport& time_;
  RoleWorld& roles_;
  const std::string name_;
  LeaseElector elector_;
};

RoleHub::RoleHub(const HubWorld& world, std::string name, RoleWorld& roles, RocksdbLog& local,
                 Clock& clock, std::function<void(const Event&)> acknowledged, Seq& told)
    : world_(world),
      name_(std::move(name)),
      roles_(roles),
      clock_(clock),
      acknowledged_(std::move(acknowledged)),
      told_(told),
      store_(roles.ring),
      log_(local, place_of(local, roles), store_, {}, log_ports()),
      replica_(log_, clock, settings_of(world, name_, kPacedBatchFactsMax),
               [this](const Diagnostic& said) { world_.said(to_line(said)); }),
      connections_(world, name_, [this] { return replica_.state().epoch; }) {
  roles_.living[name_].life = world_.life;
  store_.first_server = [this](auto& found) { read_wrong_bytes(found); };
}

RoleHub::~RoleHub() {
  roles_.living.erase(name_);
  log_.close();
}

// What the first server that is asked makes of a slot: one of its bits is another.
void RoleHub::read_wrong_bytes(Result<std::optional<RingSlot>>& found) {
  if (!found || !*found || (*found)->commit.pack.empty()) return;
  if (!roles_.ring.happens(roles_.wrong_reads)) return;
  std::string& pack = (*found)->commit.pack;
  const auto at = roles_.ring.up_to({static_cast<std::int64_t>(pack.size()) - 1}).ns;
  pack[static_cast<std::size_t>(at)] ^= 1;
  world_.said("a server of the ring has wrong bytes");
}

ReplicatedLogPorts RoleHub::log_ports() {
  ReplicatedLogPorts ports;
  ports.post = [this](std::function<void()> work) {
    world_.time.post({}, [life = world_.life, work = std::move(work)] {
      if (!life->over) work();
    });
  };
  ports.wake = [this] { woken_ = true; };
  ports.say = [this](const std::string& line) { world_.said(line); };
  ports.now = [&time = world_.time] { return time.now(); };
  ports.pump = [&time = world_.time] {
    time.advance_to(std::min(time.next_due(), time.now() + milliseconds(100)));
  };
  return ports;
}

Result<void> RoleHub::begin(const Configuration& configuration) {
  if (auto folded = replica_.fold({}); !folded) return folded;
  const auto wake = [this] { woken_ = true; };
  lease_way_ = connections_.way_to(std::string(kHub), "lease of " + name_);
  election_ =
      std::make_unique<LeaseElection>(*lease_way_, name_, roles_, clock_, wake,
                                      [this](const std::string& line) { world_.said(line); });
  RolePorts ports;
  ports.hub = connections_.ports();
  ports.connect = [](const Configuration&) -> Result<bool> { return true; };
  ports.disconnect = [this] { connections_.end(); };
  loop_ = std::make_unique<RoleLoop>(
      replica_, &log_, *election_, inbox_, status_, std::move(ports), configuration, CopyTerms{},
      [this](const Diagnostic& said) { world_.said(to_line(said)); });
  return {};
}

Result<void> RoleHub::settle() {
  constexpr int kTurnsMax = 10'000;
  const LogTime now = world_.time.now();
  for (int turns = 0; woken_ || connections_.pending(inbox_) || wake_ <= world_.time.now();
       ++turns) {
    if (world_.life->over) return {};
    check(turns < kTurnsMax, "a hub comes to rest within a moment");
    woken_ = false;
    if (auto done = loop_->turn(connections_.content(inbox_)); !done) return done;
    tell();  // also where it has died since: what it sent followed from these events
    if (world_.life->over) return {};
    const Duration wait = leads() ? std::min(loop_->wait(), kLook) : kLook;
    wake_ = world_.time.now() + wait;
    roles_.living[name_].commits = log_.state().place.next;
    world_.turned();
    // Time may have passed meanwhile: the others have their turn first.
    if (world_.time.now() > now) break;
  }
  return {};
}

void RoleHub::tell() {
  if (told_ >= log_.last_seq()) return;
  auto reader = log_.read(next(told_));
  while (reader && told_ < log_.last_seq()) {
    const auto event = (*reader)->next();
    if (!event || !*event) return;
    told_ = (*event)->seq;
    acknowledged_(**event);
  }
}

}  // namespace fairlead::simulation
