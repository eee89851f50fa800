#include "engine/log/pack_verification.h"

#include <utility>

#include "engine/log/hash_chain.h"
#include "engine/log/pack.h"
#include "schema/codec.h"

namespace fairlead {

PackVerification::PackVerification(const LogTail& base, Beside beside)
    : first_(next(base.last)), beside_(std::move(beside)), tail_(base) {}

bool PackVerification::fail(Seq at, std::string what) {
  verdict.broken_at = at;
  verdict.what = std::move(what);
  return false;
}

bool PackVerification::check_pack(std::string_view value) {
  const auto header = read_pack_header(value);
  if (!header) return fail(expected(), header.error().message);
  if (header->first != expected()) return fail(expected(), "the pack begins at another seq");
  if (header->previous != tail_.chain) return fail(expected(), "the hash chain does not continue");
  const auto unpacked = unpack(value, *header);
  if (!unpacked) return fail(expected(), unpacked.error().message);
  // The check of the header shows damage only. That the events were not exchanged follows from the
  // chain.
  if (extend_chain(tail_.chain, unpacked->records) != header->digest)
    return fail(expected(), "the events are not those that the hash chain names");
  tail_.chain = header->digest;
  for (const std::string_view record : unpacked->records)
    if (!check_record(record)) return false;
  return tail_.last_time == header->last_time ||
         fail(expected(), "the pack says another time than its events");
}

bool PackVerification::check_record(std::string_view record) {
  const auto event = decode(record);
  if (!event) return fail(expected(), event.error().message);
  if (std::string fault = fault_in_record(*event, record, expected(), tail_.last_time);
      !fault.empty())
    return fail(expected(), std::move(fault));
  if (beside_)
    if (std::string fault = beside_(*event); !fault.empty())
      return fail(expected(), std::move(fault));
  std::string& version = epochs_[event->epoch];
  if (const auto* started = std::get_if<EpochStarted>(&event->fact))
    version = started->program_version;
  tail_.last = event->seq;
  tail_.last_time = event->log_time;
  ++verdict.events;
  return true;
}

bool PackVerification::check_epochs(const std::map<Epoch, std::string>& listed) {
  for (const auto& [epoch, version] : epochs_) {
    const auto found = listed.find(epoch);
    // The start of an epoch may have been pruned: then only the list names its program.
    if (found == listed.end() || (!version.empty() && found->second != version))
      return fail(first_, "epoch " + std::to_string(epoch.value) + " is not listed as it started");
  }
  // Only epochs before the last seen one need events: a writer may have begun another meanwhile.
  for (const auto& [epoch, version] : listed)
    if (!epochs_.empty() && epoch < epochs_.rbegin()->first && !epochs_.contains(epoch))
      return fail(first_, "epoch " + std::to_string(epoch.value) + " is listed but has no event");
  return true;
}

}  // namespace fairlead
