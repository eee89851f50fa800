// The first discovery and the first lists of one API server, which wait for their turn.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "connectors/kube/access/discovery.h"
#include "connectors/kube/transport/turn_gate.h"

namespace fairlead {

/// Not thread-safe; the connection owns it.
class Beginning {
 public:
  /// Whether discovery may be sent: there is no gate, the turn is ours, or the beginning is over.
  /// Else calls `on_turn` when the turn comes.
  bool may_discover(TurnGate* gate, std::function<void()> on_turn) {
    if (is_over_ || has_turn_ || !gate) return true;
    if (!ticket_)
      ticket_ = gate->enter([this, on_turn = std::move(on_turn)] {
        has_turn_ = true;
        on_turn();
      });
    return false;
  }
  /// Something came from the server.
  void progressed() {
    if (has_turn_) ticket_->progressed();
  }
  /// Discovery is answered. The beginning is over when every kind is listed, not served, or failed:
  /// such a list is asked for again by itself, after a pause. `watchers` have a `reflector` each.
  template <class Watchers>
  void end_if_begun(const Watchers& watchers, const Discovery& discovery) {
    if (!has_turn_) return;
    const auto has_begun = [&](const auto& watcher) {
      const auto& reflector = watcher->reflector;
      return !reflector.wanted() || reflector.synced() || reflector.counters().errors > 0 ||
             (discovery.decided(reflector.kind()) && !discovery.version(reflector.kind()));
    };
    if (!std::all_of(watchers.begin(), watchers.end(), has_begun)) return;
    is_over_ = true;
    give_up();
  }
  /// The next discovery is at the end of the queue.
  void give_up() {
    has_turn_ = false;
    ticket_.reset();
  }

 private:
  std::unique_ptr<TurnGate::Ticket> ticket_;
  bool has_turn_ = false;
  bool is_over_ = false;
};

}  // namespace fairlead
