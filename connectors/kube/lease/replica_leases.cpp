#include "connectors/kube/lease/replica_leases.h"

#include <optional>
#include <sstream>
#include <utility>

#include "connectors/kube/resource_path.h"
#include "connectors/kube/transport/failure_message.h"

namespace fairlead {
namespace {

constexpr const char* kReplicasOf = "fairlead.io/replicas-of";
constexpr const char* kPosition = "fairlead.io/position";
constexpr const char* kAddress = "fairlead.io/address";
constexpr std::size_t kReplicaListBytesMax = std::size_t{1} << 20;
constexpr int kPeriodsUntilGone = 3;

std::optional<ReplicaPosition> read_position(const std::string& text) {
  std::istringstream words(text);
  ReplicaPosition position;
  words >> position.log >> position.commits;
  if (!words || !words.eof()) return std::nullopt;
  return position;
}

}  // namespace

struct ReplicaLeases::Impl : std::enable_shared_from_this<Impl> {
  struct Seen {
    std::string version;
    LogTime since;  ///< when the version was first seen
  };

  Impl(Transport& transport_given, ReplicaLeaseSettings settings_given, Ports ports_given)
      : transport(transport_given),
        settings(std::move(settings_given)),
        ports(std::move(ports_given)),
        own(std::make_shared<LeaseObject>(transport, settings.namespace_,
                                          settings.lease + "-" + settings.name,
                                          Duration{settings.period.ns / 2})) {}

  void write() {
    own->get(guarded([this](const Result<void>& got) {
      if (!got) return written(got);
      const ReplicaPosition position = ports.own();
      Json wanted = own->draft();
      wanted["metadata"]["labels"][kReplicasOf] = settings.lease;
      Json& annotations = wanted["metadata"]["annotations"];
      annotations[kPosition] = position.log + " " + std::to_string(position.commits);
      annotations[kAddress] = position.address;
      wanted["spec"]["renewTime"] = micro_time(settings.wall_clock());
      own->put(wanted, guarded([this](const Result<void>& put) { written(put); }));
    }));
  }

  void written(const Result<void>& how) {
    if (!how) complain(how.error().message);
    read_others([this, well = how.has_value()](const Result<void>& read) {
      if (well && read) problem.clear();
      next = transport.after(settings.period, [weak = weak_from_this()] {
        if (const auto again = weak.lock()) again->write();
      });
    });
  }

  void read_others(LeaseObject::Done done) {
    HttpRequest request;
    request.target =
        "/apis/coordination.k8s.io/v1/namespaces/" + url_encode(settings.namespace_) +
        "/leases?labelSelector=" + url_encode(std::string(kReplicasOf) + "=" + settings.lease);
    request.timeout = {settings.period.ns / 2};
    request.body_bytes_max = kReplicaListBytesMax;
    transport.send(request, [weak = weak_from_this(), target = request.target,
                             done = std::move(done)](const Result<HttpResponse>& got) {
      const auto self = weak.lock();
      if (!self) return;
      if (got && got->status == 200) {
        self->take_up(read_json(got->body));
        return done({});
      }
      Error why{ErrorCode::unavailable,
                "list replicas' leases: " +
                    (got ? failure_message(got->status, target, got->body) : got.error().message)};
      self->complain(why.message);
      done(std::move(why));
    });
  }

  void take_up(const Json& list) {
    const LogTime present = transport.now();
    std::map<std::string, ReplicaPosition> others;
    std::map<std::string, Seen> now_seen;
    for (const Json& lease : list_in(list, "items")) {
      const Json& metadata = member(lease, "metadata");
      const std::string name = text_in(metadata, "name");
      if (name == settings.lease + "-" + settings.name) continue;
      const std::string version = text_in(metadata, "resourceVersion");
      const auto before = seen.find(name);
      // A replica lives while the version of its Lease moves on by the clock of this process. Its
      // renewTime is by the clock of another machine, which may be wrong.
      const bool same = before != seen.end() && before->second.version == version;
      const LogTime since = same ? before->second.since : present;
      now_seen[name] = {version, since};
      if (present >= since + Duration{settings.period.ns * kPeriodsUntilGone}) continue;
      const Json& annotations = member(metadata, "annotations");
      auto position = read_position(text_in(annotations, kPosition));
      if (!position) continue;
      position->address = text_in(annotations, kAddress);
      others[name] = *std::move(position);
    }
    seen = std::move(now_seen);
    ports.others(others);
  }

  void complain(const std::string& why) {
    if (std::exchange(problem, why) != why) ports.say(why);
  }
  LeaseObject::Done guarded(LeaseObject::Done work) {
    return [weak = weak_from_this(), work = std::move(work)](const Result<void>& how) {
      if (const auto self = weak.lock()) work(how);
    };
  }

  Transport& transport;
  const ReplicaLeaseSettings settings;
  const Ports ports;
  const std::shared_ptr<LeaseObject> own;
  std::map<std::string, Seen> seen;
  std::string problem;
  std::unique_ptr<Transport::Timer> next;
};

ReplicaLeases::ReplicaLeases(Transport& transport, ReplicaLeaseSettings settings, Ports ports)
    : impl_(std::make_shared<Impl>(transport, std::move(settings), std::move(ports))) {
  impl_->next = transport.after({}, [weak = std::weak_ptr(impl_)] {
    if (const auto self = weak.lock()) self->write();
  });
}

ReplicaLeases::~ReplicaLeases() = default;

void ReplicaLeases::read(std::function<void()> done) {
  impl_->read_others([done = std::move(done)](const Result<void>&) { done(); });
}

}  // namespace fairlead
