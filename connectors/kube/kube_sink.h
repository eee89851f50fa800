// Writes to one API server: server-side apply, create, merge patch, delete.
//
// A request is sent exactly as its intent says; an answer is sorted into what it means for the
// applier. Flow is bounded here (queries a second with a burst); how many are on the wire at a time
// is the HTTP client's limit.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "connectors/kube/http_client.h"
#include "engine/apply/patch_sink.h"

namespace fairlead {

/// How `request` goes over the wire.
HttpRequest to_http(const WriteRequest& request);
/// What an answer means. `answer` is what HttpClient gave: unavailable means that nobody knows,
/// denied that nothing was sent.
WriteAnswer classify(const WriteRequest& request, const Result<HttpResponse>& answer);

/// How fast one server may be written to.
struct WriteRate {
  std::int64_t qps = 300;
  std::int64_t burst = 500;
};

/// The PatchSink of one API server. send() may be called from any thread; answers come on the
/// loop's thread.
class KubeSink final : public PatchSink {
 public:
  /// `loop` and `http` outlive the sink; `counted` (may be empty) hears of every answer.
  KubeSink(IoLoop& loop, HttpClient& http, WriteRate rate,
           std::function<void(const WriteAnswer&)> counted);
  /// On the loop's thread, or after it has ended.
  ~KubeSink() override;
  void send(WriteRequest request, std::function<void(WriteAnswer)> answered) override;
  /// From now on this fast. On the loop's thread.
  void set_rate(WriteRate rate);

 private:
  struct Core;
  IoLoop& loop_;
  std::shared_ptr<Core> core_;
};

}  // namespace fairlead
