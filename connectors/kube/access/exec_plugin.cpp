#include "connectors/kube/access/exec_plugin.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "connectors/kube/document/json_document.h"
#include "connectors/kube/transport/certificate.h"
#include "engine/base/base64.h"

extern "C" char** environ;

namespace fairlead {
namespace {

constexpr std::string_view kGroup = "client.authentication.k8s.io/";
constexpr std::string_view kExtension = "client.authentication.k8s.io/exec";
constexpr Duration kLookFirst = milliseconds(2);
constexpr Duration kLookMax = milliseconds(40);

Error denied(std::string what) { return {ErrorCode::denied, std::move(what)}; }

bool understood(std::string_view api_version) {
  return api_version == "client.authentication.k8s.io/v1" ||
         api_version == "client.authentication.k8s.io/v1beta1";
}

std::string url_of(const ServerAddress& server) {
  const std::string host =
      server.host.find(':') == std::string::npos ? server.host : "[" + server.host + "]";
  return (server.tls ? "https://" : "http://") + host + ":" + server.port + server.path;
}

// spec.cluster of KUBERNETES_EXEC_INFO.
std::string cluster_info(JsonView cluster, const Credentials& known) {
  Json out{{"server", url_of(known.server)}};
  if (!known.ca_pem.empty()) out["certificate-authority-data"] = encode_base64(known.ca_pem);
  if (!known.tls_server_name.empty()) out["tls-server-name"] = known.tls_server_name;
  if (!known.verify_server) out["insecure-skip-tls-verify"] = true;
  if (known.proxy) out["proxy-url"] = std::string(cluster["proxy-url"].string());
  for (JsonView extension : cluster["extensions"])
    if (extension["name"].string() == kExtension) out["config"] = to_json(extension["extension"]);
  return to_text(out);
}

}  // namespace

Result<ExecPlugin> read_exec_plugin(JsonView exec, JsonView cluster, const Credentials& known,
                                    const std::string& origin) {
  const auto fail = [&](const std::string& what) {
    return Error{ErrorCode::bad_input, origin + what};
  };
  ExecPlugin out;
  out.origin = origin;
  out.api_version = exec["apiVersion"].string();
  if (!understood(out.api_version))
    return fail(".apiVersion: expected " + std::string(kGroup) + "v1 or v1beta1, got \"" +
                out.api_version + "\"");
  out.command = exec["command"].string();
  if (out.command.empty()) return fail(".command is missing");
  for (JsonView arg : exec["args"]) {
    if (!arg.is(JsonKind::string)) return fail(".args: expected a list of strings");
    out.args.emplace_back(arg.text());
  }
  for (JsonView row : exec["env"]) {
    const std::string_view name = row["name"].string();
    if (name.empty() || name.find('=') != std::string_view::npos)
      return fail(".env: expected entries with a name and a value");
    out.env.emplace_back(name, row["value"].string());
  }
  out.install_hint = exec["installHint"].string();
  if (exec["interactiveMode"].string() == "Always")
    return fail(".interactiveMode: Always needs a terminal, and there is none");
  if (exec["provideClusterInfo"].is_true()) out.cluster_info = cluster_info(cluster, known);
  return out;
}

Result<PluginAnswer> read_exec_credential(std::string_view text, const std::string& api_version) {
  const auto document = parse_json(text);
  // (The fault of the JSON would quote it, and it may hold a token.)
  if (document.has_error()) return denied("it printed no JSON");
  JsonView root = document->root();
  if (root["kind"].string() != "ExecCredential")
    return denied("expected kind ExecCredential in its output");
  if (root["apiVersion"].string() != api_version)
    return denied("expected apiVersion " + api_version + " in its output");
  JsonView status = root["status"];
  PluginAnswer out;
  out.token = status["token"].string();
  out.client_certificate_pem = status["clientCertificateData"].string();
  out.client_key_pem = status["clientKeyData"].string();
  if (out.client_certificate_pem.empty() != out.client_key_pem.empty())
    return denied(
        "expected status.clientCertificateData and status.clientKeyData together in its output");
  if (out.token.empty() && out.client_certificate_pem.empty())
    return denied("its output holds neither status.token nor status.clientCertificateData");
  if (out.token.find_first_of("\r\n") != std::string::npos)
    return denied("status.token of its output has several lines");
  if (!out.client_certificate_pem.empty()) {
    if (auto valid = check_certificate_now(out.client_certificate_pem); valid.has_error())
      return denied("status.clientCertificateData of its output: " + valid.error().message);
    if (auto pair = check_key_matches(out.client_certificate_pem, out.client_key_pem);
        pair.has_error())
      return denied("status.clientKeyData of its output: " + pair.error().message);
  }
  if (JsonView until = status["expirationTimestamp"]; until.given()) {
    out.expires = parse_rfc3339(until.string());
    if (!out.expires) return denied("status.expirationTimestamp of its output is no RFC 3339 time");
  }
  return out;
}

namespace {

// A pipe whose reading end never blocks.
struct Pipe {
  int read_end = -1, write_end = -1;
  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    return ::fcntl(read_end, F_SETFL, O_NONBLOCK) == 0;
  }
  void close_write() { close(write_end); }
  static void close(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
  ~Pipe() {
    close(read_end);
    close(write_end);
  }
};

// Whether a plugin gets this variable of ours (NAME=value): only those for paths, language, proxies
// and the API server of its Pod (client-go's InClusterConfig), because our environment may hold
// secrets of other programs.
bool passed_on(std::string_view variable) {
  constexpr std::array<std::string_view, 15> kNames{"PATH",
                                                    "HOME",
                                                    "USER",
                                                    "LANG",
                                                    "TMPDIR",
                                                    "HTTP_PROXY",
                                                    "HTTPS_PROXY",
                                                    "ALL_PROXY",
                                                    "NO_PROXY",
                                                    "http_proxy",
                                                    "https_proxy",
                                                    "all_proxy",
                                                    "no_proxy",
                                                    "KUBERNETES_SERVICE_HOST",
                                                    "KUBERNETES_SERVICE_PORT"};
  const std::string_view name = variable.substr(0, variable.find('='));
  return name.starts_with("LC_") || std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

class Run final : public PluginRun {
 public:
  Run(IoLoop& loop, ExecPlugin plugin, Duration time_max,
      std::function<void(Result<PluginAnswer>)> done)
      : loop_(loop),
        plugin_(std::move(plugin)),
        time_max_(time_max),
        ends_(loop.now() + time_max),
        done_(std::move(done)) {}
  ~Run() override { reap(); }

  void begin() {
    const int failed = spawn();
    output_.close_write();
    if (failed != 0) why_not_ = std::string("it cannot be started: ") + std::strerror(failed);
    // After a failed start, too: `done` is never called from within start().
    look_after(Duration{0});
  }

 private:
  int spawn() {
    if (!output_.open()) return errno;
    std::vector<std::string> words{plugin_.command};
    words.insert(words.end(), plugin_.args.begin(), plugin_.args.end());
    std::vector<std::string> variables = environment();
    const auto pointers = [](std::vector<std::string>& texts) {
      std::vector<char*> out;
      for (std::string& text : texts) out.push_back(text.data());
      out.push_back(nullptr);
      return out;
    };
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, output_.write_end, 1);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&files, 3);  // not our sockets, nor the log's files
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    // A group of its own, so that a kill reaches what the plugin has started.
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(
        &attributes,
        static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP));
    const int failed = ::posix_spawnp(&child_, plugin_.command.c_str(), &files, &attributes,
                                      pointers(words).data(), pointers(variables).data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0) child_ = -1;
    return failed;
  }

