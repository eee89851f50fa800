// Any bytes as what a client sends, in any chunks: the same requests are answered however they are
// cut, and one that is written again in the plainest way is read as the same.
// The first byte of the input chooses the size of the chunks.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/http/byte_stream.h"
#include "engine/http/connection.h"
#include "tests/fuzz/fuzz.h"

using namespace fairlead;

namespace {

constexpr std::uint64_t kBodyMax = 64;

// A client that has sent `text` and then leaves.
class SentBytes final : public ByteStream {
 public:
  SentBytes(std::string_view text, std::size_t chunk, std::string& written)
      : text_(text), chunk_(chunk), written_(written) {}

  void handshake(Done done) override {
    next_ = [done = std::move(done)] { done(0); };
  }
  void read_some(std::span<char> into, Done done) override {
    next_ = [this, into, done = std::move(done)] {
      const std::size_t count = std::min({text_.size(), chunk_, into.size()});
      text_.copy(into.data(), count);
      text_.remove_prefix(count);
      done(count == 0 ? std::nullopt : std::optional(count));
    };
  }
  void write(std::string_view bytes, Done done) override {
    written_ += bytes;
    next_ = [size = bytes.size(), done = std::move(done)] { done(size); };
  }
  void shutdown(Done done) override { discard(std::move(done)); }
  void discard(Done done) override {
    text_ = {};
    next_ = [done = std::move(done)] { done(0); };
  }
  void expire_after(Duration) override {}
  void expire_never() override {}
  void wait(Duration, Done) override {}
  bool has_unread() override { return !text_.empty(); }
  void close() override { text_ = {}; }

  /// Does what is pending. Returns whether there was something.
  bool step() {
    const auto work = std::exchange(next_, {});
    if (work) work();
    return static_cast<bool>(work);
  }

 private:
  std::string_view text_;
  const std::size_t chunk_;
  std::string& written_;
  std::function<void()> next_;
};

struct Served {
  std::vector<ReceivedRequest> requests;
  std::string written;
  int closed = 0;
};

class KeepingHandler final : public HttpHandler {
 public:
  KeepingHandler(HttpConnection& connection, Served& served)
      : connection_(connection), served_(served) {}
  std::variant<std::uint64_t, HttpReply> expect_body(std::optional<std::uint64_t>) override {
    return kBodyMax;
  }
  HttpReply body_too_long() override { return {413, "text/plain", "too long"}; }
  void answer() override {
    check(connection_.request().body.size() <= kBodyMax, "a body is bounded");
    served_.requests.push_back(connection_.request());
    connection_.reply({200, "text/plain", "ok"});
  }
  void closed() override { ++served_.closed; }

 private:
  HttpConnection& connection_;
  Served& served_;
};

class NoLoop final : public HttpLoop {
 public:
  void post(std::function<void()>) override {}
};

Served serve(std::string_view text, std::size_t chunk) {
  Served served;
  NoLoop loop;
  auto made = std::make_unique<SentBytes>(text, chunk, served.written);
  SentBytes& stream = *made;
  const auto connection = open_connection(
      {std::move(made), "127.0.0.1", loop, {}, [] {}},
      [&](HttpConnection& opened) { return std::make_unique<KeepingHandler>(opened, served); });
  while (stream.step()) {
  }
  check(served.closed == 1, "a connection ends once");
  return served;
}

bool is_same(const ReceivedRequest& a, const ReceivedRequest& b) {
  return a.method == b.method && a.target == b.target && a.host == b.host &&
         a.authorization == b.authorization && a.own_authorization == b.own_authorization &&
         a.accept == b.accept && a.content_type == b.content_type && a.user_agent == b.user_agent &&
         a.if_none_match == b.if_none_match && a.accept_encoding == b.accept_encoding &&
         a.body == b.body;
}

// The request with each of its headers once, and the length of its body.
std::string plainest(const ReceivedRequest& request) {
  std::string out = request.method + " " + request.target + " HTTP/1.1\r\n";
  const std::pair<std::string_view, std::string_view> headers[] = {
      {"Authorization", request.authorization},
      {kHttpOwnAuthorization, request.own_authorization},
      {"Accept", request.accept},
      {"Content-Type", request.content_type},
      {"User-Agent", request.user_agent},
      {"If-None-Match", request.if_none_match},
      {"Accept-Encoding", request.accept_encoding}};
  for (const auto& [name, value] : headers)
    if (!value.empty()) out.append(name).append(": ").append(value).append("\r\n");
  out += "Host: " + request.host + "\r\nContent-Length: " + std::to_string(request.body.size());
  return out + "\r\n\r\n" + request.body;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text = as_text(data + 1, size - 1);
  const Served whole = serve(text, text.size() + 1), cut = serve(text, data[0] % 64 + 1);
  check(std::equal(whole.requests.begin(), whole.requests.end(), cut.requests.begin(),
                   cut.requests.end(), is_same),
        "requests do not depend on how they are cut");
  for (const ReceivedRequest& request : whole.requests) {
    check(!request.method.empty() && !request.target.empty(), "a request has method and target");
    const std::string text_again = plainest(request);
    const Served again = serve(text_again, text_again.size());
    check(again.requests.size() == 1 && is_same(again.requests.front(), request),
          "a request that is written again is read as the same");
  }
  return 0;
}
