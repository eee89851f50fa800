// A connection ends at any moment of its life, and its loop after it, against servers that never
// finish an answer. What matters is what a sanitizer or valgrind sees in these cases.
#include "connectors/kube/transport/io_loop.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <thread>

#include "connectors/kube/api_server_connection.h"

using namespace fairlead;

namespace {

enum class Manner : std::uint8_t {
  mute,      // accepts, reads and never answers
  dripping,  // answers a few bytes at a time; a watch never ends
  refusing,  // does not accept
};

constexpr const char* kResources =
    R"({"kind":"APIResourceList","resources":[{"name":"nodes"},{"name":"clusterqueues"}]})";

// One thread that serves all connections.
class BadServer {
 public:
  explicit BadServer(Manner manner) : manner_(manner) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
    if (manner_ != Manner::refusing) REQUIRE(::listen(listener_, 64) == 0);
    thread_ = std::thread([this] {
      while (!ended_) turn();
    });
  }
  ~BadServer() {
    ended_ = true;
    thread_.join();
    for (const Peer& peer : peers_) ::close(peer.socket);
    ::close(listener_);
  }
  Credentials credentials(bool tls) const {
    Credentials out;
    out.server = {tls, "127.0.0.1", std::to_string(port_), ""};
    out.verify_server = false;
    return out;
  }

 private:
  struct Peer {
    int socket = -1;
    std::string asked, to_send;
    bool endless = false;
  };

  void turn() {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    if (manner_ == Manner::refusing) return;
    for (int one = accept(); one >= 0; one = accept()) peers_.push_back({one, {}, {}, false});
    std::erase_if(peers_, [this](Peer& peer) { return over(peer); });
  }
  int accept() const { return ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK); }

  // Closes what the client closed.
  bool over(Peer& peer) const {
    char bytes[1024];
    const ssize_t got = ::recv(peer.socket, bytes, sizeof bytes, 0);
    const bool ended = got == 0 || (got < 0 && errno != EAGAIN);
    if (ended) ::close(peer.socket);
    if (ended || manner_ == Manner::mute) return ended;
    if (got > 0) peer.asked.append(bytes, static_cast<std::size_t>(got));
    if (const std::size_t end = peer.asked.find("\r\n\r\n"); end != std::string::npos) {
      answer(peer, peer.asked.substr(0, end));
      peer.asked.erase(0, end + 4);
    }
    if (peer.endless && peer.to_send.empty()) peer.to_send = "1\r\n \r\n";
    const std::size_t some = std::min<std::size_t>(peer.to_send.size(), 7);
    const ssize_t sent = ::send(peer.socket, peer.to_send.data(), some, MSG_NOSIGNAL);
    if (sent > 0) peer.to_send.erase(0, static_cast<std::size_t>(sent));
    return false;
  }
  static void answer(Peer& peer, std::string_view head) {
    peer.endless = head.find("watch=true") != std::string_view::npos;
    peer.to_send += "HTTP/1.1 200 OK\r\n";
    if (peer.endless)
      peer.to_send += "Transfer-Encoding: chunked\r\n\r\n";
    else
      peer.to_send += "Content-Length: " + std::to_string(std::string_view(kResources).size()) +
                      "\r\n\r\n" + kResources;
  }

  const Manner manner_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::vector<Peer> peers_;  // of the thread
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

WriteRequest a_write() {
  WriteRequest out;
  out.intent = {7};
  out.verb = Verb::create;
  out.target = {Kind::node, "", "n"};
  out.version = "v1";
  out.body = "{}";
  return out;
}

enum class Order : std::uint8_t { connection_first, loop_first };

// The life of one connection with all that it can have under way, `span` long.
void live(const Credentials& credentials, std::chrono::microseconds span, Order order) {
  std::atomic<int> facts{0}, followed{0}, answers{0};
  {
    IoLoop loop;
    auto made = ApiServerConnection::make(loop, "hub", credentials, {});
    REQUIRE(made.has_value());
    ApiServerConnection& server = **made;
    server.watch({Kind::node, Kind::cluster_queue}, [&](WatchFact) { ++facts; });
    const auto follower = server.follow("/api/v1/namespaces/a/secrets", "s",
                                        [&](std::optional<JsonView>) { ++followed; });
    server.sink().send(a_write(), [&](WriteAnswer) { ++answers; });
    server.post("/api/v1/namespaces/a/events", "{}");
    std::this_thread::sleep_for(span);
    if (order == Order::loop_first) loop.stop();
    made->reset();
    loop.stop();
  }
  CHECK(answers <= 1);
}

}  // namespace

TEST_CASE("a connection and its loop end at any moment, whatever the server does") {
  std::mt19937 random(20'240'614);
  BadServer mute(Manner::mute), dripping(Manner::dripping), refusing(Manner::refusing);
  const BadServer* servers[] = {&mute, &dripping, &refusing};
  for (int round = 0; round < 204; ++round) {
    const bool tls = round % 4 == 3;
    const std::chrono::microseconds span(random() % 25'000);
    live(servers[round % 3]->credentials(tls), span, Order::connection_first);
  }
}

TEST_CASE("a loop that ends before its connection drops what is under way") {
  BadServer mute(Manner::mute), dripping(Manner::dripping);
  for (const BadServer* server : {&mute, &dripping})
    for (const bool tls : {false, true})
      live(server->credentials(tls), std::chrono::milliseconds(15), Order::loop_first);
}

TEST_CASE("a cancelled request is answered before its loop has ended") {
  BadServer mute(Manner::mute);
  for (int round = 0; round < 20; ++round) {
    IoLoop loop;
    std::unique_ptr<HttpClient> client;
    std::atomic<int> answered{0};
    loop.run([&] {
      client = *HttpClient::make(loop, mute.credentials(false), {});
      client->send({}, [&](Result<HttpResponse>) { ++answered; });
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(round % 5));
    loop.run([&] { client.reset(); });
    loop.stop();
    CHECK(answered == 1);
  }
}
