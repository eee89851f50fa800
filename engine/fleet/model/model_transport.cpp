#include "engine/fleet/model/model_transport.h"

#include <utility>

namespace fairlead::model {
namespace {

ApiAnswer carry_out_at(Model& model, const HttpRequest& wanted, std::string user_agent) {
  ApiRequest request = parse_target(wanted.method, wanted.target);
  request.accept = wanted.accept;
  request.content_type = wanted.content_type;
  request.if_none_match = wanted.if_none_match;
  request.user_agent = std::move(user_agent);
  request.body = wanted.body;
  return model.handle(request);
}

HttpResponse response_of(ApiAnswer answer) {
  std::optional<Duration> wait;
  if (answer.retry_after) wait = seconds(*answer.retry_after);
  return {answer.code, wait, std::move(answer.body), std::move(answer.etag)};
}

}  // namespace

HttpResponse answer_of(Model& model, const HttpRequest& wanted, std::string user_agent) {
  return response_of(carry_out_at(model, wanted, std::move(user_agent)));
}

ModelTransport::ModelTransport(VirtualTime& time, Model& model, ModelNetwork network)
    : time_(time), model_(model), network_(network) {}

ModelTransport::~ModelTransport() { *alive_ = false; }

// The server carries the request out when it arrives, though its client may have ended by then.
void ModelTransport::send(HttpRequest request, std::function<void(Result<HttpResponse>)> done) {
  time_.post(network_.way, [&time = time_, &model = model_, way = network_.way, alive = alive_,
                            request = std::move(request), done = std::move(done)]() mutable {
    time.post(way, [alive = std::move(alive), done = std::move(done),
                    response = answer_of(model, request)]() mutable {
      if (*alive) done(std::move(response));
    });
  });
}

// A watch, from its request on. The stream's handle owns it; its work holds it weakly.
class ModelTransport::OpenWatch final : public std::enable_shared_from_this<OpenWatch> {
 public:
  OpenWatch(const ModelTransport& transport, HttpStreamHandler handler)
      : time_(transport.time_),
        model_(transport.model_),
        network_(transport.network_),
        handler_(std::move(handler)) {}

  void begin(HttpRequest request) {
    after_the_way([this, request = std::move(request)] {
      ApiAnswer answer = carry_out_at(model_, request, {});
      if (!answer.watch)
        return after_the_way([this, refusal = response_of(std::move(answer))] { end(refusal); });
      lines_ = answer.watch;
      lines_->on_ready([this] { fetch_later(); });
      expires_ = time_.after(
          answer.watch_seconds > 0 ? seconds(answer.watch_seconds) : network_.watch_lifetime,
          [this] {
            expired_ = true;
            fetch_later();
          });
      after_the_way([this] { handler_.opened(); });
      fetch_later();
    });
  }

 private:
  // Not after the end of the handle, also where that ends in the work itself.
  void after_the_way(std::function<void()> work) {
    time_.post(network_.way, [weak = weak_from_this(), work = std::move(work)] {
      if (const auto self = weak.lock()) work();
    });
  }
  // What comes until then comes with it.
  void fetch_later() {
    if (std::exchange(fetches_, true)) return;
    after_the_way([this] { fetch(); });
  }
  void fetch() {
    fetches_ = false;
    if (over_) return;
    std::string chunk;
    while (auto line = lines_->next()) chunk += *line;
    const std::weak_ptr<OpenWatch> open = weak_from_this();
    if (!chunk.empty()) handler_.bytes(chunk);
    // The client may have let go of it: only this call holds it then.
    if (open.use_count() > 1 && (lines_->ended() || expired_)) end({200, std::nullopt, {}});
  }
  void end(HttpResponse response) {
    over_ = true;
    handler_.ended(std::move(response));
  }

  VirtualTime& time_;
  Model& model_;
  const ModelNetwork network_;
  const HttpStreamHandler handler_;
  std::shared_ptr<WatchStream> lines_;
  std::unique_ptr<Timer> expires_;
  bool fetches_ = false;
  bool expired_ = false;
  bool over_ = false;
};

std::unique_ptr<Transport::Stream> ModelTransport::stream(HttpRequest request,
                                                          HttpStreamHandler handler) {
  struct Handle final : Stream {
    explicit Handle(std::shared_ptr<OpenWatch> watch_given) : watch(std::move(watch_given)) {}
    const std::shared_ptr<OpenWatch> watch;
  };
  auto watch = std::make_shared<OpenWatch>(*this, std::move(handler));
  watch->begin(std::move(request));
  return std::make_unique<Handle>(std::move(watch));
}

}  // namespace fairlead::model
