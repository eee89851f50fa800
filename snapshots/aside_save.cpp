#include "snapshots/aside_save.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <string>
#include <string_view>
#include <utility>

#include "engine/fold/evolve.h"

namespace fairlead {

namespace {

constexpr int kAsideNice = 19;  // the hub and its connections come first
// Of a pipe: a write of up to PIPE_BUF bytes is whole or not there.
constexpr std::size_t kAnswerMax = 4096;
static_assert(kAnswerMax <= PIPE_BUF);

constexpr char kSaved = 's', kFailed = 'f';

/// What the child answers: kSaved, the size of the file in decimal digits, a blank and the digest
/// in hexadecimal; or kFailed and the message.
std::string answer_of(const Result<SnapshotInfo>& saved) {
  if (!saved) return kFailed + saved.error().message.substr(0, kAnswerMax - 1);
  return kSaved + std::to_string(saved->bytes) + ' ' + saved->state_digest.hex();
}

// The lock of the log's writer stays with the hub, which has it open, too.
void close_all_but(int kept) {
  const auto descriptor = static_cast<unsigned>(kept);
  if (kept > 0) ::close_range(0, descriptor - 1, 0);
  ::close_range(descriptor + 1, ~0U, 0);
}

// Sockets must not stay open because the child has them.
[[noreturn]] void save_and_end(SnapshotStore& store, const State& state, const Digest& chain,
                               pid_t hub, int answer) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != hub) ::_exit(1);  // it ended before
  ::setpriority(PRIO_PROCESS, 0, kAsideNice);
  close_all_but(answer);
  const std::string text = answer_of(store.save(state, chain));
  const bool written =
      ::write(answer, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::_exit(written ? 0 : 1);
}

}  // namespace

AsideSave::AsideSave(pid_t child, int answer, SnapshotInfo info)
    : child_(child), answer_(answer), info_(std::move(info)) {}

AsideSave::~AsideSave() {
  if (child_ != 0) ::kill(child_, SIGKILL);
  end();
  ::close(answer_);
}

void AsideSave::end() {
  while (child_ != 0 && ::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) continue;
  child_ = 0;
}

std::unique_ptr<AsideSave> AsideSave::begin(SnapshotStore& store, const State& state,
                                            const Digest& chain) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) return nullptr;
  const auto [reading, writing] = pipe;
  // A digest of nothing: what OpenSSL fetches at its first use is fetched under a lock, which a
  // thread that the child does not have might hold.
  sha256("");
  const pid_t hub = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) save_and_end(store, state, chain, hub, writing);
  ::close(writing);
  if (child > 0)
    return std::unique_ptr<AsideSave>(
        new AsideSave(child, reading, {state.seq, state.now, kFoldVersion, {}, chain, 0}));
  ::close(reading);
  return nullptr;
}

std::optional<Result<SnapshotInfo>> AsideSave::result() {
  if (child_ == 0) return std::nullopt;
  const bool late = std::chrono::steady_clock::now() - began_ > kPatience;
  if (late) ::kill(child_, SIGKILL);
  const pid_t ended = ::waitpid(child_, nullptr, late ? 0 : WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return std::nullopt;
  child_ = 0;
  return answered();
}

Result<SnapshotInfo> AsideSave::answered() const {
  std::array<char, kAnswerMax> buffer{};
  const ssize_t size = ::read(answer_, buffer.data(), buffer.size());
  const std::string text(buffer.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  if (text.starts_with(kFailed)) return Error{ErrorCode::unavailable, text.substr(1)};
  const std::size_t blank = text.find(' ');
  const auto digest =
      blank == std::string::npos ? std::nullopt : Digest::from_hex(text.substr(blank + 1));
  if (!text.starts_with(kSaved) || !digest)
    return Error{ErrorCode::unavailable, "the process that saved it was ended"};
  SnapshotInfo info = info_;
  info.state_digest = *digest;
  info.bytes = std::stoull(text.substr(1, blank - 1));
  return info;
}

}  // namespace fairlead
