#include "engine/base/bounded_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

namespace fairlead {
namespace {

TEST_CASE("A file is read up to a bound, whatever it is") {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("fairlead-bounded-" + std::to_string(::getpid())))
          .string();
  const std::string text(100'000, 'a');
  std::ofstream(path) << text;
  CHECK(*read_bounded(path) == text);
  CHECK(*read_bounded(path, text.size()) == text);
  const auto longer = read_bounded(path, text.size() - 1);
  REQUIRE(longer.has_error());
  CHECK(longer.error() == Error{ErrorCode::bad_input,
                                path + ": expected a file of up to 99999 bytes, got a longer one"});
  std::filesystem::remove(path);
  CHECK(read_bounded(path).error() ==
        Error{ErrorCode::bad_input, "cannot read " + path + ": No such file or directory"});
  CHECK(read_bounded("/dev").error() ==
        Error{ErrorCode::bad_input, "cannot read /dev: it is a folder"});
  CHECK(read_bounded("/dev/null")->empty());
}

TEST_CASE("A pipe or a device is refused, not waited for") {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("fairlead-pipe-" + std::to_string(::getpid())))
          .string();
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  CHECK(read_bounded(path).error() ==
        Error{ErrorCode::bad_input, "cannot read " + path + ": it is a pipe, expected a file"});
  std::filesystem::remove(path);
  CHECK(read_bounded("/dev/zero").error() ==
        Error{ErrorCode::bad_input, "cannot read /dev/zero: it is a device, expected a file"});
}

}  // namespace
}  // namespace fairlead
