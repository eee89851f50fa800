// Encodes and decodes the facts of fleet claims.
#include "schema/codec_parts.h"

namespace fairlead::stored {

static void write(const value::FleetParameters& parameters, FleetParameters::Builder out) {
  using Out = FleetParameters::Builder;
  put(out, &Out::setApiGroup, parameters.api_group);
  put(out, &Out::setKind, parameters.kind);
  put(out, &Out::setName, parameters.name);
}
static value::FleetParameters read(FleetParameters::Reader in) {
  return {read(in.getApiGroup()), read(in.getKind()), read(in.getName())};
}

static void write(const value::FleetClaimSpec& spec, FleetClaimSpec::Builder out) {
  put(out, &FleetClaimSpec::Builder::setResourceClass, spec.resource_class);
  if (spec.parameters != value::FleetParameters{}) write(spec.parameters, out.initParameters());
  out.setImmediate(spec.immediate);
}
static value::FleetClaimSpec read(FleetClaimSpec::Reader in) {
  return {read(in.getResourceClass()), read(in.getParameters()), in.getImmediate()};
}

void write(const value::FleetResourceClassFacts& of, FleetResourceClass::Builder out) {
  put(out, &FleetResourceClass::Builder::setDriver, of.driver);
  if (of.parameters != value::FleetParameters{}) write(of.parameters, out.initParameters());
  out.setBounded(of.suitable.has_value());
  if (of.suitable) put_texts(out, &FleetResourceClass::Builder::initSuitable, *of.suitable);
}
value::FleetResourceClassFacts read(FleetResourceClass::Reader in) {
  value::FleetResourceClassFacts of{read(in.getDriver()), read(in.getParameters()), {}};
  if (in.getBounded()) of.suitable = read_texts(in.getSuitable());
  return of;
}

static void write(const value::FleetAllocation& allocation, FleetAllocation::Builder out) {
  out.setBounded(allocation.clusters.has_value());
  if (allocation.clusters)
    put_texts(out, &FleetAllocation::Builder::initClusters, *allocation.clusters);
  out.setShareable(allocation.shareable);
  out.setBooking(allocation.booked.has_value());
  if (allocation.booked) put_texts(out, &FleetAllocation::Builder::initBooked, *allocation.booked);
}
static value::FleetAllocation read(FleetAllocation::Reader in) {
  value::FleetAllocation allocation;
  if (in.getBounded()) allocation.clusters = read_texts(in.getClusters());
  allocation.shareable = in.getShareable();
  if (in.getBooking()) allocation.booked = read_texts(in.getBooked());
  return allocation;
}

void write(const value::FleetResourceClaimFacts& claim, FleetResourceClaim::Builder out) {
  using Out = FleetResourceClaim::Builder;
  write(claim.spec, out.initSpec());
  put(out, &Out::setDriver, claim.driver);
  out.setAllocated(claim.allocation.has_value());
  if (claim.allocation) write(*claim.allocation, out.initAllocation());
  put_list(out, &Out::initReservedFor, claim.reserved_for);
  out.setDeallocationRequested(claim.deallocation_requested);
  put_texts(out, &Out::initWorkloadOwners, claim.workload_owners);
  out.setCreated(claim.created.ns);
  out.setDeleting(claim.deleting);
}
value::FleetResourceClaimFacts read(FleetResourceClaim::Reader in) {
  value::FleetResourceClaimFacts claim;
  claim.spec = read(in.getSpec());
  claim.driver = read(in.getDriver());
  if (in.getAllocated()) claim.allocation = read(in.getAllocation());
  claim.reserved_for = read_list(in.getReservedFor());
  claim.deallocation_requested = in.getDeallocationRequested();
  claim.workload_owners = read_texts(in.getWorkloadOwners());
  claim.created = {in.getCreated()};
  claim.deleting = in.getDeleting();
  return claim;
}

void write(const value::FleetResourceClaimTemplateFacts& of,
           FleetResourceClaimTemplate::Builder out) {
  put_list(out, &FleetResourceClaimTemplate::Builder::initLabels, of.labels);
  put_list(out, &FleetResourceClaimTemplate::Builder::initAnnotations, of.annotations);
  write(of.spec, out.initSpec());
}
value::FleetResourceClaimTemplateFacts read(FleetResourceClaimTemplate::Reader in) {
  return {read_map(in.getLabels()), read_map(in.getAnnotations()), read(in.getSpec())};
}

static void write(const std::pair<const std::string, std::vector<std::string>>& of,
                  FleetUnsuitable::Builder out) {
  put(out, &FleetUnsuitable::Builder::setEntry, of.first);
  put_texts(out, &FleetUnsuitable::Builder::initClusters, of.second);
}
static std::pair<std::string, std::vector<std::string>> read(FleetUnsuitable::Reader in) {
  return {read(in.getEntry()), read_texts(in.getClusters())};
}

void write(const value::FleetSchedulingFacts& scheduling, FleetScheduling::Builder out) {
  using Out = FleetScheduling::Builder;
  put_texts(out, &Out::initPotential, scheduling.potential);
  put(out, &Out::setSelected, scheduling.selected);
  put_list(out, &Out::initUnsuitable, scheduling.unsuitable);
  put_texts(out, &Out::initWorkloadOwners, scheduling.workload_owners);
}
value::FleetSchedulingFacts read(FleetScheduling::Reader in) {
  return {read_texts(in.getPotential()), read(in.getSelected()), read_map(in.getUnsuitable()),
          read_texts(in.getWorkloadOwners())};
}

}  // namespace fairlead::stored
