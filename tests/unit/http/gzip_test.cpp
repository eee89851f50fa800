// Bodies as gzip: what zlib reads back, and to whom they are sent.
#include "engine/http/gzip.h"

#include <zlib.h>

#include <catch2/catch.hpp>

namespace fairlead {
namespace {

std::string gunzipped(const std::string& bytes, std::size_t length) {
  std::string text(length + 1, '\0');
  z_stream stream{};
  REQUIRE(inflateInit2(&stream, 15 + 16) == Z_OK);
  std::string copy = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(copy.data());
  stream.avail_in = static_cast<uInt>(copy.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  CHECK(inflate(&stream, Z_FINISH) == Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

TEST_CASE("what is compressed is read back, and the same text gives the same bytes") {
  std::string long_text;
  for (int i = 0; i < 20'000; ++i) long_text += "{\"seq\":" + std::to_string(i) + "}";
  for (const std::string& text : {std::string(), std::string("a"), long_text})
    for (const GzipEffort effort : {GzipEffort::once, GzipEffort::each}) {
      const std::string bytes = gzip(text, effort);
      CHECK(gunzipped(bytes, text.size()) == text);
      CHECK(bytes == gzip(text, effort));
    }
  CHECK(gzip(long_text, GzipEffort::each).size() < long_text.size() / 4);
}

TEST_CASE("gzip is sent to whom Accept-Encoding names it for") {
  for (const char* accepting : {"gzip", "gzip, deflate, br", "br;q=1.0, GZIP;q=0.8", "*",
                                "identity, *;q=0.1", "*;q=0, gzip", " gzip ; q=1"})
    CHECK(accepts_gzip(accepting));
  for (const char* refusing :
       {"", "br", "identity", "gzip;q=0", "gzip; q=0.000", "*;q=0", "gzip;q=0, *", "xgzip", ","})
    CHECK_FALSE(accepts_gzip(refusing));
}

}  // namespace
}  // namespace fairlead
