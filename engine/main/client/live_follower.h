// Follows the live stream of a hub that runs elsewhere, one for all pages.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "connectors/kube/transport/http_client.h"

namespace fairlead {

/// On the loop's thread, but for version(). The stream is open while follow() is called at least
/// every half a minute.
class LiveFollower {
 public:
  /// `loop` and `client` outlive it. `request` makes the request of a stream.
  LiveFollower(IoLoop& loop, HttpClient& client, std::function<HttpRequest()> request)
      : loop_(loop), client_(client), request_(std::move(request)) {}
  ~LiveFollower() { *alive_ = false; }
  LiveFollower(const LiveFollower&) = delete;
  LiveFollower& operator=(const LiveFollower&) = delete;

  /// Opens the stream where there is none, at most every 2 s.
  void follow();
  /// Returns the newest version in the stream, or "no answer" while the hub does not answer. From
  /// any thread; does not wait.
  std::string version() const;

 private:
  void open();
  void close_soon();
  void consume(std::string_view bytes);
  void line(std::string_view text);
  void note(std::string version);

  IoLoop& loop_;
  HttpClient& client_;
  const std::function<HttpRequest()> request_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for posted work
  std::unique_ptr<HttpClient::Stream> stream_;
  bool closing_ = false;
  LogTime wanted_, heard_, next_try_;
  std::string line_;   // the beginning of one that has not ended
  std::string event_;  // the name that the next data is of

  mutable std::mutex mutex_;
  std::string version_;
};

}  // namespace fairlead
