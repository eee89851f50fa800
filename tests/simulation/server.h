// An API server of the world: the model, what it recorded, and its bookmarks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "connectors/kube/transport/transport.h"
#include "engine/fleet/model/shared_model.h"
#include "engine/fleet/model/virtual_time.h"
#include "tests/simulation/record.h"
#include "tests/simulation/storm.h"

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
  /// `time` outlives it. `number` tells the servers of a storm apart. `wrote` is called with each
  /// request that is no read.
  Server(model::VirtualTime& time, SourceName name, const Storm& storm, std::int64_t number,
         Wrote wrote);

  const SourceName& name() const { return name_; }
  /// The model: what the world's fleets, and the watches of a hub, use.
  model::Model& model() { return model_; }
  const model::Model& model() const { return model_; }
  model::SharedModel& shared() { return shared_; }

  /// Carries out a request that came over the network.
  HttpResponse answer(const HttpRequest& request, const Sender& sender, AnswerFate fate);
  /// Carries out a request of `who` within the world, which must succeed.
  Json write(std::string_view who, std::string_view method, const std::string& path,
             const Json& body);
  /// The same, where it may fail: null then. `content_type` empty: a merge patch.
  Json try_write(std::string_view who, std::string_view method, const std::string& path,
                 const Json& body, std::string_view content_type = {});
  /// A write that the record leaves out: heartbeats.
  void beat(const std::string& path, const Json& body);
  /// Null if there is none.
  Json read(const std::string& path);
  /// The objects of a collection.
  Json items(const std::string& collection);

  /// Its troubles, each until a time: it is away, it refuses credentials, its discovery leaves out
  /// a group of kinds.
  struct Trouble {
    LogTime away, denied, lies;
  };
  Trouble trouble;
  bool away() const { return time_.now() < trouble.away; }
  bool denies() const { return time_.now() < trouble.denied; }
  bool lies() const { return time_.now() < trouble.lies; }
  /// Ends what is wrong.
  void mend() { trouble = {}; }

  /// Whether it refuses to send a list as a watch.
  bool without_watch_lists() const { return !watch_lists_; }
  /// Returns the version that was current `changes` changes ago, as far as the history reaches.
  std::uint64_t some_past(std::uint64_t changes) const;

  /// Ends all streams, as a process that dies does, and forgets the history.
  void restart();
  /// Forgets the history: streams get 410.
  void compact();
  /// Goes back to `saved`; recorded as a write of "restore".
  void restore(const model::ObjectStore& saved, std::uint64_t jump);
  /// Calls `cut` when streams end; until its owner is gone.
  void on_cut(std::weak_ptr<std::function<void()>> cut) { cuts_.push_back(std::move(cut)); }

 private:
  void saw(const model::ApiRequest& request, const model::ApiAnswer& answer,
           std::span<const model::Change> changes);
  /// Returns what Kueue's webhook has against the write, which `dry_run` carries out without
  /// storing anything; the refusal is recorded. Empty: nothing.
  std::string refusal(const model::ApiRequest& write, const std::function<Json()>& dry_run);
  void send_bookmarks();
  void cut_streams();

  model::VirtualTime& time_;
  const SourceName name_;
  const Wrote wrote_;
  const bool watch_lists_;
  model::SharedModel shared_;
  model::Model& model_;
  const Sender* sender_ = nullptr;  // of the request that is carried out
  AnswerFate fate_ = AnswerFate::heard;
  bool unrecorded_ = false;
  std::unique_ptr<Transport::Timer> bookmarks_;
  std::vector<std::weak_ptr<std::function<void()>>> cuts_;
};

}  // namespace fairlead::simulation
