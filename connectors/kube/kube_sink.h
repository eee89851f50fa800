// Writes to one API server: server-side apply, create, merge patch, delete.
//
// A request is sent exactly as its intent says; an answer is classified for the applier. The rate
// is bounded here (queries a second with a burst), the number of requests on the wire by the HTTP
// client.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "connectors/kube/transport/http_client.h"
#include "engine/apply/patch_sink.h"

namespace fairlead {

/// Returns the HTTP request of a write.
HttpRequest to_http(const WriteRequest& request);
/// Classifies the answer that HttpClient gave: `unavailable` means that the outcome is unknown,
/// `denied` that nothing was sent.
WriteAnswer classify(const WriteRequest& request, const Result<HttpResponse>& answer);

/// The bound on the rate of writes to one server.
struct WriteRate {
  std::int64_t qps = 300;
  std::int64_t burst = 500;
};

/// The PatchSink of one API server. send() may be called from any thread; answers come on the
/// loop's thread.
class KubeSink final : public PatchSink {
 public:
  /// `loop` and `http` outlive the sink; it calls `counted` (may be empty) with every answer.
  KubeSink(IoLoop& loop, HttpClient& http, WriteRate rate,
           std::function<void(const WriteAnswer&)> counted);
  /// Called on the loop's thread, or after that has ended.
  ~KubeSink() override;
  void send(WriteRequest request, std::function<void(WriteAnswer)> answered) override;
  /// Replaces the rate. On the loop's thread.
  void set_rate(WriteRate rate);

 private:
  struct Core;
  IoLoop& loop_;
  std::shared_ptr<Core> core_;
};

}  // namespace fairlead
