// Our identity at one API server, kept current while we run.
//
// Credentials change under a running process: a kubelet rotates a token, a certificate is renewed
// before it expires, an exec plugin gives credentials for a quarter of an hour. Files are checked
// again (by inode, size and time, then read), plugins are run again before their answer expires and
// after a 401, and every request gets the current identity, or the reason why there is none. A
// failing plugin is run again with growing pauses, so that it does not load the machine.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connectors/kube/access/exec_plugin.h"
#include "connectors/kube/access/kubeconfig.h"
#include "connectors/kube/transport/io_loop.h"
#include "connectors/kube/watch/diagnostic_line.h"

namespace fairlead {

struct ConnectionTarget;

/// What a request needs: the target of connections, how they are secured, and the bearer token.
struct Identity {
  std::shared_ptr<const ConnectionTarget> target;
  std::string token;
};

/// For metrics and for an operator.
struct CredentialStats {
  bool usable = false;             ///< requests can be made
  std::optional<LogTime> expires;  ///< of the client certificate or the plugin's answer, since 1970
  std::uint64_t renewals = 0;      ///< times that other credentials came into use
  std::uint64_t plugin_calls = 0;
  std::uint64_t plugin_failures = 0;
};

/// Callbacks of identities, on the loop's thread; each may be empty.
struct CredentialEvents {
  DiagnosticSink log;  ///< logs a line, once for each problem
  std::function<void(const CredentialStats&)> stats;
  std::function<void()> moved;  ///< another address: the observed objects may be another server's
};

/// Intervals of identities.
struct CredentialTimes {
  Duration files_every = seconds(10);   ///< between checks of files
  Duration plugin_pause = seconds(10);  ///< between runs that a 401 asks for, and after a failure
  Duration plugin_pause_max = minutes(5);  ///< after failures in a row
  Duration plugin_time_max = kPluginTimeMax;
};

/// The identity at one API server. On the loop's thread only, but for make().
class Identities {
 public:
  /// Makes them of `credentials`. Fails with `bad_input` if certificates or keys cannot be used.
  /// `loop` outlives them.
  static Result<std::unique_ptr<Identities>> make(IoLoop& loop, Credentials credentials,
                                                  CredentialTimes times, CredentialEvents events);
  /// Makes them before there are credentials: ask() gives `why`, until `read_again` (may be empty;
  /// called as often as files are checked) or replace() brings some.
  static std::unique_ptr<Identities> waiting(IoLoop& loop, Error why,
                                             std::function<Result<Credentials>()> read_again,
                                             CredentialTimes times, CredentialEvents events);
  ~Identities();
  Identities(const Identities&) = delete;
  Identities& operator=(const Identities&) = delete;

  using Given = std::function<void(Result<Identity>)>;
  /// Gives the current identity: at once, or when the plugin has answered. `denied`: there is none
  /// at present, so nothing may be sent.
  void ask(Given given);
  /// The server answered `used` with 401: gives another identity, or the same one if there is no
  /// other yet.
  void refused(const Identity& used, Given given);
  /// Replaces the credentials, or removes them for the reason given.
  void replace(Result<Credentials> credentials);
  /// Sets the callback for a new target: open connections then have to be closed.
  void on_new_target(std::function<void()> callback) { new_target_ = std::move(callback); }
  /// Fails every pending ask() with `why` and kills the plugin.
  void stop(const std::string& why);

 private:
  // What is known of the exec plugin's runs.
  struct PluginUse {
    std::unique_ptr<PluginRun> run;  // under way
    bool answered = false;           // it gave what is in use
    bool wanted = false;             // a 401 asks for another answer
    LogTime opens{};                 // no run before, on the loop's clock
    std::optional<LogTime> renew;    // wall clock
    std::optional<LogTime> expires;  // of its answer, wall clock
    int failures = 0;                // in a row
    std::optional<Error> failure;    // the last run's
  };

  Identities(IoLoop& loop, CredentialTimes times, CredentialEvents events);
  Result<void> adopt(Credentials credentials);
  Result<void> aim(const std::string& certificate, const std::string& key);
  void look_at_files(LogTime now);
  std::string signature() const;
  bool plugin_due(LogTime now) const;
  void run_plugin();
  void plugin_answered(Result<PluginAnswer> answer);
  Result<Identity> present();
  void log_problem(const std::string& problem);
  void publish_usable();
  void publish_unusable();
  void publish(CredentialStats now);

  IoLoop& loop_;
  const CredentialTimes times_;
  CredentialEvents events_;
  std::function<void()> new_target_;

  std::optional<Error> none_;                        // why there are no credentials
  std::function<Result<Credentials>()> read_again_;  // while there are none
  Credentials credentials_;
  std::shared_ptr<const ConnectionTarget> target_;
  std::string token_;
  std::string certificate_origin_;
  std::optional<LogTime> certificate_end_;

  LogTime files_seen_{};  // on the loop's clock; 0: never
  std::string signature_;

  PluginUse plugin_;
  std::vector<Given> waiting_;

  std::string last_problem_;
  CredentialStats stats_;
};

}  // namespace fairlead
