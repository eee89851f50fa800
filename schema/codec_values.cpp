// Encodes and decodes the small values that many records share, and the configuration.
#include <cstring>

#include "schema/codec_parts.h"

namespace fairlead::stored {

constexpr unsigned kCapacitySourceCount = 3;
constexpr unsigned kMemberModeCount = 4;
constexpr unsigned kRuleActionCount = 3;
static_assert(static_cast<unsigned>(value::AdmissionRule::cluster_in_use) ==
              static_cast<unsigned>(AdmissionRule::CLUSTER_IN_USE));
static_assert(static_cast<unsigned>(value::RuleAction::off) ==
              static_cast<unsigned>(RuleSetting::Action::OFF));
static_assert(static_cast<unsigned>(value::CapacitySource::managed_cluster) ==
              static_cast<unsigned>(Configuration::CapacitySource::MANAGED_CLUSTER));
static_assert(static_cast<unsigned>(value::MemberMode::none) ==
              static_cast<unsigned>(Configuration::MemberMode::NONE));

static void write(const value::MemberKubeconfig& member,
                  Configuration::MemberKubeconfig::Builder out) {
  using Out = Configuration::MemberKubeconfig::Builder;
  put(out, &Out::setCluster, member.cluster);
  put(out, &Out::setSecretRef, member.secret_ref);
  put(out, &Out::setFile, member.file);
  put(out, &Out::setClusterProfile, member.cluster_profile);
}
static value::MemberKubeconfig read(Configuration::MemberKubeconfig::Reader in) {
  return {read(in.getCluster()), read(in.getSecretRef()), read(in.getFile()),
          read(in.getClusterProfile())};
}

static void write(const value::DebounceSettings& settings, Configuration::Debounce::Builder out) {
  out.setIngestCoalesce(settings.ingest_coalesce.ns);
  out.setShrinkWindow(settings.shrink_window.ns);
  out.setGrowWindow(settings.grow_window.ns);
  out.setFirstQuiet(settings.first_quiet.ns);
  out.setMinGrowInterval(settings.min_grow_interval.ns);
  out.setGrowDeadbandPercent(settings.grow_deadband_percent);
  out.setDeadbandMaxAge(settings.deadband_max_age.ns);
  out.setFlapPenalty(settings.flap_penalty);
  out.setFlapSuppress(settings.flap_suppress);
  out.setFlapReuse(settings.flap_reuse);
  out.setFlapHalfLife(settings.flap_half_life.ns);
  out.setFlapSuppressMax(settings.flap_suppress_max.ns);
  out.setMassShrinkPercent(settings.mass_shrink_percent);
  out.setMassShrinkHold(settings.mass_shrink_hold.ns);
  out.setStaleAfter(settings.stale_after.ns);
  out.setLostAfter(settings.lost_after.ns);
  out.setWriteInterval(settings.write_interval.ns);
}
static value::DebounceSettings read(Configuration::Debounce::Reader in) {
  return {.ingest_coalesce = {in.getIngestCoalesce()},
          .shrink_window = {in.getShrinkWindow()},
          .grow_window = {in.getGrowWindow()},
          .first_quiet = {in.getFirstQuiet()},
          .min_grow_interval = {in.getMinGrowInterval()},
          .grow_deadband_percent = in.getGrowDeadbandPercent(),
          .deadband_max_age = {in.getDeadbandMaxAge()},
          .flap_penalty = in.getFlapPenalty(),
          .flap_suppress = in.getFlapSuppress(),
          .flap_reuse = in.getFlapReuse(),
          .flap_half_life = {in.getFlapHalfLife()},
          .flap_suppress_max = {in.getFlapSuppressMax()},
          .mass_shrink_percent = in.getMassShrinkPercent(),
          .mass_shrink_hold = {in.getMassShrinkHold()},
          .stale_after = {in.getStaleAfter()},
          .lost_after = {in.getLostAfter()},
          .write_interval = {in.getWriteInterval()}};
}

static void write(const value::MultiKueueSettings& settings,
                  Configuration::MultiKueue::Builder out) {
  using Out = Configuration::MultiKueue::Builder;
  put(out, &Out::setProfile, settings.profile);
  out.setSettle(settings.settle.ns);
  out.setMoveWindow(settings.move_window.ns);
  out.setDrainTimeout(settings.drain_timeout.ns);
  out.setEmptyGrace(settings.empty_grace.ns);
  out.setCredentialGrace(settings.credential_grace.ns);
  out.setAdoptOcmAddon(settings.adopt_ocm_addon);
  put_texts(out, &Out::initAccessProviders, settings.access_providers);
  out.setDispatcher(settings.dispatcher);
  put(out, &Out::setClearedBy, settings.cleared_by);
}
static value::MultiKueueSettings read(Configuration::MultiKueue::Reader in) {
  return {.profile = read(in.getProfile()),
          .settle = {in.getSettle()},
          .move_window = {in.getMoveWindow()},
          .drain_timeout = {in.getDrainTimeout()},
          .empty_grace = {in.getEmptyGrace()},
          .credential_grace = {in.getCredentialGrace()},
          .adopt_ocm_addon = in.getAdoptOcmAddon(),
          .access_providers = read_texts(in.getAccessProviders()),
          .dispatcher = in.getDispatcher(),
          .cleared_by = read(in.getClearedBy())};
}

Digest read_digest(capnp::Data::Reader bytes) {
  Digest digest;
  if (bytes.size() == 0) return digest;
  if (bytes.size() != digest.bytes.size())
    throw Malformed{"a digest has " + std::to_string(bytes.size()) + " bytes"};
  std::copy(bytes.begin(), bytes.end(), digest.bytes.begin());
  return digest;
}

// A switch, so that the compiler asks for a new kind.
static constexpr bool is_stored_by_its_value(value::Kind kind) {
  const auto stored = static_cast<Kind>(kind);
  switch (kind) {
    case value::Kind::node: return stored == Kind::NODE;
    case value::Kind::cluster_metrics: return stored == Kind::CLUSTER_METRICS;
    case value::Kind::managed_cluster: return stored == Kind::MANAGED_CLUSTER;
    case value::Kind::cluster_profile: return stored == Kind::CLUSTER_PROFILE;
    case value::Kind::resource_flavor: return stored == Kind::RESOURCE_FLAVOR;
    case value::Kind::cluster_queue: return stored == Kind::CLUSTER_QUEUE;
    case value::Kind::local_queue: return stored == Kind::LOCAL_QUEUE;
    case value::Kind::admission_check: return stored == Kind::ADMISSION_CHECK;
    case value::Kind::multikueue_config: return stored == Kind::MULTIKUEUE_CONFIG;
    case value::Kind::manifest_work: return stored == Kind::MANIFEST_WORK;
    case value::Kind::claim: return stored == Kind::CLAIM;
    case value::Kind::multikueue_cluster: return stored == Kind::MULTIKUEUE_CLUSTER;
    case value::Kind::placement: return stored == Kind::PLACEMENT;
    case value::Kind::placement_decision: return stored == Kind::PLACEMENT_DECISION;
    case value::Kind::addon_placement_score: return stored == Kind::ADDON_PLACEMENT_SCORE;
    case value::Kind::workload: return stored == Kind::WORKLOAD;
    case value::Kind::secret: return stored == Kind::SECRET;
    case value::Kind::custom_resource_definition: return stored == Kind::CUSTOM_RESOURCE_DEFINITION;
    case value::Kind::binding_policy: return stored == Kind::BINDING_POLICY;
    case value::Kind::cohort: return stored == Kind::COHORT;
    case value::Kind::mutating_admission_policy: return stored == Kind::MUTATING_ADMISSION_POLICY;
    case value::Kind::virtual_cluster: return stored == Kind::VIRTUAL_CLUSTER;
    case value::Kind::namespace_: return stored == Kind::NAMESPACE;
    case value::Kind::resource_quota: return stored == Kind::RESOURCE_QUOTA;
    case value::Kind::pod: return stored == Kind::POD;
    case value::Kind::config_map: return stored == Kind::CONFIG_MAP;
    case value::Kind::resource_slice: return stored == Kind::RESOURCE_SLICE;
    case value::Kind::device_class: return stored == Kind::DEVICE_CLASS;
    case value::Kind::resource_claim: return stored == Kind::RESOURCE_CLAIM;
    case value::Kind::resource_claim_template: return stored == Kind::RESOURCE_CLAIM_TEMPLATE;
    case value::Kind::device_taint_rule: return stored == Kind::DEVICE_TAINT_RULE;
    case value::Kind::fleet_resource_class: return stored == Kind::FLEET_RESOURCE_CLASS;
    case value::Kind::fleet_resource_claim: return stored == Kind::FLEET_RESOURCE_CLAIM;
    case value::Kind::fleet_resource_claim_template:
      return stored == Kind::FLEET_RESOURCE_CLAIM_TEMPLATE;
    case value::Kind::fleet_scheduling: return stored == Kind::FLEET_SCHEDULING;
    case value::Kind::topology: return stored == Kind::TOPOLOGY;
  }
  return false;
}
static_assert([] {
  for (std::size_t i = 0; i < kKindCount; ++i)
    if (kKinds[i].kind != static_cast<value::Kind>(i) || !is_stored_by_its_value(kKinds[i].kind))
      return false;
  return true;
}());

value::Kind read(Kind kind) { return read_enum<value::Kind>(kind, kKindCount, "a kind"); }
value::AdmissionRule read(AdmissionRule rule) {
  return read_enum<value::AdmissionRule>(rule, value::kAdmissionRules.size(), "an admission rule");
}

static void write(const std::pair<const value::AdmissionRule, value::RuleAction>& setting,
                  RuleSetting::Builder out) {
  out.setRule(static_cast<AdmissionRule>(setting.first));
  out.setAction(static_cast<RuleSetting::Action>(setting.second));
}
static std::map<value::AdmissionRule, value::RuleAction> read_rules(
    capnp::List<RuleSetting>::Reader list) {
  std::map<value::AdmissionRule, value::RuleAction> rules;
  for (const auto setting : list) {
    const value::AdmissionRule rule = read(setting.getRule());
    if (!rules.empty() && rules.rbegin()->first >= rule)
      throw Malformed{"the rules of the webhook are not sorted"};
    rules.emplace_hint(rules.end(), rule,
                       read_enum<value::RuleAction>(setting.getAction(), kRuleActionCount,
                                                    "the action of a rule"));
  }
  return rules;
}

std::vector<std::string> read_texts(capnp::List<capnp::Text>::Reader list) {
  std::vector<std::string> texts;
  texts.reserve(list.size());
  for (const auto text : list) texts.push_back(read(text));
  return texts;
}

// Copies bytewise, because views need not end with the NUL that a Text::Reader requires.
static void fill(capnp::Text::Builder out, std::string_view text) {
  std::memcpy(out.begin(), text.data(), text.size());
}
void write(const std::pair<std::string_view, std::string_view>& pair, TextPair::Builder out) {
  if (!pair.first.empty()) fill(out.initKey(static_cast<unsigned>(pair.first.size())), pair.first);
  if (!pair.second.empty())
    fill(out.initValue(static_cast<unsigned>(pair.second.size())), pair.second);
}
void write(const std::pair<std::string_view, std::int64_t>& pair, AmountPair::Builder out) {
  if (!pair.first.empty()) fill(out.initKey(static_cast<unsigned>(pair.first.size())), pair.first);
  out.setValue(pair.second);
}
void write(const std::pair<const std::string, std::string>& pair, TextPair::Builder out) {
  put(out, &TextPair::Builder::setKey, pair.first);
  put(out, &TextPair::Builder::setValue, pair.second);
}
void write(const std::pair<const std::string, std::int64_t>& pair, AmountPair::Builder out) {
  put(out, &AmountPair::Builder::setKey, pair.first);
  out.setValue(pair.second);
}
std::pair<std::string, std::string> read(TextPair::Reader pair) {
  return {read(pair.getKey()), read(pair.getValue())};
}
std::pair<std::string, std::int64_t> read(AmountPair::Reader pair) {
  return {read(pair.getKey()), pair.getValue()};
}

void write(const value::ObjectKey& key, ObjectKey::Builder out) {
  out.setKind(static_cast<Kind>(key.kind));
  put(out, &ObjectKey::Builder::setNamespace, key.namespace_);
  put(out, &ObjectKey::Builder::setName, key.name);
}
value::ObjectKey read(ObjectKey::Reader in) {
  return {read(in.getKind()), read(in.getNamespace()), read(in.getName())};
}

void write(const value::Configuration& configuration, Configuration::Builder out) {
  using Out = Configuration::Builder;
  put(out, &Out::setKueueNamespace, configuration.kueue_namespace);
  put_list(out, &Out::initResourceAliases, configuration.resource_aliases);
  const auto& sources = configuration.capacity_sources;
  if (!sources.empty()) {
    auto list = out.initCapacitySources(static_cast<unsigned>(sources.size()));
    for (unsigned i = 0; i < list.size(); ++i)
      list.set(i, static_cast<Configuration::CapacitySource>(sources[i]));
  }
  put_list(out, &Out::initHeadroomPercent, configuration.headroom.percent);
  put_list(out, &Out::initHeadroomReserved, configuration.headroom.reserved);
  out.setOverbookPercent(configuration.overbook_percent);
  out.setCreateClaims(configuration.create_claims);
  out.setMemberMode(static_cast<Configuration::MemberMode>(configuration.member_mode));
  put_list(out, &Out::initMemberKubeconfigs, configuration.member_kubeconfigs);
  write(configuration.debounce, out.initDebounce());
  write(configuration.multikueue, out.initMultikueue());
  out.setInflightMax(configuration.writes.inflight_max);
  out.setQps(configuration.writes.qps);
  out.setBurst(configuration.writes.burst);
  out.setSnapshotEvery(configuration.snapshot_every);
  out.setRawRetention(configuration.raw_retention.ns);
  out.setClaimStatusInterval(configuration.status_interval.ns);
  out.setMemberNodesMax(configuration.member_nodes_max);
  out.setMemberChangesPerMinute(configuration.member_changes_per_minute);
  put_list(out, &Out::initWebhookRules, configuration.webhook_rules);
  out.setRecord(configuration.record);
  out.setExportBeforeUpgrade(configuration.export_before_upgrade);
  // Left out while they are as before: a configuration without them has the bytes that it always
  // had.
  if (configuration.pool != value::PoolSettings{}) write(configuration.pool, out.initPool());
  if (configuration.dra != value::DraSettings{}) write(configuration.dra, out.initDra());
}

value::Configuration read(Configuration::Reader in) {
  value::Configuration configuration;
  configuration.kueue_namespace = read(in.getKueueNamespace());
  configuration.resource_aliases = read_map(in.getResourceAliases());
  // The default is not empty, and the record holds all sources that were in force.
  configuration.capacity_sources.clear();
  for (const auto source : in.getCapacitySources())
    configuration.capacity_sources.push_back(
        read_enum<value::CapacitySource>(source, kCapacitySourceCount, "a capacity source"));
  configuration.headroom = {read_map(in.getHeadroomPercent()), read_map(in.getHeadroomReserved())};
  configuration.overbook_percent = in.getOverbookPercent();
  configuration.create_claims = in.getCreateClaims();
  configuration.member_mode =
      read_enum<value::MemberMode>(in.getMemberMode(), kMemberModeCount, "a member mode");
  configuration.member_kubeconfigs = read_list(in.getMemberKubeconfigs());
  configuration.debounce = read(in.getDebounce());
  configuration.multikueue = read(in.getMultikueue());
  configuration.writes = {in.getInflightMax(), in.getQps(), in.getBurst()};
  configuration.snapshot_every = in.getSnapshotEvery();
  configuration.raw_retention = {in.getRawRetention()};
  configuration.status_interval = {in.getClaimStatusInterval()};
  configuration.member_nodes_max = in.getMemberNodesMax();
  configuration.member_changes_per_minute = in.getMemberChangesPerMinute();
  configuration.webhook_rules = read_rules(in.getWebhookRules());
  configuration.record = in.getRecord();
  configuration.export_before_upgrade = in.getExportBeforeUpgrade();
  // Records of programs before the pool or the devices lack these structs. Absent, they would read
  // as zeros, which are not the defaults of their settings.
  if (in.hasPool()) configuration.pool = read(in.getPool());
  if (in.hasDra()) configuration.dra = read(in.getDra());
  return configuration;
}

}  // namespace fairlead::stored
