// An API server of the world: the model, what it recorded, and its bookmarks.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "connectors/kube/transport/transport.h"
#include "engine/fleet/model/shared_model.h"
#include "engine/fleet/model/virtual_time.h"
#include "tests/simulation/record.h"

namespace fairlead::simulation {

/// Who sends a request over the network, and from which term.
struct Sender {
  std::string replica;
  LogTime sent;
  Epoch epoch;
};

/// Whether the writer gets the answer.
enum class AnswerFate : std::uint8_t { heard, lost };

class Server {
 public:
  using Wrote = std::function<void(SeenWrite)>;
  /// `time` outlives it. `wrote` is called with each request that is no read.
  Server(model::VirtualTime& time, SourceName name, std::uint64_t seed, Wrote wrote);

  const SourceName& name() const { return name_; }
  /// The model: what the world's fleets, and the watches of a hub, use.
  model::Model& model() { return model_; }
  model::SharedModel& shared() { return shared_; }

  /// Carries out a request that came over the network.
  HttpResponse answer(const HttpRequest& request, const Sender& sender, AnswerFate fate);
  /// Carries out a request of `who` within the world, which must succeed.
  Json write(std::string_view who, std::string_view method, const std::string& path,
             const Json& body);
  /// The same, where it may fail: null then.
  Json try_write(std::string_view who, std::string_view method, const std::string& path,
                 const Json& body);
  /// A write that the record leaves out: heartbeats.
  void beat(const std::string& path, const Json& body);
  /// Null if there is none.
  Json read(const std::string& path);

 private:
  void saw(const model::ApiRequest& request, const model::ApiAnswer& answer,
           std::span<const model::Change> changes);
  void send_bookmarks();

  model::VirtualTime& time_;
  const SourceName name_;
  const Wrote wrote_;
  model::SharedModel shared_;
  model::Model& model_;
  const Sender* sender_ = nullptr;  // of the request that is carried out
  AnswerFate fate_ = AnswerFate::heard;
  bool unrecorded_ = false;
  std::unique_ptr<Transport::Timer> bookmarks_;
};

}  // namespace fairlead::simulation
