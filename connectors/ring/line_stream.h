// A stream of JSON documents, one per line: the watch of an API server and of etcd's gateway.
//
// A line may span chunks and a chunk may hold many lines. A stream that is silent for kRingSilence
// is given up.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "connectors/kube/document/json_document.h"
#include "connectors/kube/transport/transport.h"
#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/log/replicated/commit_store.h"

namespace fairlead {

/// Destroying it ends the stream without a callback, also from within a callback.
class LineStream final : public CommitStore::Following {
 public:
  struct Handler {
    /// Reads a line. What it returns ends the stream, and is the reason.
    std::function<std::optional<Error>(JsonView line)> line;
    /// The stream was refused with this answer: returns the reason.
    std::function<Error(const HttpResponse&)> refused;
    /// The stream is over. The last callback.
    std::function<void(Error)> ended;
  };
  /// `transport` outlives it. `what` names the stream in errors.
  LineStream(Transport& transport, HttpRequest request, std::string what, Handler handler);
  ~LineStream() override;
  LineStream(const LineStream&) = delete;
  LineStream& operator=(const LineStream&) = delete;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace fairlead
