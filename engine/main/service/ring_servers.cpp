#include "engine/main/service/ring_servers.h"

#include <future>
#include <sstream>
#include <utility>

#include "connectors/kube/watch/random_bits.h"
#include "engine/base/json.h"
#include "engine/runtime/system_clock.h"

namespace fairlead {

namespace {

/// Slots that are made or deleted at a time.
constexpr std::uint32_t kSlotsAtATime = 16;

}  // namespace

std::optional<NamedLog> read_named_log(const std::string& annotation) {
  std::istringstream words(annotation);
  NamedLog log;
  words >> log.id >> log.slots;
  if (!words || !words.eof() || log.id.size() != 32 || log.slots == 0) return std::nullopt;
  return log;
}

std::string to_text(const NamedLog& log) { return log.id + " " + std::to_string(log.slots); }

NamedLog new_log(std::int64_t slots) {
  std::ostringstream id;
  id << std::hex;
  // Two numbers of 16 hex digits each: the 32 that read_named_log asks for.
  for (int part = 0; part < 2; ++part) {
    id.width(16);
    id.fill('0');
    id << random_bits();
  }
  return {id.str(), static_cast<std::uint32_t>(slots)};
}

Result<std::unique_ptr<RingServers>> RingServers::make(const HubRoleSettings& settings,
                                                       const Credentials& credentials,
                                                       std::string identity,
                                                       LeaseElector::Events events) {
  std::unique_ptr<RingServers> made(new RingServers());
  if (auto connected = made->connect(settings, credentials, std::move(identity), std::move(events));
      !connected)
    return connected.error();
  return made;
}

Result<void> RingServers::connect(const HubRoleSettings& settings, const Credentials& credentials,
                                  std::string identity, LeaseElector::Events events) {
  auto client = HttpClient::make(loop_, credentials, {});
  if (!client) return client.error();
  kube_ = *std::move(client);
  LeaseSettings lease;
  const LeaderElectionSettings& election = settings.election;
  const std::size_t slash = election.lease.find('/');
  lease.namespace_ = election.lease.substr(0, slash);
  lease.name = election.lease.substr(slash + 1);
  lease.identity = std::move(identity);
  lease.lease_duration = election.lease_duration;
  lease.renew_deadline = election.renew_deadline;
  lease.retry_period = election.retry_period;
  lease.random = random_bits;
  lease.wall_clock = utc_now;
  if (const auto& ring = settings.replication.kubernetes) {
    slots_in_kube_ =
        std::make_unique<KubeCommitStore>(*kube_, KubeRingPlace{ring->namespace_, ring->name});
    store_ = slots_in_kube_.get();
  }
  if (const auto& ring = settings.replication.etcd) {
    auto etcd =
        EtcdConnections::connect(loop_, {ring->endpoints, ring->ca, ring->certificate, ring->key},
                                 ring->prefix + lease.name + "/");
    if (!etcd) return in_context("log.replication.etcd", etcd.error());
    etcd_ = *std::move(etcd);
    store_ = &etcd_->store();
  }
  elector_ = std::make_unique<LeaseElector>(*kube_, std::move(lease), std::move(events));
  return {};
}

RingServers::~RingServers() {
  // On the I/O thread, where all of these run, and each before what it uses: the elector and the
  // slots send through kube_.
  loop_.run([this] {
    elector_.reset();
    slots_in_kube_.reset();
    if (etcd_) etcd_->stop();
    etcd_.reset();
    if (kube_) kube_->stop();
    kube_.reset();
  });
  loop_.stop();
}

void RingServers::wait(const std::function<void(std::function<void()> done)>& work) {
  const auto ended = std::make_shared<std::promise<void>>();
  auto end = ended->get_future();
  loop_.post([&work, ended] {
    work([ended] {
      // The waiting thread may destroy this function before set_value() has returned.
      const auto alive = ended;
      alive->set_value();
    });
  });
  end.wait();
}

Result<std::optional<LeaseSeen>> RingServers::read_lease() {
  Result<std::optional<LeaseSeen>> lease = std::optional<LeaseSeen>();
  wait([&](const std::function<void()>& done) {
    elector_->read([&, done](const Result<void>& read) {
      if (read)
        lease = elector_->seen();
      else
        lease = read.error();
      done();
    });
  });
  return lease;
}

Result<std::optional<NamedLog>> RingServers::read_name() {
  const auto lease = read_lease();
  if (!lease) return lease.error();
  if (!*lease) return std::optional<NamedLog>();
  const auto at = (*lease)->annotations.find(kLogAnnotation);
  if (at == (*lease)->annotations.end() || at->second.empty()) return std::optional<NamedLog>();
  auto log = read_named_log(at->second);
  if (log) return log;
  return Error{ErrorCode::corrupt, std::string("the Lease's annotation ") + kLogAnnotation +
                                       ": expected \"ID SLOTS\", got \"" + at->second + "\""};
}

Result<void> RingServers::write_name(const std::optional<NamedLog>& log) {
  Result<void> written;
  wait([&](const std::function<void()>& done) {
    elector_->annotate({{kLogAnnotation, log ? to_text(*log) : ""}}, [&, done](Result<void> how) {
      written = std::move(how);
      done();
    });
  });
  return written;
}

Result<void> RingServers::for_each_slot(std::uint32_t slots,
                                        const std::function<void(std::uint32_t, Answered)>& one) {
  Result<void> result;
  std::uint32_t next = 0;
  std::uint32_t under_way = 0;
  std::function<void()> done;
  std::function<void()> go_on = [&] {
    while (result && next < slots && under_way < kSlotsAtATime) {
      ++under_way;
      one(next++, [&](const StoreAnswer& answer) {
        --under_way;
        // A slot that exists (conflict) is as wanted: an earlier attempt made it.
        if (answer.result != StoreResult::stored && answer.result != StoreResult::conflict)
          result = Error{ErrorCode::unavailable, answer.why};
        go_on();
      });
    }
    if (under_way == 0) done();
  };
  wait([&](const std::function<void()>& ended) {
    done = ended;
    go_on();
  });
  return result;
}

Result<void> RingServers::make_slots(const NamedLog& log) {
  return for_each_slot(log.slots, [&](std::uint32_t slot, Answered answered) {
    store_->create({log.id, log.slots, slot, {}, 0, {}}, std::move(answered));
  });
}

Result<void> RingServers::remove_slots(std::uint32_t slots) {
  return for_each_slot(slots, [&](std::uint32_t slot, Answered answered) {
    store_->remove(slot, std::move(answered));
  });
}

Result<std::vector<RingSlot>> RingServers::list() {
  Result<std::vector<RingSlot>> slots = std::vector<RingSlot>();
  wait([&](const std::function<void()>& done) {
    store_->list([&, done](Result<CommitStore::Listed> listed) {
      if (listed)
        slots = std::move(listed->slots);
      else
        slots = listed.error();
      done();
    });
  });
  return slots;
}

void RingServers::ask_version(std::function<void(const std::string&)> done) {
  if (etcd_) return done(etcd_->version());
  HttpRequest request;
  request.target = "/version";
  kube_->send(std::move(request), [done = std::move(done)](const Result<HttpResponse>& got) {
    done(got && got->status == 200 ? text_in(read_json(got->body), "gitVersion") : "");
  });
}

Result<std::optional<RingSlot>> RingServers::read(std::uint32_t slot) {
  Result<std::optional<RingSlot>> read = std::optional<RingSlot>();
  wait([&](const std::function<void()>& done) {
    store_->read(slot, [&, done](Result<std::optional<RingSlot>> found) {
      read = std::move(found);
      done();
    });
  });
  return read;
}

Result<StoreAnswer> RingServers::replace(const RingCommit& commit, StoreVersion expected) {
  StoreAnswer given;
  wait([&](const std::function<void()>& done) {
    store_->replace(commit, expected, [&, done](StoreAnswer answer) {
      given = std::move(answer);
      done();
    });
  });
  if (given.result == StoreResult::stored || given.result == StoreResult::conflict) return given;
  return Error{ErrorCode::unavailable, given.why};
}

}  // namespace fairlead
