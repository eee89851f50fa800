#include "engine/base/object_text.h"

#include <algorithm>

#include "engine/base/check.h"
#include "engine/base/json.h"

namespace fairlead {

namespace {

bool is_plain(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

}  // namespace

void append_quoted(std::string& out, std::string_view text) {
  if (!std::all_of(text.begin(), text.end(), is_plain)) {
    out += to_text(Json(std::string(text)));
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

std::string& ObjectText::value(std::string_view name) {
  check(empty_ || last_ < name, "the fields of an object are written in order");
  if (!empty_) out_ += ',';
  empty_ = false;
  last_ = name;
  append_quoted(out_, name);
  return out_ += ':';
}

ObjectText& ObjectText::text(std::string_view name, std::string_view text) {
  append_quoted(value(name), text);
  return *this;
}

ObjectText& ObjectText::number(std::string_view name, std::int64_t number) {
  value(name) += std::to_string(number);
  return *this;
}

}  // namespace fairlead
