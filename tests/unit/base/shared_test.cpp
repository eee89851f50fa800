#include <algorithm>
#include <catch2/catch.hpp>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/shared_bytes.h"
#include "engine/base/shared_list.h"

namespace fairlead {
namespace {

TEST_CASE("shared bytes: a copy has the same bytes, wherever the first one goes") {
  SharedBytes first = SharedBytes::copy_of("abc");
  const SharedBytes second = first;
  CHECK(second.get() == first.get());
  CHECK_FALSE(second.is_view());
  first = SharedBytes::copy_of("other");
  CHECK(std::string_view(second.get(), 3) == "abc");
  const SharedBytes third = std::move(first);
  CHECK_FALSE(static_cast<bool>(first));  // NOLINT: a moved pointer is empty
  CHECK(std::string_view(third.get(), 5) == "other");
}

TEST_CASE("shared bytes: a view and its copies are where they were") {
  const std::string_view bytes = "elsewhere";
  const SharedBytes view = SharedBytes::view_of(bytes.data());
  const SharedBytes copy = view;
  CHECK(copy.is_view());
  CHECK(copy.get() == bytes.data());
}

TEST_CASE("shared bytes: the base lives as long as what rests on it") {
  char* begin = nullptr;
  SharedBytes first;
  {
    const SharedBytes base = SharedBytes::copy_of("base");
    CHECK(base.base() == nullptr);
    first = SharedBytes::make_on(base, 3, begin);
    std::copy_n("own", 3, begin);
  }
  const SharedBytes second = first;
  first = {};
  CHECK(std::string_view(second.get(), 3) == "own");
  CHECK(std::string_view(second.base(), 4) == "base");
}

TEST_CASE("shared bytes: copies are made and dropped on several threads") {
  const SharedBytes bytes = SharedBytes::copy_of("shared");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([bytes] {
      std::vector<SharedBytes> copies;
      for (int turn = 0; turn < 10'000; ++turn) {
        copies.push_back(bytes);
        if (copies.size() == 100) copies.clear();
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(std::string_view(bytes.get(), 6) == "shared");
}

TEST_CASE("shared list: equal lists are equal, whether they share memory or not") {
  const SharedList<int> list{1, 2, 3};
  const SharedList<int> copy = list;
  const SharedList<int> same{1, 2, 3};
  CHECK(copy.is_shared_with(list));
  CHECK_FALSE(same.is_shared_with(list));
  CHECK(same == list);
  CHECK(same != SharedList<int>{1, 2});
  CHECK(SharedList<int>().is_shared_with(std::vector<int>()));
}

}  // namespace
}  // namespace fairlead
