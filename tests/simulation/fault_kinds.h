// What can go wrong between the hub and the world, and how often: a storm's faults.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace fairlead::simulation {

/// What happens to one request, line or commit, by chance.
enum class FaultKind : std::uint8_t {
  lost_requests,     ///< a request never arrives; its timeout says so
  lost_answers,      ///< carried out; its timeout says so
  late_requests,     ///< carried out after its writer has given up
  slow_requests,     ///< carried out and answered, seconds later
  conflicts,         ///< a write is answered 409 and not done
  throttles,         ///< 429 with Retry-After
  errors,            ///< 500 and not done
  errors_after,      ///< 500 and done
  stale_lists,       ///< a list in pages shows what was there some changes ago, as a server's cache
                     ///< that is behind
  refused_watches,   ///< a watch is answered 410
  cut_streams,       ///< a stream ends in the middle of a line
  lost_lines,        ///< a line is lost, and the stream ends behind it
  silent_streams,    ///< a stream goes on without a line
  delayed_lines,     ///< up to 20 s late, and all lines behind it
  doubled_lines,     ///< a line comes twice
  swapped_lines,     ///< two lines of different objects change places
  unsaid_losses,     ///< a line is lost and nothing says so: a server that is broken for good. No
                     ///< seed has it
  deaths_at_append,  ///< the process ends before or after a commit is stored
  deaths_at_send,    ///< or before or after a request is sent
  deaths_at_answer,  ///< or before it reads an answer
  append_errors,     ///< a commit is refused by the disk, and stored or not
};
inline constexpr std::array kFaultNames{
    std::string_view("lost-requests"),  std::string_view("lost-answers"),
    std::string_view("late-requests"),  std::string_view("slow-requests"),
    std::string_view("conflicts"),      std::string_view("throttles"),
    std::string_view("errors"),         std::string_view("errors-after"),
    std::string_view("stale-lists"),    std::string_view("refused-watches"),
    std::string_view("cut-streams"),    std::string_view("lost-lines"),
    std::string_view("silent-streams"), std::string_view("delayed-lines"),
    std::string_view("doubled-lines"),  std::string_view("swapped-lines"),
    std::string_view("unsaid-losses"),  std::string_view("deaths-at-append"),
    std::string_view("deaths-at-send"), std::string_view("deaths-at-answer"),
    std::string_view("append-errors"),
};
inline constexpr std::size_t kFaultKinds = kFaultNames.size();

/// What happens to a server or a process for a while.
enum class EpisodeKind : std::uint8_t {
  restarts,       ///< an API server is away for up to ten minutes
  outages,        ///< or for up to an hour
  compactions,    ///< it forgets its history, and ends its streams
  restores,       ///< its store goes back to what it was up to half an hour ago
  credentials,    ///< every request is answered 401 for some minutes
  lies,           ///< discovery leaves out a group of kinds for some minutes
  clock_jumps,    ///< the clock of a replica is set up to ten minutes ahead or back
  deaths,         ///< a process ends between two turns
  pauses,         ///< a process is paused for up to two minutes
  partitions,     ///< no request of a process gets to any API server, for some minutes
  ring_outages,   ///< the servers of a replicated log do not answer, for some minutes
  ring_restores,  ///< they go back to what they had up to half an hour ago
};
inline constexpr std::array kEpisodeNames{
    std::string_view("restarts"),     std::string_view("outages"),
    std::string_view("compactions"),  std::string_view("restores"),
    std::string_view("credentials"),  std::string_view("lies"),
    std::string_view("clock-jumps"),  std::string_view("deaths"),
    std::string_view("pauses"),       std::string_view("partitions"),
    std::string_view("ring-outages"), std::string_view("ring-restores"),
};
inline constexpr std::size_t kEpisodeKinds = kEpisodeNames.size();

}  // namespace fairlead::simulation
