#include "connectors/kube/lease/lease_elector.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "connectors/kube/lease/lease_object.h"
#include "engine/base/check.h"

namespace fairlead {
namespace {

constexpr std::size_t kWaitingMax = 64;  // pieces of work; an owner has a few
constexpr int kReleaseTriesMax = 3;

// A Lease counts in whole seconds, and 0 is refused.
std::int64_t whole_seconds(Duration span) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  return std::max<std::int64_t>((span.ns + kSecond - 1) / kSecond, 1);
}

}  // namespace

// One piece of work at a time talks to the server: an attempt to hold the Lease, an annotation, a
// release. What is asked for meanwhile waits. Answers and timers hold it weakly.
struct LeaseElector::Impl : std::enable_shared_from_this<Impl> {
  using Done = LeaseObject::Done;

  Impl(Transport& transport_given, LeaseSettings settings_given, Events events_given)
      : transport(transport_given),
        settings(std::move(settings_given)),
        events(std::move(events_given)),
        // A server that is slow is waited for, and one that does not answer asked again in time.
        lease(std::make_shared<LeaseObject>(transport, settings.namespace_, settings.name,
                                            Duration{settings.renew_deadline.ns / 3})) {}

  // -- work in its order
  // ---------------------------------------------------------------------------

  void enqueue(std::function<void()> work) {
    check(waiting.size() < kWaitingMax, "the owner of an elector awaits its answers");
    waiting.push_back(std::move(work));
    pump();
  }
  // Never within the call that asked.
  void pump() {
    if (busy || waiting.empty()) return;
    busy = true;
    begins = after({}, [this] {
      const auto work = std::move(waiting.front());
      waiting.pop_front();
      work();
    });
  }
  void finished() {
    busy = false;
    pump();
  }

  // Nothing runs after the owner's end, which may come within an event.
  std::unique_ptr<Transport::Timer> after(Duration span, std::function<void()> work) {
    return transport.after(span, [weak = weak_from_this(), work = std::move(work)] {
      const auto self = weak.lock();
      if (self && !self->stopped) work();
    });
  }
  Done guarded(Done work) {
    return [weak = weak_from_this(), work = std::move(work)](const Result<void>& how) {
      const auto self = weak.lock();
      if (self && !self->stopped) work(how);
    };
  }

  // -- holding it
  // ----------------------------------------------------------------------------------

  bool is_mine() const { return lease->holder() == settings.identity; }
  bool may_take() const {
    const LogTime present = transport.now();
    if (lease->holder().empty() || is_mine()) return present >= not_before;
    return present >= lease->observed_at() + lease->duration().value_or(settings.lease_duration);
  }

  void attempt() {
    const LogTime began = transport.now();
    const Done end = [this, began](const Result<void>& how) {
      if (how)
        problem.clear();
      else if (std::exchange(problem, how.error().message) != how.error().message)
        events.say(how.error().message);
      attempt_again(began);
      finished();
    };
    lease->get(guarded([this, end](const Result<void>& got) {
      if (ended) return finished();
      end_at_deadline();
      if (!got) return end(got);
      observe_holder();
      if (!may_take()) return end({});
      claim(end);
    }));
  }

  void observe_holder() {
    const std::string& holder = lease->holder();
    if (std::exchange(said_holder, holder) != holder && !holder.empty())
      events.say("Lease " + lease->title() + ": " +
                 (is_mine() ? "this process holds it" : holder + " holds it"));
    if (!holder.empty() && !is_mine()) lose();
  }

  // Periods are counted between beginnings, so that an attempt that waited long for an answer is
  // repeated at once.
  void attempt_again(LogTime began) {
    if (ended) return;
    const LogTime due = began + jittered(settings.retry_period);
    const LogTime present = transport.now();
    next = after(due > present ? due - present : Duration{},
                 [this] { enqueue([this] { attempt(); }); });
  }

  // Up to one fifth longer.
  Duration jittered(Duration span) const {
    const auto most = static_cast<std::uint64_t>(std::max<std::int64_t>(span.ns / 5, 1));
    return {span.ns + static_cast<std::int64_t>(settings.random() % most)};
  }

  void claim(const Done& end) {
    Json wanted = lease->draft();
    Json& spec = wanted["spec"];
    const std::string present = micro_time(settings.wall_clock());
    if (!is_mine()) {
      spec["acquireTime"] = present;
      spec["leaseTransitions"] = lease->seen() ? lease->seen()->transitions + 1 : 0;
    }
    spec["holderIdentity"] = settings.identity;
    spec["leaseDurationSeconds"] = whole_seconds(settings.lease_duration);
    spec["renewTime"] = present;
    claimed = true;
    const LogTime sent = transport.now();
    lease->put(wanted, guarded([this, end, sent, of = given_up](const Result<void>& how) {
                 if (how && of == given_up) lead_until(sent + settings.renew_deadline);
                 // Another was faster: the next attempt reads who.
                 end(!how && how.error().code == ErrorCode::conflict ? Result<void>() : how);
               }));
  }

