#include "engine/base/digest.h"

#include <array>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

namespace fairlead {
namespace {

TEST_CASE("SHA-256 of pieces is that of the whole") {
  Sha256 pieces;
  for (const char* piece : {"a", "", "bc", "d"}) pieces.add(piece);
  CHECK(pieces.finish() == sha256("abcd"));
  CHECK(Sha256().finish() == sha256(""));
}

TEST_CASE("SHA-256 agrees with the examples of FIPS 180-4") {
  CHECK(sha256("").hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc").hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256(std::string(1'000'000, 'a')).hex() ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("The digest of parts is the digest of their concatenation") {
  constexpr std::array<std::string_view, 3> kParts{"a", "", "bc"};
  CHECK(sha256(kParts) == sha256("abc"));
}

TEST_CASE("Hexadecimal digits name a digest and nothing else does") {
  const Digest digest = sha256("abc");
  CHECK(Digest::from_hex(digest.hex()) == digest);
  CHECK(Digest::from_hex("BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD") ==
        digest);
  CHECK_FALSE(Digest::from_hex(""));
  CHECK_FALSE(Digest::from_hex(digest.hex().substr(1)));
  CHECK_FALSE(Digest::from_hex("zz" + digest.hex().substr(2)));
  CHECK(Digest{}.hex() == std::string(64, '0'));
}

TEST_CASE("Several threads may hash at once") {
  std::vector<Digest> digests(4);
  std::vector<std::thread> threads;
  for (Digest& digest : digests)
    threads.emplace_back([&digest] {
      for (int i = 0; i < 1000; ++i) digest = sha256("abc");
    });
  for (std::thread& thread : threads) thread.join();
  for (const Digest& digest : digests) CHECK(digest == sha256("abc"));
}

}  // namespace
}  // namespace fairlead
