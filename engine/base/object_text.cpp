#include "engine/base/object_text.h"

#include <algorithm>
#include <utility>

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

std::string list_text(const std::vector<std::string>& values) {
  std::string out = "[";
  for (const std::string& value : values) {
    if (out.size() > 1) out += ',';
    out += value;
  }
  return out += ']';
}

void ObjectText::begin_field(std::string_view name) {
  check(out_.size() == 1 || last_ < name, "the fields of an object are written in order");
  if (out_.size() > 1) out_ += ',';
  append_quoted(out_, name);
  out_ += ':';
  last_ = name;
}

ObjectText& ObjectText::text(std::string_view name, std::string_view value) {
  begin_field(name);
  append_quoted(out_, value);
  return *this;
}

ObjectText& ObjectText::number(std::string_view name, std::int64_t value) {
  begin_field(name);
  out_ += std::to_string(value);
  return *this;
}

ObjectText& ObjectText::json(std::string_view name, std::string_view value) {
  begin_field(name);
  out_ += value;
  return *this;
}

std::string ObjectText::take() {
  out_ += '}';
  return std::move(out_);
}

}  // namespace fairlead