  // Our variables that a program needs, then the kubeconfig's, then KUBERNETES_EXEC_INFO; a later
  // one replaces an earlier one of its name.
  std::vector<std::string> environment() const {
    std::vector<std::string> out;
    const auto set = [&](const std::string& name, const std::string& value) {
      std::erase_if(out, [&](const std::string& had) { return had.starts_with(name + "="); });
      out.push_back(name + "=" + value);
    };
    for (char** one = environ; one != nullptr && *one != nullptr; ++one)
      if (passed_on(*one)) out.emplace_back(*one);
    for (const auto& [name, value] : plugin_.env) set(name, value);
    set("KUBERNETES_EXEC_INFO",
        R"({"apiVersion":")" + plugin_.api_version + R"(","kind":"ExecCredential","spec":{)" +
            (plugin_.cluster_info.empty() ? "" : "\"cluster\":" + plugin_.cluster_info + ",") +
            R"("interactive":false}})");
    return out;
  }

  void look_after(Duration span) {
    timer_ = loop_.after(span, [this] { look(); });
  }

  void look() {
    if (why_not_.empty()) {
      siginfo_t ended{};
      const int seen =
          ::waitid(P_PID, static_cast<id_t>(child_), &ended, WEXITED | WNOHANG | WNOWAIT);
      if (seen == 0 && ended.si_pid == child_) {
        // Programs that it left running would hold its output open. Kill before waitpid: until then
        // no other process can have its number, and no other group its group's.
        ::kill(-child_, SIGKILL);
        ::waitpid(child_, &ended_, 0);
        child_ = -1;
      }
      drain();
      if (why_not_.empty() && child_ > 0 && loop_.now() >= ends_)
        why_not_ = "it did not end within " + to_go_duration(time_max_);
      if (why_not_.empty() && child_ > 0) {
        pause_ = std::min(Duration{pause_.ns * 2}, kLookMax);
        return look_after(pause_);
      }
    }
    reap();
    finish();
  }

