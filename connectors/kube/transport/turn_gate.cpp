#include "connectors/kube/transport/turn_gate.h"

#include <algorithm>
#include <list>

namespace fairlead {
namespace {

struct Entrant {
  std::function<void()> on_turn;
  bool had_turn = false;
  LogTime turn_at{};
  Duration idle_at_progress{};
};

}  // namespace

struct TurnGate::Impl : std::enable_shared_from_this<Impl> {
  using List = std::list<std::shared_ptr<Entrant>>;

  Impl(IoLoop& loop_given, Limits limits_given) : loop(loop_given), limits(limits_given) {}

  void pump() {
    while (!waiting.empty() && holding.size() < limits.places) {
      holding.splice(holding.end(), waiting, waiting.begin());
      Entrant& next = *holding.back();
      next.had_turn = true;
      next.turn_at = loop.now();
      next.idle_at_progress = loop.idle();
      loop.post([entrant = std::weak_ptr(holding.back())] {
        if (const auto present = entrant.lock()) present->on_turn();
      });
    }
    if (waiting.empty()) return timer.reset();
    if (!timer)
      timer = loop.after(Duration{limits.silence_max.ns / 4}, [this] {
        timer.reset();
        pass_on();
        pump();
      });
  }

  // Those that do not use their turn go on without it.
  void pass_on() {
    const LogTime now = loop.now();
    const Duration idle = loop.idle();
    std::erase_if(holding, [&](const auto& one) {
      return idle.ns - one->idle_at_progress.ns >= limits.silence_max.ns ||
             now >= one->turn_at + limits.held_max;
    });
  }

  void leave(const std::shared_ptr<Entrant>& entrant) {
    if (closed) return;
    List& list = entrant->had_turn ? holding : waiting;
    if (const auto at = std::find(list.begin(), list.end(), entrant); at != list.end())
      list.erase(at);
    pump();
  }

  IoLoop& loop;
  const Limits limits;
  bool closed = false;
  List waiting, holding;
  std::unique_ptr<IoLoop::Timer> timer;  // set while an entrant waits
};

namespace {

class GateTicket final : public TurnGate::Ticket {
 public:
  GateTicket(std::shared_ptr<TurnGate::Impl> gate, std::shared_ptr<Entrant> entrant)
      : gate_(std::move(gate)), entrant_(std::move(entrant)) {}
  ~GateTicket() override { gate_->leave(entrant_); }
  void progressed() override { entrant_->idle_at_progress = gate_->loop.idle(); }

 private:
  const std::shared_ptr<TurnGate::Impl> gate_;
  const std::shared_ptr<Entrant> entrant_;
};

}  // namespace

TurnGate::TurnGate(IoLoop& loop, Limits limits) : impl_(std::make_shared<Impl>(loop, limits)) {}

TurnGate::~TurnGate() {
  impl_->closed = true;
  impl_->timer.reset();
}

std::unique_ptr<TurnGate::Ticket> TurnGate::enter(std::function<void()> on_turn) {
  auto entrant = std::make_shared<Entrant>();
  entrant->on_turn = std::move(on_turn);
  auto ticket = std::make_unique<GateTicket>(impl_, entrant);
  impl_->waiting.push_back(std::move(entrant));
  impl_->pump();
  return ticket;
}

}  // namespace fairlead
