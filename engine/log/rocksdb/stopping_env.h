// A file system for RocksDB with stop points (engine/base/stop_point.h) around each write and sync
// of the write-ahead log. RocksDB does both in one call, so crash tests reach the points between
// them only here.
#pragma once

#include <rocksdb/env.h>

namespace fairlead {

#ifdef FAIRLEAD_STOP_POINTS

inline namespace stop_points_on {

/// Returns the machine's file system with stop points. It lives as long as the process.
rocksdb::Env* stopping_env();

}  // namespace stop_points_on

#else

inline namespace stop_points_off {

/// Returns null, which selects RocksDB's default file system.
constexpr rocksdb::Env* stopping_env() { return nullptr; }

}  // namespace stop_points_off

#endif

}  // namespace fairlead
