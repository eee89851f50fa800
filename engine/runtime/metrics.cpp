#include "engine/runtime/metrics.h"

#include <string_view>

#include "engine/base/descriptors.h"
#include "engine/runtime/build_commit.h"
#include "engine/runtime/queue_use_text.h"

namespace fairlead {

namespace {

struct Page {
  std::string text;

  void name(std::string_view name, std::string_view type, std::string_view help) {
    text.append("# HELP ").append(name).append(" ").append(help).append("\n");
    text.append("# TYPE ").append(name).append(" ").append(type).append("\n");
  }
  void value(std::string_view name, const std::string& labels, const std::string& value) {
    text.append(name);
    if (!labels.empty()) text.append("{").append(labels).append("}");
    text.append(" ").append(value).append("\n");
  }
  void one(std::string_view metric, std::string_view type, std::string_view help,
           std::uint64_t number) {
    name(metric, type, help);
    value(metric, "", std::to_string(number));
  }
};

// Seconds with all digits: 1.000000005.
std::string in_seconds(Duration span) {
  std::string digits = std::to_string(span.ns);
  if (digits.size() < 10) digits.insert(0, 10 - digits.size(), '0');
  digits.insert(digits.size() - 9, ".");
  return digits;
}

// Escapes `value` all the same: label values are names of clusters, kinds and codes, but none may
// break the line.
std::string label(std::string_view key, std::string_view value) {
  std::string out(key);
  out += "=\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

// Seconds as short as they are: 0.0005, 1, 60.
std::string bound_in_seconds(Duration bound) {
  std::string digits = in_seconds(bound);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return digits;
}

void add_histogram(Page& page, const std::string& name, std::string_view help,
                   const Histogram& histogram) {
  page.name(name, "histogram", help);
  for (std::size_t i = 0; i < Histogram::kBounds.size(); ++i)
    page.value(name + "_bucket", label("le", bound_in_seconds(Histogram::kBounds.at(i))),
               std::to_string(histogram.up_to(i)));
  page.value(name + "_bucket", label("le", "+Inf"), std::to_string(histogram.count()));
  page.value(name + "_sum", "", in_seconds(histogram.sum()));
  page.value(name + "_count", "", std::to_string(histogram.count()));
}

void add_log(Page& page, const HubStats& hub) {
  constexpr std::string_view kIngest = "ingest_events_total";
  page.name(kIngest, "counter", "What streams said, by what became of it.");
  page.value(kIngest, label("outcome", "logged"), std::to_string(hub.ingest.logged));
  page.value(kIngest, label("outcome", "unchanged"), std::to_string(hub.ingest.unchanged));
  page.value(kIngest, label("outcome", "older"), std::to_string(hub.ingest.older));
  page.value(kIngest, label("outcome", "foreign"), std::to_string(hub.ingest.foreign));
  page.value(kIngest, label("outcome", "beyond_max"), std::to_string(hub.ingest.beyond_max));
  page.value(kIngest, label("outcome", "oversized"), std::to_string(hub.oversized));
  page.one("log_events", "gauge", "Seq of the last event of the log.", hub.seq.value);
  page.name("state_seq", "gauge", "Seq of the last event that is folded.");
  page.value("state_seq", "", std::to_string(hub.seq.value));
  page.name("fairlead_log_time_seconds", "gauge", "Time of the last event of the log.");
  page.value("fairlead_log_time_seconds", "", in_seconds({hub.log_time.ns}));
  add_histogram(page, "log_append_seconds",
                "Time spent in a group commit, or in the wait for the commits before.", hub.append);
  page.name("log_append_seconds_max", "gauge", "The longest of this process.");
  page.value("log_append_seconds_max", "", in_seconds(hub.append.longest()));
}

void add_writes(Page& page, const HubStats& hub) {
  page.one("fairlead_writes_planned_total", "counter", "Intents in the log.", hub.intents);
  page.one("fairlead_writes_recommended_total", "counter", "Writes printed instead of intended.",
           hub.recommendations);
  page.name("fairlead_writes_total", "counter", "Writes by outcome.");
  page.value("fairlead_writes_total", label("outcome", "accepted"), std::to_string(hub.accepted));
  page.value("fairlead_writes_total", label("outcome", "rejected"), std::to_string(hub.rejected));
  page.value("fairlead_writes_total", label("outcome", "unknown"), std::to_string(hub.unknown));
  page.one("fairlead_writes_waiting", "gauge", "Logged intents that are not sent yet.",
           hub.writes_waiting);
  page.one("fairlead_writes_under_way", "gauge", "Writes without an answer yet.",
           hub.writes_under_way);
  add_histogram(page, "fairlead_write_delay_seconds",
                "Time from a decision in the log to the API server's acceptance of its write.",
                hub.write_delay);
}

void add_claims(Page& page, const ClaimCounts& counts) {
  page.name("fairlead_claims", "gauge", "Claims by condition and its status.");
  for (const auto& [condition, claims] : counts.conditions)
    page.value("fairlead_claims",
               label("condition", condition.first) + "," + label("status", condition.second),
               std::to_string(claims));
  page.one("fairlead_overcommitted_pairs", "gauge",
           "Pairs of a claim and a queue's resource with more in use than is granted.",
           counts.overcommitted_pairs);
}

void add_pool(Page& page, const PoolCounts& counts) {
  constexpr std::string_view kWaiting = "fairlead_pool_waiting";
  page.name(kWaiting, "gauge", "Tenants' objects that lack something of the pool, by what.");
  for (const auto& [key, objects] : counts.waiting)
    page.value(kWaiting, label("kind", key.first) + "," + label("reason", key.second),
               std::to_string(objects));
}

void add_dispatch(Page& page, const DispatchCounts& counts) {
  page.name("fairlead_devices", "gauge", "Devices of clusters that are searched, by state.");
  for (const auto& [state, devices] : counts.devices)
    page.value("fairlead_devices", label("state", state), std::to_string(devices));
  page.name("fairlead_device_decisions", "gauge",
            "Workloads by the reason of their condition DevicesReserved.");
  for (const auto& [reason, workloads] : counts.decisions)
    page.value("fairlead_device_decisions", label("reason", reason), std::to_string(workloads));
  page.one("fairlead_device_reservations", "gauge", "Workloads with reserved devices.",
           counts.reservations);
  page.one("fairlead_device_reservations_broken", "gauge", "Of them, those that lost a device.",
           counts.broken);
  page.one("fairlead_device_search_steps_total", "counter", "Devices tried by searches.",
           counts.steps);
}

void add_queues(Page& page, const QueueCounts& counts) {
  page.name("fairlead_waiting_workloads", "gauge",
            "Workloads of the hub that wait, by ClusterQueue and by what they wait for.");
  for (const auto& [of, workloads] : counts.waiting)
    page.value("fairlead_waiting_workloads",
               label("cluster_queue", of.first) + "," + label("class", of.second),
               std::to_string(workloads));
  page.name("fairlead_queue_short_rows", "gauge",
            "Rows of claims that are granted less than they assign, by ClusterQueue.");
  for (const auto& [queue, rows] : counts.short_rows)
    page.value("fairlead_queue_short_rows", label("cluster_queue", queue), std::to_string(rows));
}

void add_machine(Page& page, const MachineStats& machine) {
  page.name("fairlead_build_info", "gauge",
            "1; the labels say which version runs, of which commit.");
  page.value("fairlead_build_info",
             label("version", FAIRLEAD_VERSION) + "," + label("commit", build_commit()), "1");
  page.one("process_resident_memory_bytes", "gauge", "Resident memory.", machine.resident_bytes);
  page.name("process_cpu_seconds_total", "counter", "User and system time.");
  page.value("process_cpu_seconds_total", "", in_seconds(machine.cpu));
  page.name("process_start_time_seconds", "gauge", "Start of the process, in seconds since 1970.");
  page.value("process_start_time_seconds", "", in_seconds(machine.started_at));
  page.one("process_open_fds", "gauge", "Open file descriptors.", machine.open_files);
  page.one("process_max_fds", "gauge", "Open file descriptors, at most.",
           descriptor_shares().limit);
  page.name("fairlead_data_bytes", "gauge", "Bytes in the data directory, by part.");
  for (const auto& [part, bytes] : machine.data_bytes)
    page.value("fairlead_data_bytes", label("part", part), std::to_string(bytes));
  page.one("fairlead_data_free_bytes", "gauge", "Bytes that are free on its disk.",
           machine.data_free_bytes);
}

void add_state(Page& page, const HubStats& hub) {
  page.name("workqueue_depth", "gauge", "Facts and answers that wait for the hub's thread.");
  page.value("workqueue_depth", label("name", "inbox"), std::to_string(hub.inbox));
  page.name("workqueue_depth_max", "gauge", "How many may wait before streams are slowed down.");
  page.value("workqueue_depth_max", label("name", "inbox"), std::to_string(hub.inbox_max));
  page.name("leader_election_master_status", "gauge", "1 if this process writes the log.");
  page.value("leader_election_master_status", label("name", "fairlead"),
             hub.role.role == HubRole::follower ? "0" : "1");
  page.one("fairlead_epoch", "gauge", "Term of this process.", hub.epoch.value);
  page.one("fairlead_planning", "gauge", "1 once every kind of the hub is known.",
           hub.planning ? 1 : 0);
  page.one("deadlines_pending", "gauge", "Internal deadlines of the fold.", hub.deadlines);
  page.one("fairlead_timers_fired_total", "counter", "Deadlines at which nothing else happened.",
           hub.timers);
  page.one("fairlead_snapshots_taken_total", "counter", "Snapshots of the folded state.",
           hub.snapshots);
  page.name("fairlead_objects", "gauge", "What State knows.");
  page.value("fairlead_objects", label("kind", "cluster"), std::to_string(hub.clusters));
  page.value("fairlead_objects", label("kind", "claim"), std::to_string(hub.claims));
  page.value("fairlead_objects", label("kind", "clusterqueue"), std::to_string(hub.queues));
  page.value("fairlead_objects", label("kind", "tenant"), std::to_string(hub.tenants));
  page.value("fairlead_objects", label("kind", "workload"), std::to_string(hub.workloads));
}

void add_replication(Page& page, const HubStats& hub) {
  const RoleStats& role = hub.role;
  if (role.store.empty()) return;
  page.one("fairlead_replication_lag_commits", "gauge",
           "Commits of the replicated log that are not here yet, as far as is known.",
           role.lag_commits);
  page.name("fairlead_replication_lag_seconds", "gauge",
            "For how long the replicated log has not come on; 0 while it does.");
  page.value("fairlead_replication_lag_seconds", "", in_seconds(role.lag));
  add_histogram(page, "fairlead_replication_commit_seconds",
                "From a commit to the answer that a majority has stored it.", hub.append);
  page.one("fairlead_replication_unknown_total", "counter",
           "Writes of a commit without an answer that decides.", role.counters.unknown);
  page.one("fairlead_replication_fenced_total", "counter",
           "Times that another leader had appended first.", role.counters.fenced);
  page.one("fairlead_replication_foreign_total", "counter",
           "Slots that somebody else had changed or deleted.", role.counters.foreign);
  page.one("fairlead_replication_went_back_total", "counter",
           "Times that the servers' history had gone back.", role.counters.went_back);
  page.name("fairlead_replication_paced_seconds_total", "counter",
            "Time in which a commit waited for its turn.");
  page.value("fairlead_replication_paced_seconds_total", "", in_seconds(role.paced));
  page.one("fairlead_replication_copies", "gauge",
           "Replicas inside the window, this one too; 0 where it does not lead.", role.copies);
  page.one("fairlead_replication_window_used", "gauge", "Slots of the window that were used.",
           std::min<std::uint64_t>(role.place.next, role.place.slots));
  page.one("fairlead_replication_pending_facts", "gauge",
           "Facts of streams that wait to be logged.", role.pending_facts);
}

void add_connections(Page& page, const std::vector<ConnectionStats>& connections) {
  page.name("rest_client_requests_total", "counter", "Requests to API servers by status code.");
  for (const ConnectionStats& connection : connections)
    for (const auto& [code, count] : connection.requests_by_code)
      page.value("rest_client_requests_total",
                 label("cluster", connection.source) + "," +
                     label("code", code == 0 ? "<error>" : std::to_string(code)),
                 std::to_string(count));
  page.name("watch_synced", "gauge", "1 where a kind was listed and is watched.");
  for (const ConnectionStats& connection : connections)
    for (const auto& [kind, synced] : connection.synced)
      page.value("watch_synced",
                 label("cluster", connection.source) + "," + label("kind", info(kind).name),
                 synced ? "1" : "0");
  page.name("watch_relists_total", "counter", "Lists forced by a broken stream.");
  for (const ConnectionStats& connection : connections)
    page.value("watch_relists_total", label("cluster", connection.source),
               std::to_string(connection.relists));
  page.name(
      "watch_overflows_total", "counter",
      "Times that a member or tenant had more objects of a kind than are read, or more changes of "
      "them.");
  for (const ConnectionStats& connection : connections)
    page.value("watch_overflows_total", label("cluster", connection.source),
               std::to_string(connection.overflows));
  page.name("watch_refused_objects_total", "counter",
            "Objects of Dynamic Resource Allocation that were ignored, because no API server "
            "would accept them.");
  for (const ConnectionStats& connection : connections)
    page.value("watch_refused_objects_total", label("cluster", connection.source),
               std::to_string(connection.refused));
}

void add_notices(Page& page, const HubStats& hub, const std::vector<ConnectionStats>& connections) {
  std::uint64_t lost = hub.notices_lost;
  for (const ConnectionStats& connection : connections) lost += connection.notices_lost;
  page.one("fairlead_notices_lost_total", "counter",
           "Kubernetes Events about claims that could not be sent.", lost);
}

void add_credentials(Page& page, const std::vector<ConnectionStats>& connections) {
  page.name("fairlead_credentials_usable", "gauge",
            "1 if there are credentials for the API server that have not expired.");
  for (const ConnectionStats& connection : connections)
    page.value("fairlead_credentials_usable", label("cluster", connection.source),
               connection.credentials_usable ? "1" : "0");
  page.name("fairlead_credentials_expire_time_seconds", "gauge",
            "When the client certificate or the plugin's answer expires, in seconds since 1970.");
  for (const ConnectionStats& connection : connections)
    if (connection.credentials_expire)
      page.value("fairlead_credentials_expire_time_seconds", label("cluster", connection.source),
                 std::to_string(connection.credentials_expire->ns / 1'000'000'000));
  page.name("fairlead_credentials_renewed_total", "counter", "Times that others came into use.");
  for (const ConnectionStats& connection : connections)
    page.value("fairlead_credentials_renewed_total", label("cluster", connection.source),
               std::to_string(connection.credential_renewals));
  constexpr std::string_view kPlugins = "rest_client_exec_plugin_call_total";
  page.name(kPlugins, "counter", "Runs of credential plugins.");
  for (const ConnectionStats& connection : connections) {
    const std::string cluster = label("cluster", connection.source) + ",";
    const std::uint64_t good = connection.plugin_calls - connection.plugin_failures;
    page.value(kPlugins, cluster + label("call_status", "no_error"), std::to_string(good));
    page.value(kPlugins, cluster + label("call_status", "plugin_execution_error"),
               std::to_string(connection.plugin_failures));
  }
}

void add_expiry(Page& page, std::string_view name, std::string_view help,
                std::optional<LogTime> end) {
  if (!end) return;
  page.name(name, "gauge", help);
  page.value(name, "", std::to_string(end->ns / 1'000'000'000));
}

void add_serving(Page& page, const ServingStats& serving) {
  add_expiry(page, "fairlead_serving_certificate_expire_time_seconds",
             "When the certificate of --listen-secure expires, in seconds since 1970.",
             serving.certificate_expires);
}

}  // namespace

std::string metrics_text(const HubStats& hub, const std::vector<ConnectionStats>& connections,
                         const MachineStats& machine, const ServingStats& serving) {
  Page page;
  add_log(page, hub);
  add_writes(page, hub);
  add_state(page, hub);
  add_replication(page, hub);
  add_claims(page, hub.claim_counts);
  add_pool(page, hub.pool_counts);
  add_dispatch(page, hub.dispatch_counts);
  static const std::vector<QueueCounter> kNoneCounted;
  page.text +=
      queue_use_text(hub.queue_use ? *hub.queue_use : kNoneCounted, MetricsForm::prometheus);
  add_queues(page, hub.queue_counts);
  add_connections(page, connections);
  add_notices(page, hub, connections);
  add_credentials(page, connections);
  add_machine(page, machine);
  add_serving(page, serving);
  return page.text;
}

std::string webhook_metrics_text(const WebhookStats& webhook,
                                 std::optional<LogTime> certificate_expires) {
  Page page;
  page.name("fairlead_webhook_requests_total", "counter",
            "Requests to the webhook, by the rule that objected and what became of it.");
  for (const auto& [of, count] : webhook.requests)
    page.value("fairlead_webhook_requests_total",
               label("rule", of.first) + "," + label("decision", of.second), std::to_string(count));
  add_histogram(page, "fairlead_webhook_seconds", "From a whole request to its answer.",
                webhook.took);
  page.one("fairlead_webhook_notes_lost_total", "counter",
           "Decisions that are missing from the log, because the hub was too far behind.",
           webhook.notes_lost);
  add_expiry(page, "fairlead_webhook_certificate_expire_time_seconds",
             "When the certificate of the webhook expires, in seconds since 1970.",
             certificate_expires);
  return page.text;
}

}  // namespace fairlead
