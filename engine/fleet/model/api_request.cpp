#include "engine/fleet/model/api_request.h"

namespace fairlead::model {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

enum class Part { path, query };

std::string decoded(std::string_view text, Part part) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size();
    const int high = escape ? hex_digit(text[i + 1]) : -1;
    const int low = escape ? hex_digit(text[i + 2]) : -1;
    if (high >= 0 && low >= 0) {
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += part == Part::query && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

}  // namespace

std::string ApiRequest::query_value(const std::string& name) const {
  auto found = query.find(name);
  return found == query.end() ? std::string() : found->second;
}

bool ApiRequest::query_flag(const std::string& name) const {
  const std::string value = query_value(name);
  return value == "true" || value == "1" || value == "True" || value == "TRUE" || value == "t";
}

ApiRequest parse_target(std::string_view method, std::string_view target) {
  ApiRequest request;
  request.method = method;
  const std::size_t mark = target.find('?');
  request.path = decoded(target.substr(0, mark), Part::path);
  std::string_view rest =
      mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  while (!rest.empty()) {
    const std::size_t end = rest.find('&');
    const std::string_view pair = rest.substr(0, end);
    const std::size_t equals = pair.find('=');
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
    if (!pair.empty())
      request.query[decoded(pair.substr(0, equals), Part::query)] = decoded(value, Part::query);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return request;
}

std::optional<std::string> WatchStream::next() {
  if (read_ == lines_.size()) return std::nullopt;
  std::string line = std::move(lines_[read_++]);
  if (read_ == lines_.size()) {
    lines_.clear();
    read_ = 0;
  }
  return line;
}

void WatchStream::push(std::string line) {
  if (ended_) return;
  if (lines_.size() - read_ >= lines_max_) return end();
  lines_.push_back(std::move(line));
  if (notify_) notify_();
}

void WatchStream::end() {
  ended_ = true;
  if (notify_) notify_();
}

ApiAnswer json_answer(const Json& body) {
  ApiAnswer answer;
  answer.body = to_text(body);
  return answer;
}

}  // namespace fairlead::model
