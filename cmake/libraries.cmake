# Foreign libraries, all from Debian packages. Their headers are system headers: their warnings are not ours.
find_package(Threads REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(yaml-cpp 0.7 REQUIRED)
find_package(spdlog REQUIRED)
find_package(simdjson REQUIRED)
find_package(CapnProto REQUIRED)
find_package(RocksDB REQUIRED)
find_package(CLI11 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
if(BUILD_TESTING)
  pkg_check_modules(CATCH2 REQUIRED IMPORTED_TARGET catch2)
endif()

# malloc and free of what is shipped and measured: a watch line makes a dozen small values that another thread frees, which
# is what glibc's allocator is slowest at. A sanitizer brings its own.
add_library(fairlead_allocator INTERFACE)
if(NOT FAIRLEAD_SANITIZE)
  find_package(mimalloc 2.0 REQUIRED)
  target_link_libraries(fairlead_allocator INTERFACE mimalloc)
endif()
