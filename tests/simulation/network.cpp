#include "tests/simulation/network.h"

#include <utility>

namespace fairlead::simulation {

Network::Network(model::VirtualTime& time, Server& server, std::function<Sender()> sender)
    : time_(time),
      server_(server),
      sender_(std::move(sender)),
      streams_(time, server.model(), network_) {}

Network::~Network() { *alive_ = false; }

// The server carries the request out when it arrives, though its client may have ended by then.
void Network::send(HttpRequest request, std::function<void(Result<HttpResponse>)> done) {
  time_.post(network_.way, [&time = time_, &server = server_, way = network_.way, alive = alive_,
                            from = sender_(), request = std::move(request),
                            done = std::move(done)]() mutable {
    time.post(way, [alive = std::move(alive), done = std::move(done),
                    response = server.answer(request, from, AnswerFate::heard)]() mutable {
      if (*alive) done(std::move(response));
    });
  });
}

std::unique_ptr<Transport::Stream> Network::stream(HttpRequest request, HttpStreamHandler handler) {
  return streams_.stream(std::move(request), std::move(handler));
}

}  // namespace fairlead::simulation
