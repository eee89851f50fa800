#include "engine/base/printable.h"

#include <catch2/catch.hpp>

namespace fairlead {
namespace {

TEST_CASE("What acts on a terminal is spelled") {
  CHECK(printable("gpu-6 (\u00e4\u20ac\U0001F680) \"\\\"") ==
        "gpu-6 (\u00e4\u20ac\U0001F680) \"\\\"");
  CHECK(printable("\x1b]0;owned\a") == "\\u001b]0;owned\\u0007");
  CHECK(printable("a\nseq 7\tb\r") == "a\\nseq 7\\tb\\u000d");
  CHECK(printable(std::string_view("a\0b\x7f", 4)) == "a\\u0000b\\u007f");
  CHECK(printable("\u009b31m") == "\\u009b31m");  // CSI as one character
  CHECK(printable("a\u202eb\u2066c\u200f\u2028") == "a\\u202eb\\u2066c\\u200f\\u2028");
}

TEST_CASE("What is no UTF-8 is spelled byte by byte") {
  CHECK(printable("\x9b") == "\\x9b");
  CHECK(printable("a\xc3") == "a\\xc3");
  CHECK(printable("\xc0\x9b") == "\\xc0\\x9b");           // overlong
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // a surrogate
  CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
}

TEST_CASE("A text of several lines keeps them") {
  CHECK(printable_lines("a\n\x1b[2Jb\n") == "a\n\\u001b[2Jb\n");
}

TEST_CASE("All strings of a document are made printable") {
  CHECK(printable_document(Json{{"a\n", {1, "b\x1b", {{"c", nullptr}}}}}) ==
        Json{{"a\\n", {1, "b\\u001b", {{"c", nullptr}}}}});
}

}  // namespace
}  // namespace fairlead
