#include "connectors/kube/access/exec_plugin.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "connectors/kube/access/identity.h"
#include "connectors/kube/document/json_document.h"

using namespace fairlead;

namespace {

constexpr const char* kV1 = "client.authentication.k8s.io/v1";

// A plugin that is a shell script, and the loop that looks after it.
class Plugins {
 public:
  Plugins() { std::filesystem::create_directories(folder_); }
  ~Plugins() {
    loop.stop();
    std::filesystem::remove_all(folder_);
  }
  ExecPlugin script(const std::string& text) const {
    const std::string path = file("plugin-" + std::to_string(++count_));
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    ExecPlugin plugin;
    plugin.api_version = kV1;
    plugin.command = path;
    plugin.origin = "conf: users[u].exec";
    return plugin;
  }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  std::string content(const std::string& name) const {
    std::ifstream in(file(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  Result<PluginAnswer> run(const ExecPlugin& plugin, Duration time_max = seconds(20)) {
    std::promise<Result<PluginAnswer>> answered;
    std::unique_ptr<PluginRun> run;
    loop.run([&] {
      run = PluginRun::start(loop, plugin, time_max, [&](Result<PluginAnswer> answer) {
        answered.set_value(std::move(answer));
      });
    });
    auto answer = answered.get_future().get();
    loop.run([&] { run.reset(); });
    return answer;
  }
  std::string why_not(const ExecPlugin& plugin, Duration time_max = seconds(20)) {
    auto answer = run(plugin, time_max);
    REQUIRE(answer.has_error());
    CHECK(answer.error().code == ErrorCode::denied);
    return answer.error().message;
  }

  IoLoop loop;

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("fairlead-plugins-" + std::to_string(::getpid()));
  mutable int count_ = 0;
};

std::string credential(const std::string& status, const std::string& version = kV1) {
  return R"({"kind":"ExecCredential","apiVersion":")" + version + R"(","status":{)" + status + "}}";
}

std::string print(const std::string& text) { return "cat <<'END'\n" + text + "\nEND"; }

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("what a plugin answers is read strictly, and never quoted") {
  auto good = read_exec_credential(
      credential(R"("token":"hush","expirationTimestamp":"2026-01-01T00:00:00Z")"), kV1);
  REQUIRE(good.has_value());
  CHECK(good->token == "hush");
  CHECK(good->expires == parse_rfc3339("2026-01-01T00:00:00Z"));
  const auto why = [](const std::string& text) {
    auto read = read_exec_credential(text, kV1);
    REQUIRE(read.has_error());
    CHECK_FALSE(contains(read.error().message, "hush"));
    return read.error().message;
  };
  CHECK(contains(why("hush"), "no JSON"));
  CHECK(contains(why(R"({"kind":"Status","hush":1})"), "expected kind ExecCredential"));
  CHECK(contains(why(credential(R"("token":"hush")", "client.authentication.k8s.io/v1beta1")),
                 "expected apiVersion"));
  CHECK(contains(why(credential("")), "neither status.token nor"));
  CHECK(contains(why(credential(R"("token":"a\nhush")")), "several lines"));
  CHECK(contains(why(credential(R"("clientKeyData":"hush")")), "together"));
  CHECK(contains(why(credential(R"("clientKeyData":"hush","clientCertificateData":"hush")")),
                 "status.clientCertificateData"));
  CHECK(contains(why(credential(R"("token":"t","expirationTimestamp":"hush")")), "RFC 3339"));
}

TEST_CASE("a plugin runs without a shell and is given what it needs") {
  Plugins plugins;
  ExecPlugin plugin = plugins.script(
      "printf '%s|' \"$@\" > " + plugins.file("args") +
      "\nprintf '%s' \"$KUBERNETES_EXEC_INFO\" > " + plugins.file("info") +
      "\nprintf '%s' \"$EXTRA\" > " + plugins.file("extra") + "\nls -l /proc/$$/fd > " +
      plugins.file("open") + "\n" + print(credential(R"("token":"t")")));
  int ends[2] = {-1, -1};
  struct stat ours{};
  REQUIRE(::pipe(ends) == 0);
  REQUIRE(::fstat(ends[0], &ours) == 0);
  plugin.args = {"one", "$(touch " + plugins.file("pwned") + ")", "two words"};
  plugin.env = {{"EXTRA", "value"}};
  plugin.cluster_info = R"({"server":"https://hub:6443"})";
  auto answer = plugins.run(plugin);
  REQUIRE(answer.has_value());
  CHECK(answer->token == "t");
  CHECK_FALSE(answer->expires.has_value());
  CHECK(plugins.content("args") == "one|$(touch " + plugins.file("pwned") + ")|two words|");
  CHECK_FALSE(std::filesystem::exists(plugins.file("pwned")));
  CHECK(plugins.content("extra") == "value");
  CHECK(plugins.content("info") ==
        R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",)"
        R"("spec":{"cluster":{"server":"https://hub:6443"},"interactive":false}})");
  // What we have open is not its, even if it is not marked so.
  const std::string open = plugins.content("open");
  CHECK(contains(open, "/dev/null"));
  CHECK_FALSE(contains(open, "pipe:[" + std::to_string(ours.st_ino) + "]"));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("a plugin gets the variables that programs need, and no other of ours") {
  Plugins plugins;
  ::setenv("FAIRLEAD_TEST_SECRET", "hush", 1);
  ::setenv("HTTPS_PROXY", "http://proxy:3128", 1);
  ::setenv("LC_TIME", "C", 1);
  ::setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
  ExecPlugin plugin =
      plugins.script("env > " + plugins.file("env") + "\n" + print(credential(R"("token":"t")")));
  plugin.env = {{"AWS_PROFILE", "hub"}, {"HOME", "/elsewhere"}};
  CHECK(plugins.run(plugin).has_value());
  for (const char* name :
       {"FAIRLEAD_TEST_SECRET", "HTTPS_PROXY", "LC_TIME", "KUBERNETES_SERVICE_HOST"})
    ::unsetenv(name);
  const std::string env = "\n" + plugins.content("env");
  CHECK_FALSE(contains(env, "hush"));
  CHECK(contains(env, std::string("\nPATH=") + ::getenv("PATH") + "\n"));
  CHECK(contains(env, "\nHTTPS_PROXY=http://proxy:3128\n"));
  CHECK(contains(env, "\nLC_TIME=C\n"));
  CHECK(contains(env, "\nKUBERNETES_SERVICE_HOST=10.0.0.1\n"));
  CHECK(contains(env, "\nAWS_PROFILE=hub\n"));
  CHECK(contains(env, "\nHOME=/elsewhere\n"));
  CHECK(contains(env, "\nKUBERNETES_EXEC_INFO={"));
}

TEST_CASE("a plugin that fails says how, with its hint, and not what it printed") {
  Plugins plugins;
  ExecPlugin plugin = plugins.script("echo hush; echo hush >&2; exit 7");
  plugin.install_hint = "get it at example.com";
  const std::string failed = plugins.why_not(plugin);
  CHECK(failed.find("conf: users[u].exec: " + plugin.command + ": it ended with 7") == 0);
  CHECK(failed.ends_with("; get it at example.com"));
  CHECK_FALSE(contains(failed, "hush"));
  CHECK(contains(plugins.why_not(plugins.script("kill -9 $$")), "ended by signal 9"));
  CHECK(contains(plugins.why_not(plugins.script("echo no")), "it printed no JSON"));
  CHECK(contains(plugins.why_not(plugins.script("head -c 3000000 /dev/zero")), "more than"));
  plugin.command = plugins.file("none");
  CHECK(contains(plugins.why_not(plugin), "it cannot be started: No such file or directory"));
}

TEST_CASE("a plugin that does not end is killed with all that it started") {
  Plugins plugins;
  ExecPlugin plugin = plugins.script("sleep 600 & echo $! > " + plugins.file("pid") + "; wait");
  CHECK(contains(plugins.why_not(plugin, milliseconds(500)), "it did not end within 500ms"));
  const auto gone = [&] {
    const int pid = std::stoi(plugins.content("pid"));
    for (int i = 0; i < 1000; ++i) {
      // A killed orphan may be a zombie for a moment.
      std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
      std::string text(std::istreambuf_iterator<char>(stat), {});
      if (text.empty() || contains(text, ") Z ")) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  };
  CHECK(gone());
  // What it leaves in the background neither holds its output open nor survives it.
  std::filesystem::remove(plugins.file("pid"));
  CHECK(plugins
            .run(plugins.script("sleep 600 & echo $! > " + plugins.file("pid") + "\n" +
                                print(credential(R"("token":"t")"))))
            .has_value());
  CHECK(gone());
  // No caller waits for it any more.
  std::filesystem::remove(plugins.file("pid"));
  std::unique_ptr<PluginRun> run;
  plugins.loop.run([&] {
    run = PluginRun::start(plugins.loop, plugin, seconds(60), [](Result<PluginAnswer>) {});
  });
  for (int i = 0; i < 2000 && !contains(plugins.content("pid"), "\n"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  plugins.loop.run([&] { run.reset(); });
  CHECK(gone());
}

namespace {

// Identities of a plugin's credentials, asked from the test's thread.
class Asked {
 public:
  Asked(Plugins& plugins, Credentials credentials, CredentialTimes times) : loop_(plugins.loop) {
    CredentialEvents events;
    events.log = [this](const DiagnosticLine& line) { said.push_back(line.text); };
    events.stats = [this](const CredentialStats& now) { stats = now; };
    auto made = Identities::make(loop_, std::move(credentials), times, std::move(events));
    REQUIRE(made.has_value());
    identities = std::move(*made);
  }
  ~Asked() {
    loop_.run([&] { identities.reset(); });
  }
  Result<Identity> ask() {
    return wait([&](auto given) { identities->ask(std::move(given)); });
  }
  Result<Identity> refused(const Identity& used) {
    return wait([&](auto given) { identities->refused(used, std::move(given)); });
  }

  std::unique_ptr<Identities> identities;
  std::vector<std::string> said;  // read after a question
  CredentialStats stats;

 private:
  template <class Question>
  Result<Identity> wait(Question question) {
    std::promise<Result<Identity>> given;
    loop_.post([&] { question([&](Result<Identity> it) { given.set_value(std::move(it)); }); });
    return given.get_future().get();
  }
  IoLoop& loop_;
};

Credentials of_plugin(const ExecPlugin& plugin) {
  Credentials out;
  out.server = {false, "127.0.0.1", "1", ""};
  out.exec = plugin;
  return out;
}

std::string from_now(int seconds_from_now) {
  const auto at = std::chrono::system_clock::now() + std::chrono::seconds(seconds_from_now);
  return to_rfc3339({std::chrono::nanoseconds(at.time_since_epoch()).count()});
}

// Prints a token that counts how often it ran; `status` are more fields.
std::string counting(const Plugins& plugins, const std::string& more) {
  return "echo x >> " + plugins.file("runs") + "\nruns=$(wc -l < " + plugins.file("runs") +
         ")\ncat <<END\n" + credential("\"token\":\"t$runs\"" + more) + "\nEND";
}

}  // namespace

TEST_CASE("a plugin is asked once, then again before its answer expires and after a 401") {
  Plugins plugins;
  CredentialTimes times;
  times.plugin_pause = Duration{0};
  Asked asked(plugins, of_plugin(plugins.script(counting(plugins, ""))), times);
  auto first = asked.ask();
  REQUIRE(first.has_value());
  CHECK(first->token == "t1");
  CHECK(asked.ask()->token == "t1");
  auto other = asked.refused(*first);
  CHECK(other->token == "t2");
  CHECK(asked.refused(*first)->token == "t2");  // renewed already
  CHECK(asked.stats.plugin_calls == 2);
  CHECK(asked.stats.usable);

  Asked patient(plugins, of_plugin(plugins.script(counting(plugins, ""))), {});
  auto held = patient.ask();
  CHECK(patient.refused(*held)->token == held->token);  // it has just answered: no hot circle
  CHECK(patient.stats.plugin_calls == 1);

  // A fifth of its life before the end it is time for another.
  Asked brief(plugins,
              of_plugin(plugins.script(
                  counting(plugins, R"(,"expirationTimestamp":")" + from_now(3) + "\""))),
              times);
  const std::string token = brief.ask()->token;
  std::string next = token;
  for (int i = 0; i < 100 && next == token; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    auto now = brief.ask();
    next = now.has_value() ? now->token : "expired";
  }
  CHECK(next != token);
  CHECK(brief.stats.expires.has_value());
}

TEST_CASE("credentials that move to another server keep neither target nor answer of a plugin") {
  Plugins plugins;
  Credentials credentials = of_plugin(plugins.script(counting(plugins, "")));
  Asked asked(plugins, credentials, {});
  const auto first = asked.ask();
  REQUIRE(first.has_value());
  const auto adopt = [&] { plugins.loop.run([&] { asked.identities->replace(credentials); }); };
  adopt();  // nothing changed
  CHECK(asked.ask()->target == first->target);
  CHECK(asked.stats.plugin_calls == 1);
  credentials.server.port = "2";
  adopt();
  const auto moved = asked.ask();
  REQUIRE(moved.has_value());
  CHECK(moved->target != first->target);
  CHECK(moved->token == "t2");
}

TEST_CASE("a file that changed after it was read and before it was adopted is read again") {
  Plugins plugins;
  Credentials credentials;
  credentials.server = {false, "127.0.0.1", "1", ""};
  credentials.token = "former";
  credentials.files = {plugins.file("token")};
  credentials.reread = [&] {
    Credentials again = credentials;
    again.token = plugins.content("token");
    return Result<Credentials>(again);
  };
  std::ofstream(plugins.file("token")) << "rotated";
  CredentialTimes times;
  times.files_every = Duration{0};
  Asked asked(plugins, credentials, times);
  CHECK(asked.ask()->token == "rotated");
  std::ofstream(plugins.file("token")) << "rotated again";
  CHECK(asked.ask()->token == "rotated again");
}

TEST_CASE("a plugin that fails is reported once and not run in a tight loop") {
  Plugins plugins;
  const std::string script = "echo x >> " + plugins.file("runs") + "\nexit 3";
  Asked asked(plugins, of_plugin(plugins.script(script)), {});
  for (int i = 0; i < 5; ++i) {
    auto none = asked.ask();
    REQUIRE(none.has_error());
    CHECK(none.error().code == ErrorCode::denied);
  }
  CHECK(plugins.content("runs") == "x\n");
  CHECK(asked.said.size() == 1);
  CHECK(contains(asked.said.at(0), "it ended with 3"));
  CHECK_FALSE(asked.stats.usable);
  CHECK(asked.stats.plugin_failures == 1);
  Asked late(plugins,
             of_plugin(plugins.script(
                 print(credential(R"("token":"t","expirationTimestamp":"2020-01-01T00:00:00Z")")))),
             {});
  CHECK(contains(late.ask().error().message, "gave credentials that expired at 2020-01-01"));
}

TEST_CASE("files are read again when they change, and a pair that does not fit is waited for") {
  Plugins plugins;
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(plugins.file(name)) << text;
  };
  write("token", "one");
  write("config",
        R"({"current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],
    "clusters":[{"name":"c","cluster":{"server":"https://127.0.0.1:1"}}],
    "users":[{"name":"u","user":{"tokenFile":"token"}}]})");
  CredentialTimes times;
  times.files_every = Duration{0};
  Asked asked(plugins, *load_kubeconfig(plugins.file("config"), {}), times);
  auto first = asked.ask();
  CHECK(first->token == "one");
  write("token", "second");
  auto second = asked.ask();
  CHECK(second->token == "second");
  CHECK(second->target == first->target);  // connections stay
  CHECK(asked.stats.renewals == 1);
  std::filesystem::remove(plugins.file("token"));
  CHECK(asked.ask()->token == "second");  // what was good is used
  CHECK(asked.said.size() == 1);
  CHECK(contains(asked.said.at(0), "tokenFile"));
  write("token", "third");
  CHECK(asked.ask()->token == "third");
  CHECK(asked.said.back() == "credentials: good again");

  std::string moved = plugins.content("config");
  moved.replace(moved.find("127.0.0.1"), 9, "localhost");
  write("config", moved);
  CHECK(asked.ask()->target != first->target);
}

TEST_CASE("credentials come and go from outside") {
  Plugins plugins;
  std::vector<std::string> said;
  CredentialEvents events;
  events.log = [&](const DiagnosticLine& line) { said.push_back(line.text); };
  auto identities = Identities::waiting(plugins.loop, {ErrorCode::denied, "waiting for Secret a/b"},
                                        nullptr, {}, events);
  const auto ask = [&] {
    Result<Identity> out = Error{};
    plugins.loop.run([&] { identities->ask([&](Result<Identity> it) { out = std::move(it); }); });
    return out;
  };
  CHECK(ask().error().message == "waiting for Secret a/b");
  Credentials good = of_plugin({});
  good.exec.reset();
  good.token = "t";
  plugins.loop.run([&] { identities->replace(good); });
  CHECK(ask()->token == "t");
  plugins.loop.run([&] { identities->replace(Error{ErrorCode::bad_input, "Secret a/b is gone"}); });
  auto none = ask();
  CHECK(none.error() == Error{ErrorCode::denied, "Secret a/b is gone"});
  CHECK(said == std::vector<std::string>{"credentials: waiting for Secret a/b",
                                         "credentials: Secret a/b is gone"});
  plugins.loop.run([&] { identities.reset(); });
}

TEST_CASE("a request that waits for a plugin is answered when other credentials come") {
  Plugins plugins;
  auto made = Identities::make(plugins.loop, of_plugin(plugins.script("sleep 60")), {}, {});
  REQUIRE(made.has_value());
  std::unique_ptr<Identities> identities = std::move(*made);
  std::optional<Result<Identity>> given;
  plugins.loop.run([&] { identities->ask([&](Result<Identity> it) { given = std::move(it); }); });
  CHECK_FALSE(given);
  Credentials token = of_plugin({});
  token.exec.reset();
  token.token = "t";
  plugins.loop.run([&] { identities->replace(token); });
  REQUIRE(given);
  REQUIRE(given->has_value());
  CHECK((*given)->token == "t");
  plugins.loop.run([&] { identities.reset(); });
}
