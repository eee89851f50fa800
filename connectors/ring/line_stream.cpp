#include "connectors/ring/line_stream.h"

#include <utility>

#include "connectors/ring/ring_times.h"

namespace fairlead {

// Callbacks hold it, since one of them may destroy the LineStream.
struct LineStream::State : std::enable_shared_from_this<State> {
  State(Transport& transport_given, std::string what_given, Handler handler_given)
      : transport(transport_given),
        what(std::move(what_given)),
        handler(std::move(handler_given)) {}

  void open(HttpRequest request) {
    HttpStreamHandler streamed;
    streamed.opened = [this] { heard = transport.now(); };
    streamed.bytes = [this](std::string_view bytes) {
      const auto self = shared_from_this();
      read(bytes);
    };
    streamed.ended = [this](Result<HttpResponse> answer) {
      const auto self = shared_from_this();
      if (!answer) return end({ErrorCode::unavailable, what + ": " + answer.error().message});
      if (answer->status != 200) return end(handler.refused(*answer));
      end({ErrorCode::unavailable, what + ": the server ended the stream"});
    };
    stream = transport.stream(std::move(request), std::move(streamed));
    listen(kRingSilence);
  }

  void listen(Duration span) {
    silence = transport.after(span, [this] {
      const auto self = shared_from_this();
      const LogTime until = heard + kRingSilence;
      if (transport.now() < until) return listen(until - transport.now());
      end({ErrorCode::unavailable,
           what + ": silent for " + to_go_duration(kRingSilence) + ", given up"});
    });
  }

  void read(std::string_view bytes) {
    heard = transport.now();
    while (!over) {
      const std::size_t newline = bytes.find('\n');
      buffer.append(bytes.substr(0, newline));
      if (buffer.size() > kJsonBytesMax)
        return end({ErrorCode::unavailable,
                    what + ": a line of more than " + std::to_string(kJsonBytesMax) + " bytes"});
      if (newline == std::string_view::npos) return;
      bytes.remove_prefix(newline + 1);
      read_line(std::exchange(buffer, {}));
    }
  }

  void read_line(const std::string& line) {
    if (line.find_first_not_of(" \r\t") == std::string::npos) return;
    JsonFault fault;
    const auto document = parse_json(line, fault);
    if (!document)
      return end({ErrorCode::unavailable, what + ": a line is not JSON: " + fault.what});
    if (auto why = handler.line(document->root())) end(std::move(*why));
  }

  void end(Error why) {
    if (over) return;
    close();
    handler.ended(std::move(why));
  }
  void close() {
    over = true;
    stream.reset();
    silence.reset();
  }

  Transport& transport;
  const std::string what;
  const Handler handler;
  std::unique_ptr<Transport::Stream> stream;
  std::unique_ptr<Transport::Timer> silence;
  LogTime heard;
  std::string buffer;  // of the line that is not whole yet
  bool over = false;
};

LineStream::LineStream(Transport& transport, HttpRequest request, std::string what, Handler handler)
    : state_(std::make_shared<State>(transport, std::move(what), std::move(handler))) {
  state_->heard = transport.now();
  state_->open(std::move(request));
}

LineStream::~LineStream() { state_->close(); }

}  // namespace fairlead
