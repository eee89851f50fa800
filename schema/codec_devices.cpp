// Encodes and decodes the facts and settings of Dynamic Resource Allocation.
#include "schema/codec_parts.h"

namespace fairlead::stored {

static_assert(static_cast<unsigned>(value::NodeReachKind::devices) ==
              static_cast<unsigned>(NodeReach::ReachKind::DEVICES));
static_assert(static_cast<unsigned>(value::AllocationMode::unknown) ==
              static_cast<unsigned>(DeviceAsk::AllocationMode::UNKNOWN));
static_assert(static_cast<unsigned>(value::DeviceSourceKind::capacity) ==
              static_cast<unsigned>(Configuration::DeviceSourceKind::CAPACITY));
static_assert(static_cast<unsigned>(value::DraPolicy::spread) ==
              static_cast<unsigned>(Configuration::DraPolicy::SPREAD));
constexpr unsigned kReachKindCount = 5;
constexpr unsigned kAllocationModeCount = 3;

// ---- quantities: their canonical text ----

static value::Quantity quantity_of(std::string_view text) {
  const auto quantity = value::Quantity::parse(text);
  // Only canonical texts of quantities are written, so one that does not parse is damage.
  if (!quantity) throw Malformed{"a quantity is malformed: " + std::string(text)};
  return *quantity;
}
static std::optional<value::Quantity> optional_quantity_of(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(quantity_of(text));
}
template <class Builder>
static void put(Builder out, void (Builder::*set)(capnp::Text::Reader),
                const std::optional<value::Quantity>& quantity) {
  if (quantity) put(out, set, quantity->text());
}

static void write(const std::pair<const std::string, value::Quantity>& named,
                  TextPair::Builder out) {
  put(out, &TextPair::Builder::setKey, named.first);
  put(out, &TextPair::Builder::setValue, named.second.text());
}
static std::map<std::string, value::Quantity> read_quantities(capnp::List<TextPair>::Reader list) {
  std::map<std::string, value::Quantity> quantities;
  for (const auto& [name, text] : read_map(list))
    quantities.emplace_hint(quantities.end(), name, quantity_of(text));
  return quantities;
}

// ---- which nodes ----

static void write(const value::NodeRequirement& requirement, NodeRequirement::Builder out) {
  using Out = NodeRequirement::Builder;
  put(out, &Out::setKey, requirement.key);
  put(out, &Out::setOp, requirement.op);
  put_texts(out, &Out::initValues, requirement.values);
}
static value::NodeRequirement read(NodeRequirement::Reader in) {
  return {read(in.getKey()), read(in.getOp()), read_texts(in.getValues())};
}

static void write(const value::NodeSelectorTerm& term, NodeSelectorTerm::Builder out) {
  put_list(out, &NodeSelectorTerm::Builder::initExpressions, term.expressions);
  put_list(out, &NodeSelectorTerm::Builder::initFields, term.fields);
}
static value::NodeSelectorTerm read(NodeSelectorTerm::Reader in) {
  return {read_list(in.getExpressions()), read_list(in.getFields())};
}

static void write(const value::NodeReach& reach, NodeReach::Builder out) {
  out.setKind(static_cast<NodeReach::ReachKind>(reach.kind));
  put(out, &NodeReach::Builder::setNode, reach.node);
  put_list(out, &NodeReach::Builder::initTerms, reach.selector.terms);
}
static value::NodeReach read(NodeReach::Reader in) {
  return {read_enum<value::NodeReachKind>(in.getKind(), kReachKindCount, "a reach of nodes"),
          read(in.getNode()),
          {read_list(in.getTerms())}};
}

// ---- devices ----

static void write(const value::CounterSet& set, CounterSet::Builder out) {
  put(out, &CounterSet::Builder::setName, set.name);
  put_list(out, &CounterSet::Builder::initCounters, set.counters);
}
static value::CounterSet read(CounterSet::Reader in) {
  return {read(in.getName()), read_quantities(in.getCounters())};
}

static void write(const value::CapacityPolicy& policy, CapacityPolicy::Builder out) {
  using Out = CapacityPolicy::Builder;
  put(out, &Out::setStandard, policy.standard);
  std::vector<std::string> values;
  for (const value::Quantity& value : policy.values) values.push_back(value.text());
  put_texts(out, &Out::initValues, values);
  put(out, &Out::setMin, policy.min);
  put(out, &Out::setMax, policy.max);
  put(out, &Out::setStep, policy.step);
}
static value::CapacityPolicy read(CapacityPolicy::Reader in) {
  value::CapacityPolicy policy;
  policy.standard = optional_quantity_of(view(in.getStandard()));
  for (const auto text : in.getValues()) policy.values.push_back(quantity_of(view(text)));
  policy.min = optional_quantity_of(view(in.getMin()));
  policy.max = optional_quantity_of(view(in.getMax()));
  policy.step = optional_quantity_of(view(in.getStep()));
  return policy;
}

static void write(const value::DeviceCapacity& capacity, DeviceCapacity::Builder out) {
  put(out, &DeviceCapacity::Builder::setName, capacity.name);
  put(out, &DeviceCapacity::Builder::setValue, capacity.value.text());
  if (capacity.policy) write(*capacity.policy, out.initPolicy());
}
static value::DeviceCapacity read(DeviceCapacity::Reader in) {
  value::DeviceCapacity capacity{read(in.getName()), quantity_of(view(in.getValue())), {}};
  if (in.hasPolicy()) capacity.policy = read(in.getPolicy());
  return capacity;
}

static void write(const value::DeviceExtras& extras, DeviceExtras::Builder out) {
  if (extras.reach != value::NodeReach{}) write(extras.reach, out.initReach());
  put_list(out, &DeviceExtras::Builder::initTaints, extras.taints);
  put_list(out, &DeviceExtras::Builder::initConsumes, extras.consumes);
  out.setShared(extras.shared);
  out.setBinds(extras.binds);
}
static value::DeviceExtras read(DeviceExtras::Reader in) {
  return {read(in.getReach()), read_list(in.getTaints()), read_list(in.getConsumes()),
          in.getShared(), in.getBinds()};
}

static void write(const value::DeviceFacts& device, Device::Builder out) {
  put(out, &Device::Builder::setName, device.name);
  put_packed(out, &Device::Builder::setAttributes, device.attributes);
  put_list(out, &Device::Builder::initCapacity, device.capacity);
  if (device.extras) write(*device.extras, out.initExtras());
}
static value::DeviceFacts read(Device::Reader in) {
  value::DeviceFacts device{read(in.getName()),
                            read_packed_bytes<value::DeviceAttributes>(in.getAttributes()),
                            read_list(in.getCapacity()),
                            {}};
  if (in.hasExtras()) device.extras = read(in.getExtras());
  return device;
}

void write(const value::ResourceSliceFacts& slice, ResourceSlice::Builder out) {
  using Out = ResourceSlice::Builder;
  put(out, &Out::setDriver, slice.driver);
  put(out, &Out::setPool, slice.pool);
  out.setGeneration(slice.generation);
  out.setSliceCount(slice.slice_count);
  if (slice.reach != value::NodeReach{}) write(slice.reach, out.initReach());
  put_list(out, &Out::initDevices, slice.devices);
  put_list(out, &Out::initCounters, slice.counters);
}
value::ResourceSliceFacts read(ResourceSlice::Reader in) {
  return {read(in.getDriver()),       read(in.getPool()),  in.getGeneration(),
          in.getSliceCount(),         read(in.getReach()), read_list(in.getDevices()),
          read_list(in.getCounters())};
}

void write(const value::DeviceTaintRuleFacts& rule, DeviceTaintRule::Builder out) {
  out.setSelects(rule.selects);
  if (rule.driver) write(*rule.driver, out.initDriver());
  if (rule.pool) write(*rule.pool, out.initPool());
  if (rule.device) write(*rule.device, out.initDevice());
  write(rule.taint, out.initTaint());
}
value::DeviceTaintRuleFacts read(DeviceTaintRule::Reader in) {
  return {in.getSelects(), read(in.getDriver()), read(in.getPool()), read(in.getDevice()),
          read(in.getTaint())};
}

// ---- requests ----

static void write(const value::DeviceSelector& selector, DeviceSelector::Builder out) {
  if (selector.cel) write(*selector.cel, out.initCel());
}
static value::DeviceSelector read(DeviceSelector::Reader in) { return {read(in.getCel())}; }

void write(const value::DeviceClassFacts& of, DeviceClass::Builder out) {
  put_list(out, &DeviceClass::Builder::initSelectors, of.selectors);
  put(out, &DeviceClass::Builder::setExtendedResource, of.extended_resource);
  out.setCreated(of.created);
}
value::DeviceClassFacts read(DeviceClass::Reader in) {
  return {read_list(in.getSelectors()), read(in.getExtendedResource()), in.getCreated()};
}

static void write(const value::DeviceAsk& ask, DeviceAsk::Builder out) {
  using Out = DeviceAsk::Builder;
  put(out, &Out::setName, ask.name);
  put(out, &Out::setDeviceClass, ask.device_class);
  put_list(out, &Out::initSelectors, ask.selectors);
  out.setMode(static_cast<DeviceAsk::AllocationMode>(ask.mode));
  out.setCount(ask.count);
  out.setAdmin(ask.admin);
  put_list(out, &Out::initTolerations, ask.tolerations);
  put_list(out, &Out::initCapacity, ask.capacity);
}
static value::DeviceAsk read(DeviceAsk::Reader in) {
  return {
      read(in.getName()),
      read(in.getDeviceClass()),
      read_list(in.getSelectors()),
      read_enum<value::AllocationMode>(in.getMode(), kAllocationModeCount, "an allocation mode"),
      in.getCount(),
      in.getAdmin(),
      read_list(in.getTolerations()),
      read_quantities(in.getCapacity())};
}

static void write(const value::DeviceRequest& request, DeviceRequest::Builder out) {
  put(out, &DeviceRequest::Builder::setName, request.name);
  out.setAlternatives(request.alternatives);
  put_list(out, &DeviceRequest::Builder::initAsks, request.asks);
}
static value::DeviceRequest read(DeviceRequest::Reader in) {
  return {read(in.getName()), in.getAlternatives(), read_list(in.getAsks())};
}

static void write(const value::DeviceConstraint& constraint, DeviceConstraint::Builder out) {
  put_texts(out, &DeviceConstraint::Builder::initRequests, constraint.requests);
  put(out, &DeviceConstraint::Builder::setMatch, constraint.match);
  put(out, &DeviceConstraint::Builder::setDistinct, constraint.distinct);
}
static value::DeviceConstraint read(DeviceConstraint::Reader in) {
  return {read_texts(in.getRequests()), read(in.getMatch()), read(in.getDistinct())};
}

static void write(const value::DeviceClaimSpec& spec, DeviceClaimSpec::Builder out) {
  put_list(out, &DeviceClaimSpec::Builder::initRequests, spec.requests);
  put_list(out, &DeviceClaimSpec::Builder::initConstraints, spec.constraints);
}
static value::DeviceClaimSpec read(DeviceClaimSpec::Reader in) {
  return {read_list(in.getRequests()), read_list(in.getConstraints())};
}

void write(const value::ResourceClaimTemplateFacts& of, ResourceClaimTemplate::Builder out) {
  write(of.spec, out.initSpec());
}
value::ResourceClaimTemplateFacts read(ResourceClaimTemplate::Reader in) {
  return {read(in.getSpec())};
}

static void write(const value::AllocatedDevice& device, AllocatedDevice::Builder out) {
  using Out = AllocatedDevice::Builder;
  put(out, &Out::setRequest, device.request);
  put(out, &Out::setDriver, device.driver);
  put(out, &Out::setPool, device.pool);
  put(out, &Out::setDevice, device.device);
  out.setAdmin(device.admin);
  put(out, &Out::setShare, device.share);
  put_list(out, &Out::initConsumed, device.consumed);
}
static value::AllocatedDevice read(AllocatedDevice::Reader in) {
  return {read(in.getRequest()),
          read(in.getDriver()),
          read(in.getPool()),
          read(in.getDevice()),
          in.getAdmin(),
          read(in.getShare()),
          read_quantities(in.getConsumed())};
}

void write(const value::ClaimConsumer& consumer, ClaimConsumer::Builder out) {
  using Out = ClaimConsumer::Builder;
  put(out, &Out::setApiGroup, consumer.api_group);
  put(out, &Out::setResource, consumer.resource);
  put(out, &Out::setName, consumer.name);
  put(out, &Out::setUid, consumer.uid);
}
value::ClaimConsumer read(ClaimConsumer::Reader in) {
  return {read(in.getApiGroup()), read(in.getResource()), read(in.getName()), read(in.getUid())};
}

void write(const value::ResourceClaimFacts& claim, ResourceClaim::Builder out) {
  using Out = ResourceClaim::Builder;
  write(claim.spec, out.initSpec());
  if (claim.allocation) {
    // An allocation without devices differs from none, and its selector without terms from no
    // selector: hence the two flags.
    out.setAllocated(true);
    put_list(out, &Out::initDevices, claim.allocation->devices);
    out.setSelected(claim.allocation->selector.has_value());
    if (claim.allocation->selector)
      put_list(out, &Out::initNodeTerms, claim.allocation->selector->terms);
  }
  put_list(out, &Out::initReservedFor, claim.reserved_for);
  put_texts(out, &Out::initPodOwners, claim.pod_owners);
  put(out, &Out::setPodClaim, claim.pod_claim);
  out.setExtended(claim.extended);
  out.setDeleting(claim.deleting);
}
value::ResourceClaimFacts read(ResourceClaim::Reader in) {
  value::ResourceClaimFacts claim;
  claim.spec = read(in.getSpec());
  if (in.getAllocated()) {
    claim.allocation.emplace().devices = read_list(in.getDevices());
    if (in.getSelected())
      claim.allocation->selector = value::NodeSelector{read_list(in.getNodeTerms())};
  }
  claim.reserved_for = read_list(in.getReservedFor());
  claim.pod_owners = read_texts(in.getPodOwners());
  claim.pod_claim = read(in.getPodClaim());
  claim.extended = in.getExtended();
  claim.deleting = in.getDeleting();
  return claim;
}

// ---- pods ----

void write(const value::PodClaim& claim, PodClaim::Builder out) {
  put(out, &PodClaim::Builder::setName, claim.name);
  put(out, &PodClaim::Builder::setClaim, claim.claim);
  put(out, &PodClaim::Builder::setTemplate, claim.template_);
}
value::PodClaim read(PodClaim::Reader in) {
  return {read(in.getName()), read(in.getClaim()), read(in.getTemplate())};
}

void write(const value::PodDeviceFacts& pod, PodDevices::Builder out) {
  using Out = PodDevices::Builder;
  put_list(out, &Out::initClaims, pod.claims);
  put_list(out, &Out::initExtended, pod.extended);
  put_list(out, &Out::initNodeSelector, pod.node_selector);
  out.setAffine(pod.affinity.has_value());
  if (pod.affinity) put_list(out, &Out::initNodeTerms, pod.affinity->terms);
  put_list(out, &Out::initTolerations, pod.tolerations);
}
value::PodDeviceFacts read(PodDevices::Reader in) {
  value::PodDeviceFacts pod;
  pod.claims = read_list(in.getClaims());
  pod.extended = read_map(in.getExtended());
  pod.node_selector = read_map(in.getNodeSelector());
  if (in.getAffine()) pod.affinity = value::NodeSelector{read_list(in.getNodeTerms())};
  pod.tolerations = read_list(in.getTolerations());
  return pod;
}

// ---- settings ----

static void write(const value::DeviceSource& source, Configuration::DeviceSource::Builder out) {
  using Out = Configuration::DeviceSource::Builder;
  out.setKind(static_cast<Configuration::DeviceSourceKind>(source.kind));
  put(out, &Out::setName, source.name);
  put(out, &Out::setDriver, source.driver);
  put(out, &Out::setExpression, source.expression);
}
static value::DeviceSource read(Configuration::DeviceSource::Reader in) {
  return {read_enum<value::DeviceSourceKind>(in.getKind(), 2, "a source of devices"),
          read(in.getName()), read(in.getDriver()), read(in.getExpression())};
}

static void write(const value::DeviceClassMapping& mapping,
                  Configuration::DeviceClassMapping::Builder out) {
  using Out = Configuration::DeviceClassMapping::Builder;
  put(out, &Out::setName, mapping.name);
  put_texts(out, &Out::initDeviceClassNames, mapping.device_class_names);
  put_list(out, &Out::initSources, mapping.sources);
}
static value::DeviceClassMapping read(Configuration::DeviceClassMapping::Reader in) {
  return {read(in.getName()), read_texts(in.getDeviceClassNames()), read_list(in.getSources())};
}

void write(const value::DraSettings& settings, Configuration::Dra::Builder out) {
  out.setQuota(settings.quota);
  out.setDispatch(settings.dispatch);
  out.setFleetClaims(settings.fleet_claims);
  put_list(out, &Configuration::Dra::Builder::initDeviceClassMappings,
           settings.device_class_mappings);
  out.setPolicy(static_cast<Configuration::DraPolicy>(settings.policy));
  out.setPoolHold(settings.pool_hold.ns);
  out.setAdmitTimeout(settings.admit_timeout.ns);
  out.setPlaceTimeout(settings.place_timeout.ns);
  out.setStepsMax(settings.steps_max);
}
value::DraSettings read(Configuration::Dra::Reader in) {
  return {.quota = in.getQuota(),
          .dispatch = in.getDispatch(),
          .fleet_claims = in.getFleetClaims(),
          .device_class_mappings = read_list(in.getDeviceClassMappings()),
          .policy = read_enum<value::DraPolicy>(in.getPolicy(), 3, "a policy of devices"),
          .pool_hold = {in.getPoolHold()},
          .admit_timeout = {in.getAdmitTimeout()},
          .place_timeout = {in.getPlaceTimeout()},
          .steps_max = in.getStepsMax()};
}

}  // namespace fairlead::stored
