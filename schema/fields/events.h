// The fields of the facts of the log.
#pragma once

#include "schema/event.h"
#include "schema/fields/settings.h"

namespace fairlead {

template <>
inline constexpr unsigned kValuesOf<Kind> = kKindCount;
template <>
inline constexpr unsigned kValuesOf<StaleCause> = 3;
template <>
inline constexpr unsigned kValuesOf<Verb> = 5;
template <>
inline constexpr unsigned kValuesOf<Direction> = 2;
template <>
inline constexpr unsigned kValuesOf<Rank> = 9;
template <>
inline constexpr unsigned kValuesOf<RejectionCause> = 3;
template <>
inline constexpr unsigned kValuesOf<AdmissionOperation> = 3;
template <>
inline constexpr unsigned kValuesOf<AdmissionOutcome> = 2;

template <class V, Of<ObjectKey> T>
void fields(V& visit, T& key) {
  visit.field("kind", key.kind);
  visit.field("namespace", key.namespace_);
  visit.field("name", key.name);
}

template <class V, Of<EpochStarted> T>
void fields(V& visit, T& fact) {
  visit.field("identity", fact.identity);
  visit.field("programVersion", fact.program_version);
  visit.field("foldVersion", fact.fold_version);
  visit.field("schemaVersion", fact.schema_version);
}

template <class V, Of<SourceSynced> T>
void fields(V& visit, T& fact) {
  visit.source(fact.kind, fact.cluster);
  visit.field("resourceVersion", fact.resource_version);
}

template <class V, Of<SourceStale> T>
void fields(V& visit, T& fact) {
  visit.source(fact.kind, fact.cluster);
  visit.unprinted("staleCause", fact.cause);
  if (fact.cause == StaleCause::too_many)
    visit.printed("reason", fact.kind == Kind::node ? "TooManyNodes" : "TooManyObjects");
  if (fact.cause == StaleCause::too_many_changes) visit.printed("reason", "TooManyChanges");
}

template <class V, Of<SourceLost> T>
void fields(V& visit, T& fact) {
  visit.source(fact.kind, fact.cluster);
}

template <class V, Of<FieldWriter> T>
void fields(V& visit, T& writer) {
  visit.field("manager", writer.manager);
  visit.field("operation", writer.operation);
  visit.field("subresource", writer.subresource, kSparse);
  visit.field("time", writer.time, kSparse);
  visit.unprinted("fields", writer.fields);
}

template <class V, Of<ObjectObserved> T>
void fields(V& visit, T& fact) {
  visit.field("key", fact.key, kSpread);
  visit.field("version", fact.version);
  visit.field("uid", fact.uid);
  visit.field("resourceVersion", fact.resource_version);
  visit.field("generation", fact.generation);
  visit.field("rawDigest", fact.raw_digest, kSparse);
  visit.field("facts", fact.facts);
  visit.field("writers", fact.writers, kSparse);
  visit.field("read", fact.read, kSparse);
}

template <class V, Of<ObjectGone> T>
void fields(V& visit, T& fact) {
  visit.field("key", fact.key, kSpread);
  visit.field("uid", fact.uid);
  visit.field("resourceVersion", fact.resource_version);
}

template <class V, Of<Contribution> T>
void fields(V& visit, T& contribution) {
  visit.field("cluster", contribution.cluster);
  visit.field("flavor", contribution.flavor);
  visit.field("resource", contribution.resource);
  visit.field("amount", contribution.amount);
}

template <class V, Of<PatchIntended> T>
void fields(V& visit, T& fact) {
  visit.field("cluster", fact.cluster);
  visit.field("verb", fact.verb);
  visit.field("target", fact.target, kSpread);
  visit.field("version", fact.version);
  visit.field("fieldManager", fact.field_manager);
  visit.field("force", fact.force);
  visit.field("uid", fact.uid);
  visit.field("resourceVersion", fact.resource_version);
  visit.field("body", fact.body, kDocument.but_sparse());
  visit.group("reason", [&](V& inner) {
    inner.field("reasonRule", fact.reason.rule, printed_as("rule"));
    inner.field("reasonBecause", fact.reason.because, printed_as("because"));
    inner.field("reasonText", fact.reason.text, printed_as("text"));
  });
  visit.field("contributions", fact.contributions, kSparse);
  visit.field("overlaid", fact.overlaid, kSparse);
  visit.field("expected", fact.expected);
  visit.unprinted("direction", fact.direction);
  visit.unprinted("rank", fact.rank);
}

template <class V, Of<PatchAccepted> T>
void fields(V& visit, T& fact) {
  visit.field("intent", fact.intent);
  visit.field("httpCode", fact.http_code);
  visit.field("uid", fact.uid);
  visit.field("resourceVersion", fact.resource_version);
}

template <class V, Of<PatchRejected> T>
void fields(V& visit, T& fact) {
  visit.field("intent", fact.intent);
  visit.field("httpCode", fact.http_code);
  visit.field("reason", fact.reason);
  visit.field("cause", fact.cause, printed_as("refusedFor").but_sparse());
}

template <class V, Of<PatchUnknown> T>
void fields(V& visit, T& fact) {
  visit.field("intent", fact.intent);
  visit.field("reason", fact.reason);
}

template <class V, Of<Checkpoint> T>
void fields(V& visit, T& fact) {
  visit.field("state", fact.state);
  visit.field("events", fact.events);
  visit.field("log", fact.log);
}

template <class V, Of<AdmissionDecided> T>
void fields(V& visit, T& fact) {
  visit.field("requestUid", fact.request_uid);
  visit.field("user", fact.user);
  visit.field("operation", fact.operation);
  visit.field("object", fact.object, kSpread);
  visit.field("rules", fact.rules);
  visit.field("outcome", fact.outcome);
  visit.field("reason", fact.reason, kSparse);
}

}  // namespace fairlead