  void lead_until(LogTime then) {
    end_at_deadline();
    if (then <= transport.now()) return;
    until = then;
    deadline = after(until - transport.now(), [this] { end_at_deadline(); });
    if (std::exchange(leading, true)) return;
    observe_holder();
    events.won();
  }
  void end_at_deadline() {
    if (!leading || transport.now() < until) return;
    events.say("Lease " + lease->title() + ": not renewed for " +
               to_go_duration(settings.renew_deadline) + (problem.empty() ? "" : ": " + problem));
    lose();
  }
  void lose() {
    deadline.reset();
    if (std::exchange(leading, false)) events.lost();
  }

  // -- giving it up
  // --------------------------------------------------------------------------------

  // Leads no more from now on. `lost` is called before the Lease is released.
  void give_up(std::function<void()> done) {
    ++given_up;
    deadline.reset();
    const bool led = std::exchange(leading, false);
    enqueue([this, led, done = std::move(done)] {
      if (led) events.lost();
      if (!claimed) return done();
      release(kReleaseTriesMax, done);
    });
  }

  void release(int tries, const std::function<void()>& done) {
    const auto end = [this, done](const Result<void>& how) {
      if (!how) events.say("the Lease is not released: " + how.error().message);
      done();
    };
    lease->get(guarded([this, tries, done, end](const Result<void>& got) {
      if (!got || !is_mine()) return end(got);
      Json wanted = lease->draft();
      Json& spec = wanted["spec"];
      spec.erase("holderIdentity");
      spec["leaseDurationSeconds"] = 1;
      spec["renewTime"] = micro_time(settings.wall_clock());
      lease->put(wanted, guarded([this, tries, done, end](const Result<void>& how) {
                   // A renewal of this process that was under way.
                   const bool again = !how && how.error().code == ErrorCode::conflict && tries > 1;
                   again ? release(tries - 1, done) : end(how);
                 }));
    }));
  }

  // -- annotations
  // ---------------------------------------------------------------------------------

  using Annotations = std::map<std::string, std::string>;

  Annotations annotations() const {
    return lease->seen() ? lease->seen()->annotations : Annotations();
  }

  void annotate(const Annotations& added, const std::optional<Annotations>& expected,
                const Done& done) {
    if (!lease->known())
      return lease->get(guarded([this, added, expected, done](const Result<void>& got) {
        got ? annotate(added, expected, done) : done(got);
      }));
    if (expected && *expected != annotations())
      return done(Error{ErrorCode::conflict,
                        "lease " + lease->title() + ": its annotations were changed meanwhile"});
    Json wanted = lease->draft();
    Json& given = wanted["metadata"]["annotations"];
    if (!given.is_object()) given = Json::object();
    for (const auto& [key, value] : added) given[key] = value;
    lease->put(wanted, guarded(done));
  }

  Transport& transport;
  const LeaseSettings settings;
  const Events events;
  const std::shared_ptr<LeaseObject> lease;

  std::deque<std::function<void()>> waiting;
  bool busy = false;
  bool ended = false;    // released: no attempt follows
  bool stopped = false;  // its owner is gone

  bool claimed = false;  // a request to hold it was sent
  bool leading = false;
  LogTime until;
  LogTime not_before;          // of yield()
  std::uint64_t given_up = 0;  // times: a claim sent before does not count
  std::string problem, said_holder;
  std::unique_ptr<Transport::Timer> begins, next, deadline;
};

LeaseElector::LeaseElector(Transport& transport, LeaseSettings settings, Events events)
    : impl_(std::make_shared<Impl>(transport, std::move(settings), std::move(events))) {}

LeaseElector::~LeaseElector() {
  impl_->stopped = true;
  impl_->begins.reset();
  impl_->next.reset();
  impl_->deadline.reset();
}

void LeaseElector::start() {
  impl_->enqueue([self = impl_.get()] { self->attempt(); });
}

void LeaseElector::release(std::function<void()> done) {
  impl_->ended = true;
  impl_->next.reset();
  impl_->give_up([self = impl_.get(), done = std::move(done)] {
    self->finished();
    done();
  });
}

void LeaseElector::yield() {
  impl_->not_before = impl_->transport.now() + impl_->settings.lease_duration;
  impl_->give_up([self = impl_.get()] { self->finished(); });
}

bool LeaseElector::leads() const { return impl_->transport.now() < leads_until(); }

LogTime LeaseElector::leads_until() const { return impl_->leading ? impl_->until : LogTime{}; }

const std::optional<LeaseSeen>& LeaseElector::seen() const { return impl_->lease->seen(); }

void LeaseElector::annotate(std::map<std::string, std::string> annotations,
                            std::function<void(Result<void>)> done) {
  std::optional<Impl::Annotations> expected;
  if (impl_->lease->known()) expected = impl_->annotations();
  impl_->enqueue(
      [self = impl_.get(), added = std::move(annotations), expected, done = std::move(done)] {
        self->annotate(added, expected, [self, done](const Result<void>& how) {
          self->finished();
          done(how);
        });
      });
}

void LeaseElector::read(std::function<void(Result<void>)> done) {
  impl_->enqueue([self = impl_.get(), done = std::move(done)] {
    self->lease->get(self->guarded([self, done](const Result<void>& got) {
      self->finished();
      done(got);
    }));
  });
}

}  // namespace fairlead
