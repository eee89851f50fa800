// One Lease on an API server: reads it, writes it by its resourceVersion, and keeps what it saw.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "connectors/kube/lease/lease_elector.h"
#include "connectors/kube/transport/transport.h"
#include "engine/base/json.h"
#include "engine/base/result.h"

namespace fairlead {

/// How a Lease spells a time: MicroTime, with exactly six digits behind the point.
std::string micro_time(LogTime time);

/// On the transport's thread. After its end no callback runs.
class LeaseObject : public std::enable_shared_from_this<LeaseObject> {
 public:
  using Done = std::function<void(const Result<void>&)>;

  /// `transport` outlives it. `timeout` is of a request.
  LeaseObject(Transport& transport, std::string namespace_, std::string name, Duration timeout);

  /// Reads it. That there is none is a success.
  void get(Done done);
  /// Replaces the Lease that was seen last by `wanted`, or makes it if there was none. `conflict`:
  /// it is another one by now.
  void put(const Json& wanted, Done done);
  /// Returns the Lease that was seen last, to be changed and put.
  Json draft() const;

  /// NAMESPACE/NAME.
  std::string title() const { return namespace_ + "/" + name_; }
  /// Whether seen() is what the server had last, as far as this process can know.
  bool known() const { return known_; }
  const std::optional<LeaseSeen>& seen() const { return seen_; }
  /// Returns the identity of the holder. Empty: the Lease has no holder, or does not exist.
  const std::string& holder() const { return holder_; }
  /// Since when, by Transport::now(), holder and renewTime were seen as they are.
  LogTime observed_at() const { return observed_at_; }
  /// The Lease's own duration; nullopt: it says none.
  std::optional<Duration> duration() const { return duration_; }

 private:
  void send(HttpRequest request, std::function<void(const Result<HttpResponse>&)> done);
  void adopt_none();
  Result<void> adopt(const std::string& body);
  void observe(const std::string& holder, const std::string& renewed);
  Error failure(const std::string& method, const Result<HttpResponse>& got) const;

  Transport& transport_;
  const std::string namespace_, name_;
  const Duration timeout_;
  const std::string collection_, path_;

  bool known_ = false;
  Json object_ = Json::object();
  std::optional<LeaseSeen> seen_;
  std::string holder_, renewed_;
  LogTime observed_at_;
  std::optional<Duration> duration_;
};

}  // namespace fairlead
