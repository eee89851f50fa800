#include "schema/codec.h"

#include "schema/codec_parts.h"
// The compiler header that codec_parts.h includes comes first.
#include <capnp/message.h>
#include <kj/exception.h>

#include <array>
#include <cstring>

#include "engine/base/check.h"
#include "snapshot.capnp.h"

namespace fairlead {
namespace stored {

static_assert(static_cast<unsigned>(value::Verb::remove) ==
              static_cast<unsigned>(PatchIntended::Verb::REMOVE));
static_assert(std::variant_size_v<value::Fact::Base> == 14);
constexpr unsigned kVerbCount = 5;
constexpr unsigned kStaleCauseCount = 3;
constexpr unsigned kOperationCount = 3;
constexpr unsigned kOutcomeCount = 2;
constexpr unsigned kRejectionCauseCount = 3;
static_assert(static_cast<unsigned>(value::AdmissionOperation::remove) ==
              static_cast<unsigned>(AdmissionDecided::Operation::REMOVE));
static_assert(static_cast<unsigned>(value::AdmissionOutcome::overridden) ==
              static_cast<unsigned>(AdmissionDecided::Outcome::OVERRIDDEN));
static_assert(static_cast<unsigned>(value::StaleCause::too_many_changes) ==
              static_cast<unsigned>(SourceState::StaleCause::TOO_MANY_CHANGES));
static_assert(static_cast<unsigned>(value::RejectionCause::rights) ==
              static_cast<unsigned>(PatchRejected::Cause::RIGHTS));

static void write(const value::EpochStarted& fact, Event::Fact::Builder out) {
  auto epoch = out.initEpochStarted();
  put(epoch, &EpochStarted::Builder::setIdentity, fact.identity);
  put(epoch, &EpochStarted::Builder::setProgramVersion, fact.program_version);
  epoch.setFoldVersion(fact.fold_version);
  epoch.setSchemaVersion(fact.schema_version);
}
static value::EpochStarted read(EpochStarted::Reader in) {
  return {read(in.getIdentity()), read(in.getProgramVersion()), in.getFoldVersion(),
          in.getSchemaVersion()};
}

static void write(const value::ConfigChanged& fact, Event::Fact::Builder out) {
  write(fact.configuration, out.initConfigChanged());
}

static void write_of(const std::optional<value::Kind>& kind, const std::string& cluster,
                     SourceState::Builder out) {
  if (kind)
    out.getOf().setKind(static_cast<Kind>(*kind));
  else
    out.getOf().setCluster(as_text(cluster));
}
static void write(const value::SourceSynced& fact, Event::Fact::Builder out) {
  auto state = out.initSourceSynced();
  write_of(fact.kind, fact.cluster, state);
  put(state, &SourceState::Builder::setResourceVersion, fact.resource_version);
}
static void write(const value::SourceStale& fact, Event::Fact::Builder out) {
  auto state = out.initSourceStale();
  write_of(fact.kind, fact.cluster, state);
  state.setStaleCause(static_cast<SourceState::StaleCause>(fact.cause));
}
static void write(const value::SourceLost& fact, Event::Fact::Builder out) {
  write_of(fact.kind, fact.cluster, out.initSourceLost());
}
template <class SourceFact>
static SourceFact read_source(SourceState::Reader in) {
  SourceFact fact;
  if (in.getOf().isKind())
    fact.kind = read(in.getOf().getKind());
  else if (in.getOf().isCluster())
    fact.cluster = read(in.getOf().getCluster());
  else
    // A newer program may add a member to the union, but its records are refused by their version
    // before this is read. So it is damage.
    throw Malformed{"a source is neither a kind nor a cluster"};
  return fact;
}
SourceSynced read_synced(SourceState::Reader in) {
  auto fact = read_source<value::SourceSynced>(in);
  fact.resource_version = read(in.getResourceVersion());
  return fact;
}

value::SourceStale read_stale(SourceState::Reader in) {
  auto fact = read_source<value::SourceStale>(in);
  fact.cause = read_enum<value::StaleCause>(in.getStaleCause(), kStaleCauseCount,
                                            "the cause of a stale source");
  return fact;
}

static void check_kind(const value::Facts& facts, const value::ObjectKey& key) {
  // The key's kind and the member of the union are stored apart: a record in which they differ
  // would be folded as another kind.
  if (facts.index() != static_cast<std::size_t>(key.kind))
    throw Malformed{"the facts are not those of a " + std::string(info(key.kind).name)};
}

static void write(const value::FieldWriter& writer, ObjectObserved::FieldWriter::Builder out) {
  using Out = ObjectObserved::FieldWriter::Builder;
  put(out, &Out::setManager, writer.manager);
  put(out, &Out::setOperation, writer.operation);
  put(out, &Out::setSubresource, writer.subresource);
  put(out, &Out::setTime, writer.time);
  out.setFields(writer.fields);
}
static value::FieldWriter read(ObjectObserved::FieldWriter::Reader in) {
  return {read(in.getManager()), read(in.getOperation()), read(in.getSubresource()),
          read(in.getTime()), in.getFields()};
}

static void write(const value::ObjectObserved& fact, Event::Fact::Builder out) {
  using Out = ObjectObserved::Builder;
  auto observed = out.initObjectObserved();
  write(fact.key, observed.initKey());
  put(observed, &Out::setVersion, fact.version);
  put(observed, &Out::setUid, fact.uid);
  put(observed, &Out::setResourceVersion, fact.resource_version);
  observed.setGeneration(fact.generation);
  put(observed, &Out::setRawDigest, fact.raw_digest);
  write(fact.facts, observed.initFacts());
  put_list(observed, &Out::initWriters, fact.writers);
}
static value::ObjectObserved read(ObjectObserved::Reader in) {
  value::ObjectObserved fact{read(in.getKey()),
                             read(in.getVersion()),
                             read(in.getUid()),
                             read(in.getResourceVersion()),
                             in.getGeneration(),
                             read(in.getFacts()),
                             read_digest(in.getRawDigest()),
                             read_list(in.getWriters())};
  check_kind(fact.facts, fact.key);
  return fact;
}

static void write(const value::ObjectGone& fact, Event::Fact::Builder out) {
  auto gone = out.initObjectGone();
  write(fact.key, gone.initKey());
  put(gone, &ObjectGone::Builder::setUid, fact.uid);
  put(gone, &ObjectGone::Builder::setResourceVersion, fact.resource_version);
}
static value::ObjectGone read(ObjectGone::Reader in) {
  return {read(in.getKey()), read(in.getUid()), read(in.getResourceVersion())};
}

static void write(const value::TimerFired& fact, Event::Fact::Builder out) {
  out.setTimerFired(fact.deadline.ns);
}

static void write(const value::Contribution& contribution, Contribution::Builder out) {
  put(out, &Contribution::Builder::setCluster, contribution.cluster);
  put(out, &Contribution::Builder::setFlavor, contribution.flavor);
  put(out, &Contribution::Builder::setResource, contribution.resource);
  out.setAmount(contribution.amount);
}
static value::Contribution read(Contribution::Reader in) {
  return {read(in.getCluster()), read(in.getFlavor()), read(in.getResource()), in.getAmount()};
}

static void write(const value::PatchIntended& fact, Event::Fact::Builder out) {
  using Out = PatchIntended::Builder;
  auto intent = out.initPatchIntended();
  put(intent, &Out::setCluster, fact.cluster);
  intent.setVerb(static_cast<PatchIntended::Verb>(fact.verb));
  write(fact.target, intent.initTarget());
  put(intent, &Out::setVersion, fact.version);
  put(intent, &Out::setFieldManager, fact.field_manager);
  intent.setForce(fact.force);
  put(intent, &Out::setUid, fact.uid);
  put(intent, &Out::setResourceVersion, fact.resource_version);
  put(intent, &Out::setBody, fact.body);
  put(intent, &Out::setReasonRule, fact.reason.rule);
  put(intent, &Out::setReasonText, fact.reason.text);
  // Only what is there is initialised: an empty list would be a second stored form of the same
  // event.
  if (!fact.reason.because.empty()) {
    auto because = intent.initReasonBecause(static_cast<unsigned>(fact.reason.because.size()));
    for (unsigned i = 0; i < because.size(); ++i) because.set(i, fact.reason.because[i].value);
  }
  put_list(intent, &Out::initContributions, fact.contributions);
  put_list(intent, &Out::initOverlaid, fact.overlaid);
  if (fact.expected) write(*fact.expected, intent.initExpected());
}
static value::PatchIntended read(PatchIntended::Reader in) {
  value::PatchIntended fact;
  fact.cluster = read(in.getCluster());
  fact.verb = read_enum<value::Verb>(in.getVerb(), kVerbCount, "a verb");
  fact.target = read(in.getTarget());
  fact.version = read(in.getVersion());
  fact.field_manager = read(in.getFieldManager());
  fact.force = in.getForce();
  fact.uid = read(in.getUid());
  fact.resource_version = read(in.getResourceVersion());
  fact.body = read(in.getBody());
  fact.reason.rule = read(in.getReasonRule());
  fact.reason.text = read(in.getReasonText());
  for (const std::uint64_t seq : in.getReasonBecause()) fact.reason.because.push_back({seq});
  fact.contributions = read_list(in.getContributions());
  fact.overlaid = read_list(in.getOverlaid());
  if (in.hasExpected()) {
    // Read only if it is there: an absent struct would read as the facts of an empty node, which is
    // the union's first member.
    fact.expected = read(in.getExpected());
    check_kind(*fact.expected, fact.target);
  }
  return fact;
}

static void write(const value::PatchAccepted& fact, Event::Fact::Builder out) {
  auto accepted = out.initPatchAccepted();
  accepted.setIntent(fact.intent.value);
  accepted.setHttpCode(fact.http_code);
  put(accepted, &PatchAccepted::Builder::setUid, fact.uid);
  put(accepted, &PatchAccepted::Builder::setResourceVersion, fact.resource_version);
}
static value::PatchAccepted read(PatchAccepted::Reader in) {
  return {Seq{in.getIntent()}, in.getHttpCode(), read(in.getUid()), read(in.getResourceVersion())};
}

static void write(const value::PatchRejected& fact, Event::Fact::Builder out) {
  auto rejected = out.initPatchRejected();
  rejected.setIntent(fact.intent.value);
  rejected.setHttpCode(fact.http_code);
  put(rejected, &PatchRejected::Builder::setReason, fact.reason);
  rejected.setCause(static_cast<PatchRejected::Cause>(fact.cause));
}
static value::PatchRejected read(PatchRejected::Reader in) {
  return {Seq{in.getIntent()}, in.getHttpCode(), read(in.getReason()),
          read_enum<value::RejectionCause>(in.getCause(), kRejectionCauseCount,
                                           "the cause of a rejection")};
}

static void write(const value::PatchUnknown& fact, Event::Fact::Builder out) {
  auto unknown = out.initPatchUnknown();
  unknown.setIntent(fact.intent.value);
  put(unknown, &PatchUnknown::Builder::setReason, fact.reason);
}
static value::PatchUnknown read(PatchUnknown::Reader in) {
  return {Seq{in.getIntent()}, read(in.getReason())};
}

static void write(const value::Checkpoint& fact, Event::Fact::Builder out) {
  auto checkpoint = out.initCheckpoint();
  put(checkpoint, &Checkpoint::Builder::setState, fact.state);
  checkpoint.setEvents(fact.events);
  put(checkpoint, &Checkpoint::Builder::setLog, fact.log);
}
static value::Checkpoint read(Checkpoint::Reader in) {
  return {read_digest(in.getState()), in.getEvents(), read_digest(in.getLog())};
}

static void write(const value::AdmissionDecided& fact, Event::Fact::Builder out) {
  using Out = AdmissionDecided::Builder;
  auto decided = out.initAdmissionDecided();
  put(decided, &Out::setRequestUid, fact.request_uid);
  put(decided, &Out::setUser, fact.user);
  decided.setOperation(static_cast<AdmissionDecided::Operation>(fact.operation));
  write(fact.object, decided.initObject());
  if (!fact.rules.empty()) {
    auto rules = decided.initRules(static_cast<unsigned>(fact.rules.size()));
    for (unsigned i = 0; i < rules.size(); ++i)
      rules.set(i, static_cast<AdmissionRule>(fact.rules[i]));
  }
  decided.setOutcome(static_cast<AdmissionDecided::Outcome>(fact.outcome));
  put(decided, &Out::setReason, fact.reason);
}
static value::AdmissionDecided read(AdmissionDecided::Reader in) {
  value::AdmissionDecided fact;
  fact.request_uid = read(in.getRequestUid());
  fact.user = read(in.getUser());
  fact.operation = read_enum<value::AdmissionOperation>(in.getOperation(), kOperationCount,
                                                        "the operation of a request");
  fact.object = read(in.getObject());
  for (const AdmissionRule rule : in.getRules()) fact.rules.push_back(read(rule));
  fact.outcome = read_enum<value::AdmissionOutcome>(in.getOutcome(), kOutcomeCount,
                                                    "the outcome of a request");
  fact.reason = read(in.getReason());
  return fact;
}

static value::Fact read(Event::Fact::Reader in) {
  using Which = Event::Fact::Which;
  switch (in.which()) {
    case Which::EPOCH_STARTED: return read(in.getEpochStarted());
    case Which::CONFIG_CHANGED: return value::ConfigChanged{read(in.getConfigChanged())};
    case Which::SOURCE_SYNCED: return read_synced(in.getSourceSynced());
    case Which::SOURCE_STALE: return read_stale(in.getSourceStale());
    case Which::SOURCE_LOST: return read_source<value::SourceLost>(in.getSourceLost());
    case Which::OBJECT_OBSERVED: return read(in.getObjectObserved());
    case Which::OBJECT_GONE: return read(in.getObjectGone());
    case Which::TIMER_FIRED: return value::TimerFired{LogTime{in.getTimerFired()}};
    case Which::PATCH_INTENDED: return read(in.getPatchIntended());
    case Which::PATCH_ACCEPTED: return read(in.getPatchAccepted());
    case Which::PATCH_REJECTED: return read(in.getPatchRejected());
    case Which::PATCH_UNKNOWN: return read(in.getPatchUnknown());
    case Which::CHECKPOINT: return read(in.getCheckpoint());
    case Which::ADMISSION_DECIDED: return read(in.getAdmissionDecided());
  }
  // No `default` above: the compiler names a new member that the switch lacks.
  throw Malformed{"the fact is of an unknown kind"};
}

// ---- messages ----

/// Words of a thread's scratch space, in which small messages are built without an allocation.
/// Cap'n Proto requires it zeroed and leaves it zeroed.
constexpr std::size_t kScratchWords = 1024;

template <class Root, class Fill>
static void append_canonical(std::string& out, const Fill& fill) {
  constexpr std::size_t kWord = sizeof(capnp::word);
  thread_local std::array<std::uint64_t, kScratchWords> scratch{};
  capnp::MallocMessageBuilder message(
      kj::arrayPtr(reinterpret_cast<capnp::word*>(scratch.data()), scratch.size()));
  auto root = message.initRoot<Root>();
  fill(root);
  // The canonical copy is built in place; it is never larger than the message. resize() zeroes what
  // it adds, as FlatMessageBuilder requires.
  const std::size_t begin = out.size(), words = message.sizeInWords();
  out.resize(begin + words * kWord);
  check(reinterpret_cast<std::uintptr_t>(out.data() + begin) % kWord == 0,
        "records are encoded at multiples of a word");
  capnp::FlatMessageBuilder copy(
      kj::arrayPtr(reinterpret_cast<capnp::word*>(out.data() + begin), words));
  copy.template initRoot<capnp::AnyPointer>().template setCanonicalAs<Root>(root.asReader());
  out.resize(begin + copy.getSegmentsForOutput()[0].size() * kWord);
}

template <class Root, class Fill>
static std::string canonical_bytes(const Fill& fill) {
  std::string out;
  append_canonical<Root>(out, fill);
  return out;
}

static bool is_aligned(std::string_view bytes) {
  return reinterpret_cast<std::uintptr_t>(bytes.data()) % sizeof(capnp::word) == 0;
}

/// Calls `parse` with the root of the message in `bytes`. Exceptions become `corrupt`.
template <class Root, class Parse>
static auto parse_message(std::string_view bytes, const Parse& parse)
    -> decltype(parse(typename Root::Reader())) {
  constexpr std::size_t kWord = sizeof(capnp::word);
  if (bytes.empty() || bytes.size() % kWord != 0)
    return Error{ErrorCode::corrupt, "a record of " + std::to_string(bytes.size()) +
                                         " bytes is no whole number of words"};
  const std::size_t size = bytes.size() / kWord;
  kj::Array<capnp::word> copy;
  const void* start = bytes.data();
  if (!is_aligned(bytes)) {
    copy = kj::heapArray<capnp::word>(size);
    std::memcpy(copy.begin(), bytes.data(), bytes.size());
    start = copy.begin();
  }
  try {
    const kj::ArrayPtr<const capnp::word> segment(static_cast<const capnp::word*>(start), size);
    // A valid record is traversed a few times at most; one with cyclic pointers hits the limit.
    capnp::ReaderOptions options;
    options.traversalLimitInWords = 8 * size + 1024;
    capnp::SegmentArrayMessageReader message(kj::arrayPtr(&segment, 1), options);
    return parse(message.getRoot<Root>());
  } catch (const Malformed& malformed) {
    return Error{ErrorCode::corrupt, malformed.what};
  } catch (const kj::Exception& exception) {
    return Error{ErrorCode::corrupt, exception.getDescription().cStr()};
  }
}

static std::optional<Error> refuse_version(std::uint32_t version) {
  if (version == 0) return Error{ErrorCode::corrupt, "the record has no schema version"};
  if (version > kSchemaVersion)
    return Error{ErrorCode::incompatible,
                 "the record has schema version " + std::to_string(version) +
                     ", this program reads up to " + std::to_string(kSchemaVersion)};
  return std::nullopt;
}

}  // namespace stored

std::string encode(const Event& event) {
  std::string bytes;
  encode_to(event, bytes);
  return bytes;
}

void encode_to(const Event& event, std::string& bytes) {
  check(reinterpret_cast<std::uintptr_t>(bytes.data() + bytes.size()) % sizeof(capnp::word) == 0,
        "records are encoded at multiples of a word");
  if (!stored::append_node(event, bytes)) encode_as_message(event, bytes);
}

void encode_as_message(const Event& event, std::string& bytes) {
  stored::append_canonical<stored::Event>(bytes, [&event](stored::Event::Builder out) {
    out.setSchemaVersion(kSchemaVersion);
    out.setSeq(event.seq.value);
    out.setLogTime(event.log_time.ns);
    out.setEpoch(event.epoch.value);
    out.setCause(event.cause.value);
    stored::put(out, &stored::Event::Builder::setSource, event.source);
    std::visit([&out](const auto& fact) { stored::write(fact, out.getFact()); }, event.fact);
  });
}

Result<Event> decode(std::string_view bytes) {
  return stored::parse_message<stored::Event>(bytes, [](stored::Event::Reader in) -> Result<Event> {
    // Before anything else is read: a newer record may hold union members and enumerants that are
    // unknown here, and would be taken for damage.
    if (auto refused = stored::refuse_version(in.getSchemaVersion())) return *std::move(refused);
    return Event{Seq{in.getSeq()},     LogTime{in.getLogTime()},
                 Epoch{in.getEpoch()}, stored::read(in.getSource()),
                 Seq{in.getCause()},   stored::read(in.getFact())};
  });
}

Result<void> decode_into(std::string_view bytes, Event& event) {
  // The fast path for the most frequent event. Not for unaligned bytes: decode() copies those, so
  // an event never views them.
  if (stored::is_aligned(bytes) && stored::read_node(bytes, event)) return {};
  auto decoded = decode(bytes);
  if (!decoded) return decoded.error();
  event = *std::move(decoded);
  return {};
}

std::uint16_t schema_version_of(std::string_view bytes) {
  const auto version = stored::parse_message<stored::Event>(
      bytes,
      [](stored::Event::Reader in) -> Result<std::uint16_t> { return in.getSchemaVersion(); });
  return version ? *version : std::uint16_t{0};
}

std::string encode(const SnapshotEnvelope& snapshot) {
  return stored::canonical_bytes<stored::Snapshot>([&snapshot](stored::Snapshot::Builder out) {
    using Out = stored::Snapshot::Builder;
    out.setSchemaVersion(kSchemaVersion);
    out.setFoldVersion(snapshot.fold_version);
    out.setSeq(snapshot.seq.value);
    out.setLogTime(snapshot.log_time.ns);
    stored::put(out, &Out::setStateDigest, snapshot.state_digest);
    stored::put(out, &Out::setLogDigest, snapshot.log_digest);
    const auto* const state = reinterpret_cast<const kj::byte*>(snapshot.state.data());
    if (!snapshot.state.empty()) out.setState(capnp::Data::Reader(state, snapshot.state.size()));
  });
}

Result<SnapshotEnvelope> decode_snapshot(std::string_view bytes) {
  const auto parse = [](stored::Snapshot::Reader in) -> Result<SnapshotEnvelope> {
    if (auto refused = stored::refuse_version(in.getSchemaVersion())) return *std::move(refused);
    const auto state = in.getState().asChars();
    SnapshotEnvelope snapshot{in.getFoldVersion(),
                              Seq{in.getSeq()},
                              LogTime{in.getLogTime()},
                              stored::read_digest(in.getStateDigest()),
                              stored::read_digest(in.getLogDigest()),
                              std::string(state.begin(), state.size())};
    return snapshot;
  };
  return stored::parse_message<stored::Snapshot>(bytes, parse);
}

}  // namespace fairlead
