#include "engine/main/service/dev_hub.h"

#include <utility>

namespace fairlead {

namespace {

// A logger for warnings and errors only: the account on the terminal has the rest.
Logger logger_above_info() {
  return [logger = stderr_logger()](const Diagnostic& diagnostic) {
    if (diagnostic.severity != Severity::info) logger(diagnostic);
  };
}

}  // namespace

DevHub::DevHub(EventLog& log, const std::filesystem::path& data, ScaledClock& clock)
    : clock_(clock),
      logger_(logger_above_info()),
      inbox_(kInboxFactsMax),
      connections_(inbox_, logger_, std::make_shared<AccessProviders>()),
      snapshots_(data),
      replica_(log, clock, {"fairlead-dev", WriteMode::apply, &snapshots_}, logger_),
      leader_(replica_) {}

DevHub::~DevHub() { (void)stop(); }

Result<std::unique_ptr<DevHub>> DevHub::start(EventLog& log, const std::filesystem::path& data,
                                              ScaledClock& clock, const std::string& kubeconfig,
                                              const Configuration& configuration) {
  std::unique_ptr<DevHub> hub(new DevHub(log, data, clock));
  if (auto begun = hub->begin(kubeconfig, configuration); !begun) return begun.error();
  return hub;
}

Result<void> DevHub::begin(const std::string& kubeconfig, const Configuration& configuration) {
  auto credentials = load_kubeconfig(kubeconfig, {});
  if (!credentials) return credentials.error();
  if (auto folded = replica_.fold({}); !folded) return folded;
  if (auto begun = leader_.begin(configuration); !begun) return begun;
  if (auto connected = connections_.connect_hub(std::move(*credentials), configuration); !connected)
    return connected;
  HubPorts ports;
  ports.sink_of = [this](const std::string& cluster) { return connections_.sink_of(cluster); };
  ports.absent_kinds = [this] { return connections_.absent_kinds(); };
  ports.read_configuration = [this] {
    const std::lock_guard lock(mutex_);
    return std::exchange(wanted_, std::nullopt);
  };
  ports.recommend = [](const Recommendation&) {};
  ports.follow = [this](const Configuration& followed, const Watch& watch) {
    connections_.follow(followed, watch);
  };
  ports.notify = [this](const Notice& notice) { connections_.notify(notice, "fairlead-dev"); };
  ports.on_the_machine = [this](Duration span) { return clock_.on_the_machine(span); };
  loop_ = std::make_unique<HubLoop>(leader_, inbox_, status_, std::move(ports));
  running_ = true;
  thread_ = std::thread([this] {
    ended_ = loop_->run();
    running_ = false;
  });
  return {};
}

void DevHub::reconfigure(Configuration configuration) {
  const std::lock_guard lock(mutex_);
  wanted_ = std::move(configuration);
  inbox_.ask_for_configuration();
}

Result<void> DevHub::stop() {
  if (thread_.joinable()) {
    inbox_.ask_to_stop();
    thread_.join();
  }
  inbox_.close();
  connections_.stop();
  return ended_;
}

}  // namespace fairlead