  void drain() {
    std::array<char, 16 * 1024> chunk;
    for (;;) {
      const ssize_t got = ::read(output_.read_end, chunk.data(), chunk.size());
      // No bytes yet (EAGAIN), or no writer any more.
      if (got <= 0) return;
      text_.append(chunk.data(), static_cast<std::size_t>(got));
      if (text_.size() <= kPluginOutputMax) continue;
      why_not_ = "it printed more than " + std::to_string(kPluginOutputMax) + " bytes";
      return;
    }
  }

  void reap() {
    // Also keeps kill() from -(-1), which is another process.
    if (child_ <= 0) return;
    ::kill(-child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);  // a killed process ends at once
    child_ = -1;
  }

  void finish() {
    if (why_not_.empty() && WIFSIGNALED(ended_))
      why_not_ = "it was ended by signal " + std::to_string(WTERMSIG(ended_));
    if (why_not_.empty() && WEXITSTATUS(ended_) != 0)
      why_not_ = "it ended with " + std::to_string(WEXITSTATUS(ended_));
    Result<PluginAnswer> answer = denied(why_not_);
    if (why_not_.empty()) answer = read_exec_credential(text_, plugin_.api_version);
    if (answer.has_error()) {
      std::string said = plugin_.origin + ": " + plugin_.command + ": " + answer.error().message +
                         " (its output is not shown, it may hold secrets)";
      if (!plugin_.install_hint.empty()) said += "; " + plugin_.install_hint;
      answer = denied(std::move(said));
    }
    auto done = std::move(done_);  // may destroy this
    done(std::move(answer));
  }

  IoLoop& loop_;
  const ExecPlugin plugin_;
  const Duration time_max_;
  const LogTime ends_;
  std::function<void(Result<PluginAnswer>)> done_;
  std::unique_ptr<IoLoop::Timer> timer_;
  Pipe output_;
  pid_t child_ = -1;
  int ended_ = 0;
  Duration pause_ = kLookFirst;
  std::string text_, why_not_;
};

}  // namespace

std::unique_ptr<PluginRun> PluginRun::start(IoLoop& loop, const ExecPlugin& plugin,
                                            Duration time_max,
                                            std::function<void(Result<PluginAnswer>)> done) {
  auto run = std::make_unique<Run>(loop, plugin, time_max, std::move(done));
  run->begin();
  return run;
}

}  // namespace fairlead
