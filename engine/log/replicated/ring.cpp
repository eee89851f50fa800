#include "engine/log/replicated/ring.h"

#include <utility>

#include "engine/base/check.h"
#include "engine/log/replicated/ring_reader.h"
#include "engine/log/replicated/ring_session.h"
#include "engine/log/replicated/ring_writer.h"

namespace fairlead {

struct Ring::Impl {
  explicit Impl(std::shared_ptr<RingSession> shared)
      : session(std::move(shared)), reader(*session), writer(*session) {}

  std::shared_ptr<RingSession> session;
  RingReader reader;
  RingWriter writer;
};

Ring::Ring(CommitStore& store, RingPlace place, RingEvents events) {
  check(place.slots >= 2, "a ring has at least two slots");
  impl_ = std::make_unique<Impl>(
      std::make_shared<RingSession>(store, std::move(place), std::move(events)));
}

Ring::~Ring() = default;

void Ring::follow() {
  RingSession& session = *impl_->session;
  if (session.stopped) return;
  impl_->reader.end();
  ++session.turn;
  impl_->reader.follow();
}

void Ring::read_on() {
  if (!impl_->session->stopped) impl_->reader.read_on();
}

void Ring::append(Seq first, std::uint32_t count, std::string pack) {
  RingSession& session = *impl_->session;
  if (session.stopped) return;
  impl_->reader.end();
  ++session.turn;
  const RingPlace& place = session.place;
  impl_->writer.append({place.log, place.slots, place.next, first, count, std::move(pack)});
}

void Ring::give_up() {
  impl_->reader.end();
  ++impl_->session->turn;
}

const RingPlace& Ring::place() const { return impl_->session->place; }
const RingCounters& Ring::counters() const { return impl_->session->counters; }
std::string Ring::trouble() const { return impl_->session->trouble; }

}  // namespace fairlead
