// Writes to one API server: server-side apply, create, merge patch, delete.
//
// A request is sent exactly as its intent says; an answer is classified for the applier. The rate
// is bounded here (queries a second with a burst), the number of requests on the wire by the
// transport.
#pragma once

#include <functional>
#include <memory>

#include "connectors/kube/transport/transport.h"
#include "engine/apply/patch_sink.h"

namespace fairlead {

/// Returns the HTTP request of a write.
HttpRequest to_http(const WriteRequest& request);
/// Classifies the answer that a Transport gave: `unavailable` means that the outcome is unknown,
/// `denied` that nothing was sent.
WriteAnswer classify(const WriteRequest& request, const Result<HttpResponse>& answer);

/// The bound on the rate of writes to one server.
struct WriteRate {
  std::int64_t qps = 300;
  std::int64_t burst = 500;
};

/// The PatchSink of one API server, on the thread of its transport.
class KubeSink final : public PatchSink {
 public:
  /// `server` outlives the sink; it calls `counted` (may be empty) with every answer.
  KubeSink(Transport& server, WriteRate rate, std::function<void(const WriteAnswer&)> counted);
  /// Calls close() if the caller did not.
  ~KubeSink() override;
  void send(WriteRequest request, std::function<void(WriteAnswer)> answered) override;
  /// Replaces the rate.
  void set_rate(WriteRate rate);
  /// Sends nothing more: what waits, and what comes, is answered as unknown ("stopped").
  void close();

 private:
  struct Core;
  std::shared_ptr<Core> core_;
};

}  // namespace fairlead
