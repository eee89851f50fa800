// RocksDB writes and syncs its write-ahead log in one call. For the program of the tests that stops
// at named points this is the file system in between: it passes them around each write and sync.
#pragma once

#include <rocksdb/env.h>

namespace fairlead {

#ifdef FAIRLEAD_STOP_POINTS

inline namespace stop_points_on {

/// The machine's file system with stop points. Lives as long as the process.
rocksdb::Env* stopping_env();

}  // namespace stop_points_on

#else

inline namespace stop_points_off {

/// RocksDB's own choice.
constexpr rocksdb::Env* stopping_env() { return nullptr; }

}  // namespace stop_points_off

#endif

}  // namespace fairlead
