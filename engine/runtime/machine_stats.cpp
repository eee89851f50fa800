#include "engine/runtime/machine_stats.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

namespace fairlead {

namespace {

std::string text_of(const char* path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Fields of /proc/PID/stat behind the name, which is in parentheses and may hold spaces: proc(5)
// counts the first of them as its third.
std::vector<std::uint64_t> stat_fields() {
  const std::string text = text_of("/proc/self/stat");
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream in(text.substr(name_end + 1));
  std::vector<std::uint64_t> fields;
  for (std::string word; in >> word;) fields.push_back(std::strtoull(word.c_str(), nullptr, 10));
  return fields;
}

Duration from_ticks(std::uint64_t ticks) {
  const auto a_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return {static_cast<std::int64_t>(ticks * (1'000'000'000 / a_second))};
}

// Seconds since 1970 at which the machine started.
Duration boot_time() {
  std::istringstream in(text_of("/proc/stat"));
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("btime ")) return seconds(std::strtoll(line.c_str() + 6, nullptr, 10));
  return {};
}

void add_process(MachineStats& stats) {
  constexpr std::size_t kUserTime = 14 - 3, kSystemTime = 15 - 3, kStart = 22 - 3, kPages = 24 - 3;
  const std::vector<std::uint64_t> fields = stat_fields();
  if (fields.size() <= kPages) return;
  stats.cpu = from_ticks(fields[kUserTime] + fields[kSystemTime]);
  stats.started_at = {boot_time().ns + from_ticks(fields[kStart]).ns};
  stats.resident_bytes = fields[kPages] * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Files come and go while they are counted; what is gone counts nothing.
void add_data(MachineStats& stats, const std::string& data) {
  namespace fs = std::filesystem;
  stats.data_bytes = {{"log", 0}, {"snapshots", 0}, {"other", 0}};
  std::error_code problem;
  for (fs::recursive_directory_iterator at(data, problem), end; !problem && at != end;
       at.increment(problem)) {
    std::error_code gone;
    if (!at->is_regular_file(gone)) continue;
    const std::string part = at->path().lexically_relative(data).begin()->string();
    const std::uint64_t bytes = at->file_size(gone);
    if (gone) continue;
    stats.data_bytes[stats.data_bytes.contains(part) ? part : "other"] += bytes;
  }
  struct statvfs place{};
  if (::statvfs(data.c_str(), &place) == 0)
    stats.data_free_bytes = std::uint64_t{place.f_bavail} * place.f_frsize;
}

}  // namespace

MachineStats machine_stats(const std::string& data) {
  MachineStats stats;
  add_process(stats);
  std::error_code ignored;
  for (std::filesystem::directory_iterator at("/proc/self/fd", ignored), end; at != end;
       at.increment(ignored))
    ++stats.open_files;
  if (stats.open_files > 0) --stats.open_files;  // the one that lists them
  add_data(stats, data);
  return stats;
}

}  // namespace fairlead
