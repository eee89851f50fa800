// What the program prints with `-o json`, and answers over HTTP: each document, field by field.
//
// This text is the only list of the fields: the page is checked with these types, docs/schemas/answers.json is made of
// them, and tests hold every answer against it (tests/e2e/harness/answers.py). page_answers.d.ts has what /ui/api answers.
// Fields may be added. None is renamed, removed, or given another meaning.

/** RFC 3339 in UTC, to the nanosecond where it has a fraction. */
export type Time = string;
/** A Kubernetes quantity in its canonical form ("189500m", "729Gi"), exact. */
export type Amount = string;
/** A duration as Go writes it ("5m0s"). */
export type Duration = string;
/**
 * The number of an event in the log.
 * @asType integer
 */
export type Seq = number;
/** @asType integer */
export type Count = number;

/** Amounts by resource. */
export type Amounts = Record<string, Amount>;
/** Who wrote: this program, or another client of the API server. */
export type Writer = "fairlead" | "foreign";

/** An event, and its time. */
export type Moment = {seq: Seq; time: Time};
/** An event that pruning may have removed from the log. */
export interface Place {
  seq: Seq;
  /** Null: it was pruned, or cannot be read. */
  time: Time | null;
  /** The log no longer has it. */
  pruned?: true;
}
/** The moment that an answer is about. */
export interface AsOf {
  /** The last event that was folded. */
  seq: Seq;
  /** What was asked for. */
  time: Time;
  /** Of the event. */
  eventTime: Time;
}
/** An end of a span. */
export interface SpanEnd {
  /** The first or last event of the span. One without an event has a "to" before its "from". */
  seq: Seq;
  /** What was asked for; absent: an event was. */
  time?: Time;
}
/** The configuration in force. */
export interface ConfigurationAt {
  /** The event that set it. */
  seq: Seq;
  /** SHA-256 of its JSON, in hexadecimal. */
  digest: string;
}
/** A stretch in which changes could not be observed: no hub ran, or a source of the answer was silent. */
export interface Unseen {
  what: "NoHub" | "LogEnded" | "Silent" | "NotAvailable";
  /** The API server; null: of all. */
  source: string | null;
  /** The kind that was not observed; null: all kinds. */
  kind: string | null;
  /** Null: it began before the first event that is kept. */
  from: Moment | null;
  /** When the silence began, if that is earlier than it was noticed. */
  since: Time | null;
  /** Null: it lasts to the end of the log. */
  to: Moment | null;
  text: string;
}
interface Answer {
  asOf: AsOf;
  configuration: ConfigurationAt;
  /** The stretches that overlap the moment, ascending. */
  unseen: Unseen[];
}
interface History {
  from: SpanEnd;
  to: SpanEnd;
  /** The stretches that overlap the span, ascending. */
  unseen: Unseen[];
}

// ---- quotas ----

/** `audit quota`: what the quotas of a queue, or of all, were. */
export interface QuotaAudit extends Answer {
  kind: "QuotaAudit";
  rows: QuotaRow[];
}
export interface QuotaRow extends Following {
  queue: string;
  flavor: string;
  /** As the queue spells it. */
  resource: string;
  /** The current value on the hub; null: the queue has no such pair. */
  nominal: Amount | null;
  /**
   * What Fairlead wants there: base and the sum of contributes, times overbookPercent, rounded to the quantum. Null: not
   * ours, or unknown.
   */
  desired: Amount | null;
  ours: boolean;
  base: Amount;
  overbookPercent: Count;
  effective: Effective[];
  borrowingLimit: Amount | null;
  lendingLimit: Amount | null;
  cohort: string | null;
  stopPolicy: string | null;
  /** What runs, by the queue's status; null: not reported. */
  used: Amount | null;
  /** What moved nominal last; null: nothing among the queue's last events. */
  last: QuotaChange | null;
  grants: {
    cluster: string;
    claim: string;
    assigned: Amount;
    granted: Amount;
    /** On the hub now. */
    contributes: Amount;
    /** Why granted is not assigned, as the claim's status says; "": it is. */
    reason: string;
  }[];
}
/**
 * The quota that Kueue's scheduler uses instead of the spec's (status.effectiveQuotas, Kueue 0.20). A list is empty while
 * the spec is in force; else it has the queue's own override, then the Cohorts' above it, the nearest first. One of kind
 * ClusterQueue is the quota in force, and the nominalQuota beside it only a weight. A Cohort's is its own quota: it shows
 * that an orchestrator divides below.
 */
export interface Effective {
  kind: "ClusterQueue" | "Cohort";
  name: string;
  /** Null: the override has no such pair. */
  nominal: Amount | null;
  borrowingLimit: Amount | null;
  lendingLimit: Amount | null;
  orchestrator: Orchestrator;
  seq: Seq;
}
export type Orchestrator = {apiGroup: string; kind: string; name: string};
/** Of a queue that follows its workers (annotation fairlead.io/quota-from), or asks for it in vain. */
interface Following {
  follows?: {
    /** Whether it does. */
    follows: boolean;
    percent: Count;
    reserve: Amount;
    /** What cannot be read of its annotations; "": nothing. */
    malformed: string;
    /** Whether there is a value of the workers. */
    known: boolean;
  };
  workers?: WorkerPart[];
}
/** What one worker gives to a queue that follows its workers. */
export interface WorkerPart {
  cluster: string;
  /** Whose numbers count: those of the member's queues, of its claims, or none. */
  from: "member" | "claims" | "nobody";
  /** Whether it has entered the worker list. */
  counted: boolean;
  /** Whether a first value was accepted. */
  known: boolean;
  liveness: Liveness;
  /** When it counts again after it was lost; null: it counts, or no time ends that. */
  hubOpens: Time | null;
  /** The member's ClusterQueues behind its LocalQueues. */
  queues: {
    name: string;
    /** Null: not observed. */
    seq: Seq | null;
    /** Null: it has no such pair. */
    nominal: string | null;
    /** Why it gives nothing; null: it gives. */
    stopped: string | null;
  }[];
  /** Null: no value. */
  usable: Amount | null;
  accepted: Amount | null;
  /** Absent: its claims contribute (see grants). */
  contributes?: Amount;
  layer: Layer;
  because: Fact[];
}
export type Liveness = "live" | "stale" | "lost";

// ---- histories ----

/** What became of a write of ours. */
export interface WriteAnswer {
  outcome: "accepted" | "rejected" | "unknown" | "none";
  /** The event that says so; absent of "none". */
  seq?: Seq;
  time?: Time;
  /** Of HTTP. */
  code?: Count;
  why?: string;
}
/** Of a write of ours, and absent of another writer's. */
interface OurWrite {
  rule: string;
  text: string;
  /** The deciding events, ascending. */
  because: Seq[];
  answer: WriteAnswer;
  /** When the watch reported it; null: not yet. */
  seen: Moment | null;
}
/** Of a value that has one owner in metadata.managedFields. */
interface Owned extends Partial<OurWrite> {
  /**
   * Another writer's: the field managers that owned the field when the change was observed, the newest first. One alone
   * made the change, or the last of several within one observation; of several, one did, and the others own the same
   * value. Absent where the log does not have it.
   */
  by?: FieldManager[];
  /**
   * Of another writer's change after a write of ours that was never answered: "old" is the value of that write, this the
   * value before it, in case the write never arrived.
   */
  oldUnless?: Amount | null;
}
export type FieldManager = {manager: string; operation: string; time: string | null; subresource?: string};
/** A change of a nominalQuota. */
export interface QuotaChange extends Owned {
  /** Our intent, or the first observation of another writer's change. */
  seq: Seq;
  time: Time;
  flavor: string;
  resource: string;
  /** Null: there was no such pair. */
  old: Amount | null;
  new: Amount | null;
  writer: Writer;
  /** Since when `audit quota` has the new value; null: not yet, or never. */
  tookEffect: Moment | null;
}
/** A change of anything else that people write of an object and that decides who gets quota. */
export interface SettingChange extends Owned {
  seq: Seq;
  time: Time;
  /** "borrowingLimit", "stopPolicy", ... */
  field: string;
  /** Null, as the resource is: not a quota's field. */
  flavor: string | null;
  resource: string | null;
  /** Null: absent. A list or an object is as the API has it. */
  old: unknown;
  new: unknown;
  writer: Writer;
  /** Of a queue's limits, as of a QuotaChange. */
  tookEffect?: Moment | null;
}
/** A change of the own override of a ClusterQueue or Cohort. Of one without pairs flavor and resource are null. */
export interface EffectiveChange {
  seq: Seq;
  time: Time;
  flavor: string | null;
  resource: string | null;
  /** Null: no such pair, or no override. */
  old: string | null;
  new: string | null;
  /** Null: the spec is in force again. */
  orchestrator: Orchestrator | null;
}
/** `audit history QUEUE`: every change of its quotas and of its other settings in a span, each list by seq. */
export interface QuotaHistory extends History {
  kind: "QuotaHistory";
  queue: string;
  rows: QuotaChange[];
  /** Where a flavor or resource is given only its limits. */
  settings: SettingChange[];
  effective: EffectiveChange[];
  /** That the queue had no such flavor or resource. */
  note: string | null;
}
/** `audit history` of cohort/NAME, resourceflavor/NAME, admissioncheck/NAME or localqueue/NAMESPACE/NAME. */
export interface ObjectHistory extends History {
  kind: "ObjectHistory";
  object: {kind: string; namespace: string; name: string};
  rows: SettingChange[];
  /** Of a Cohort. */
  effective: EffectiveChange[];
  /** That a Cohort has no object. */
  note: string | null;
}
/** `audit history multikueueconfig/NAME`: every change of the list of MultiKueueClusters. */
export interface WorkersHistory extends History {
  kind: "WorkersHistory";
  multiKueueConfig: string;
  rows: {
    seq: Seq;
    time: Time;
    /** Null: it was pruned, and no snapshot holds it. */
    old: string[] | null;
    new: string[];
    writer: Writer;
    rule?: string;
    text?: string;
    because?: Seq[];
    /** Our write. */
    intent?: Seq;
  }[];
}
/** `audit history --namespace`: every change of a namespace's placements. */
export interface PlacementHistory extends History {
  kind: "PlacementHistory";
  tenant: string;
  namespace: string;
  /** Of a pod. */
  pod?: string;
  rows: (Partial<Omit<OurWrite, "rule">> & {
    seq: Seq;
    time: Time;
    /** As the annotation says: {id: slices}, of a pod the id, or text that cannot be read; null: absent. */
    old: unknown;
    new: unknown;
    writer: Writer;
    /** Null: another writer. */
    rule: string | null;
  })[];
}
/** `audit admissions`: what the webhook refused, and what it admitted because of an override. */
export interface AdmissionHistory extends History {
  kind: "AdmissionHistory";
  rows: {
    seq: Seq;
    time: Time;
    user: string;
    operation: "CREATE" | "UPDATE" | "DELETE";
    kind: string;
    name: string;
    /** Those that deny. */
    rules: string[];
    outcome: "denied" | "overridden";
    /** Of the override. */
    reason: string;
    requestUid: string;
  }[];
}

// ---- who waits ----
// The fields of these three are a contract (docs/waiting.md): `-o json` prints them without "kind" and "because", which the
// same answers have over HTTP.

/** Why a Workload waits; docs/waiting.md has the reasons behind each. */
type WaitClass =
  "unknown" | "queue" | "quota" | "preemption" | "topology" | "device" | "config" | "hold" | "check" | "worker";
/** A number of seconds as a plain decimal: "55", "0.25". */
type Seconds = string;
/**
 * Whether the requests fit: in what is free, in what the queue may have and others hold, or not at all. Null: it is not known,
 * or the class is not quota.
 */
type Fit = "now" | "quota" | "no" | null;
interface Shortage {
  flavor: string;
  resource: string;
  amount: Amount;
  /** Kueue's message, or the sums of the quotas here. */
  source: "message" | "quota";
}
/** [from, to) with one class, reason and fit. */
export interface WaitInterval {
  from: Time;
  to: Time;
  class: WaitClass;
  /** Kueue's word; "": it has none. */
  reason: string;
  where: "hub" | "worker";
  fit: Fit;
  /** Between waiting for quota and for preempted Workloads, where several short pieces are one interval. */
  changes: Count;
  /** At its end. */
  shortage: Shortage[];
  /** Those that were not Ready, while quota was reserved. */
  checks: {name: string; state: string}[];
  /** The last one of the condition that decides. */
  message: string;
  /** The events that began it, and what a write of ours was because of. Empty before the Workload was seen first. */
  causes: Seq[];
  /** In words: "node gpu-6 left (NotReady), quota 48 -> 40, needs 44". */
  because?: string;
}
/** `audit waiting NAMESPACE/NAME`. */
export interface Waiting {
  kind?: "Waiting";
  namespace: string;
  name: string;
  uid: string;
  /** The LocalQueue. */
  queue: string;
  /** "": not known. */
  clusterQueue: string;
  created: Time;
  asOf: Time;
  state: "waiting" | "admitted" | "finished" | "deleted";
  waited: Seconds;
  waits: {
    from: Time;
    to: Time;
    end: "waiting" | "admitted" | "finished" | "deleted";
    waited: Seconds;
    intervals: WaitInterval[];
  }[];
  /** Those that were nominated, by their first nomination. */
  workers: {cluster: string; intervals: WaitInterval[]}[];
  /** Of the span; 0: it has no event. */
  firstSeq: Seq;
  lastSeq: Seq;
  /** Of the log's hash chain there. */
  digest: string;
}
/** `audit waiting [--queue CLUSTERQUEUE]`: who waits, the longest wait first. */
export interface WaitingList {
  kind?: "WaitingList";
  /** What was asked for; "": all. */
  queue: string;
  asOf: Time;
  workloads: {
    namespace: string;
    name: string;
    uid: string;
    clusterQueue: string;
    class: WaitClass;
    reason: string;
    fit: Fit;
    /** When the wait began. */
    since: Time;
    waited: Seconds;
    shortage: Shortage[];
  }[];
}
/** `audit blocked-by`: whom the loss of an object kept waiting. */
export interface BlockedBy {
  kind?: "BlockedBy";
  /** "node/gpu-6" */
  object: string;
  /** The longest wait first. */
  workloads: {namespace: string; name: string; waited: Seconds}[];
  /** Requests x time: cores, bytes or pieces x seconds, a plain decimal. */
  resourceSeconds: {resource: string; amount: string}[];
  /** Quotas that fell because of it. */
  quotas: {clusterQueue: string; flavor: string; resource: string; from: Amount; to: Amount; time: Time; seq: Seq}[];
}

// ---- differences ----

interface Differs<Side> {
  /** Null: not there. */
  from: Side | null;
  to: Side | null;
}
interface SpecDiffers extends Differs<Record<string, unknown>> {
  namespace?: string;
}
/**
 * `audit diff`: what differs between two moments, in lists of what is not the same at both. Of a queue: that queue, the
 * claims that name it, their clusters, the worker lists that its AdmissionChecks use, these checks, its flavors, the
 * Cohorts above it and its LocalQueues.
 */
export interface QuotaDiff {
  kind: "QuotaDiff";
  /** "": everything. */
  queue: string;
  from: AsOf;
  to: AsOf;
  /** Of both moments. */
  unseen: Unseen[];
  /** That the moments are exchanged; absent: they are not. */
  note?: string;
  /**
   * In the queue's spelling. A side has "nominal" and "desired", and where the queue has them "borrowingLimit",
   * "lendingLimit", "effective" and "effective of Cohort NAME".
   */
  quotas: (Differs<Record<string, string | null>> & {queue: string; flavor: string; resource: string})[];
  grants: (Differs<{assigned: Amount; granted: Amount; reason: string}> & {
    claim: string;
    queue: string;
    flavor: string;
    resource: string;
  })[];
  capacity: (Differs<{accepted: Amount; usable: Amount; state: CapacityState}> & {
    cluster: string;
    flavor: string;
    resource: string;
  })[];
  /** A side has uid, generation, editedSeq, winner, fault, deleting, and debounce.PARAMETER for each annotation. */
  claims: (Differs<Record<string, string | number | boolean>> & {claim: string})[];
  /** Lists of MultiKueueClusters. */
  workers: (Differs<string[]> & {multiKueueConfig: string; came: string[]; went: string[]})[];
  /** A side has cluster, state, and usable.RESOURCE for each. Of the pool nothing is compared where a queue is given. */
  superClusters: (Differs<Record<string, string>> & {id: string})[];
  namespaces: (Differs<{placements: string; expected: Count; slice: string; reason: string}> & {
    tenant: string;
    namespace: string;
  })[];
  pods: (Differs<{superCluster: string; reason: string}> & {tenant: string; namespace: string; pod: string})[];
  /** Its leaves, by path. */
  configuration: {key: string; from: unknown; to: unknown}[];
  configurationSeq: {from: Seq; to: Seq};
  /** Specs: the fields that differ. Quotas of ClusterQueues are not among them. */
  queues: (SpecDiffers & {queue: string})[];
  cohorts: (SpecDiffers & {cohort: string})[];
  flavors: (SpecDiffers & {flavor: string})[];
  checks: (SpecDiffers & {check: string})[];
  localQueues: (SpecDiffers & {localQueue: string})[];
}

// ---- why a quota is what it is ----

interface OfPair extends Answer {
  queue: string;
  flavor: string;
  /** As the queue spells it. */
  resource: string;
}
/** `audit why QUEUE FLAVOR RESOURCE`: the derivation of the written value, down to the nodes. */
export interface QuotaWhy extends OfPair, Following {
  kind: "QuotaWhy";
  configuration: ConfigurationAt & {time: Time | null; pruned?: true};
  value: {
    /** As of a QuotaRow. */
    nominal: Amount | null;
    desired: Amount | null;
    ours: boolean;
    /** A capacity that it depends on has no value yet. */
    unknown: boolean;
    base: Amount;
    /** What cannot be read of the queue's annotation; "": nothing. */
    baseMalformed: string;
    /** The last event about the queue; 0: not observed. */
    queueSeq: Seq;
    overbookPercent: Count;
    effective: Effective[];
  };
  /** The last change of the value; null: none is known. */
  written: QuotaChange | null;
  writtenTimes: Times | null;
  /** One per claim that names the pair. */
  grants: Grant[];
}
/** `audit why QUEUE` and `why-not QUEUE`: of each pair of a queue that has few. */
export interface QuotaWhyList extends Answer {
  kind: "QuotaWhyList";
  queue: string;
  answers: (QuotaWhy | QuotaWhyNot)[];
}
/** What a claim gives to the pair, from assigned to contributes. */
export interface Grant {
  cluster: string;
  claim: {
    name: string;
    uid: string;
    generation: Count;
    /** The last event about it. */
    seq: Seq;
    /** The last edit of its spec. */
    editedSeq: Seq;
    editedTime: Time | null;
    editedPruned?: true;
    /** The edit whose terms are in force. */
    termsSeq: Seq;
    /** Whether it has the cluster; an older claim may have it. */
    winner: boolean;
    deleting: boolean;
    /** Why the last edit is not in force; null: it is. */
    fault: {reason: string; message: string} | null;
  };
  assigned: Amount;
  minimum: Amount;
  priority: Count;
  nominalPolicy: "Fixed" | "TrackCapacity";
  shrinkPolicy: "Priority" | "Proportional";
  flavorCapacity: "Strict" | "TotalOnly" | "Auto";
  /** The steps to granted; null where it does not follow from accepted capacity, or no bound applies. */
  wanted: Amount | null;
  flavorBound: Amount | null;
  afterFlavor: Amount | null;
  totalBound: Amount | null;
  granted: Amount;
  /** Why granted is not assigned, as the claim's status says; "": it is. */
  reason: string;
  /** On the hub now. */
  contributes: Amount;
  /** Null: nothing is written to the member. */
  member: {
    confirmed: Amount;
    present: boolean;
    generation: Count;
    /** Applied and available as it is now. */
    settled: boolean;
    /** The last event about the work; 0: none. */
    seq: Seq;
  } | null;
  /** Null, and no capacity and nodes: the cluster was never heard of. */
  presence: {
    /** In force; null: none reports. */
    source: CapacitySource | null;
    liveness: Liveness;
    livenessSeq: Seq;
    managedSeq: Seq;
    unavailableSince: Time | null;
    detached: boolean;
    /** A first value was accepted. */
    known: boolean;
    /** Its ClusterMetrics is empty. */
    namesNoNode: boolean;
    /** The last change of the source in force since a value was accepted. */
    sourceChange: SourceChange | null;
    /** When it counts on the hub again after it was lost: a time, or in words; null: it counts. */
    hubOpens: string | null;
    /** A large loss that is not believed yet. */
    hold: Hold | null;
  } | null;
  /** One per flavor that has the resource; "" is the whole cluster. */
  capacity: Capacity[];
  /** Of the source in force. Eligible ones of a flavor add up to its "offered", with what devices add. */
  nodes: {
    name: string;
    seq: Seq;
    flavor: string;
    amount: Amount;
    eligible: boolean;
    /** For the asked flavor. */
    counts: boolean;
    /** Why not. */
    reasons: string[];
    suppressedSince: Time | null;
    suppressedUntil: Time | null;
  }[];
  /** Pools that have a device for the resource, or may have one and are not complete; absent: none. */
  devices?: DevicePool[];
}
export type CapacitySource = "nodes" | "clusterMetrics" | "managedCluster";
export type CapacityState = "Detached" | "Lost" | "Unknown" | "Held" | "Stale" | "Shrinking" | "Growing" | "Accepted";
export type Hold = {since: Time; until: Time};
export type SourceChange = {from: CapacitySource; to: CapacitySource; at: Time; seq: Seq};
export interface Capacity {
  flavor: string;
  /** The asked pair. */
  bounds: boolean;
  offered: Amount;
  headroom: {percent: Count; reserved: Amount; from: "claim" | "configuration"};
  usable: Amount;
  growing: Amount;
  accepted: Amount;
  state: CapacityState;
  /** What holds accepted. */
  layer: Layer;
  /** How accepted got its value; null: not since the cluster's first value. */
  moved: {
    /** Null: the first value of another source. */
    from: Amount | null;
    to: Amount;
    at: Time;
    /**
     * The rule that let it grow (massShrinkHold, secondObservation, growWindow, minGrowInterval, deadbandMaxAge, deadband)
     * or fall (shrinkWindow, claimEdit, cordon, massShrinkHold: a loss was held for its whole time, secondObservation: the
     * hold ended before, sourceBack: the source had been lost, flavorUse: a queue or claim was edited, by which nodes
     * count under other flavors), or sourceChange.
     */
    by: string;
    /** Of sourceChange. */
    source?: SourceChange;
  } | null;
  /** Ascending. */
  because: Fact[];
  /** There were more. */
  earlierNotKept: boolean;
}
/** The layer of the damping that holds a value, and for how long. */
export interface Layer {
  /** "flapSuppress" lasts from the first node that it leaves out to when the last counts again if none flaps any more. */
  name:
    | "none"
    | "detached"
    | "lost"
    | "unknown"
    | "frozen"
    | "newcomer"
    | "unwatched"
    | "firstQuiet"
    | "massShrinkHold"
    | "flapSuppress"
    | "shrinkWindow"
    | "growWindow"
    | "minGrowInterval"
    | "deadband"
    | "due";
  text: string;
  since: Time | null;
  until: Time | null;
  /** Of a QuotaWhy: the settings that the text or the end follows from, as they are in force for the cluster. */
  settings?: {
    name: string;
    value: string;
    from: "configuration" | "claim";
    /** Whose annotation it is; null: nobody's. */
    claim: string | null;
    /** The event that set it; null: the log no longer has it. */
    seq: Seq | null;
    time: Time | null;
    pruned?: true;
  }[];
}
interface FactInWords extends Place {
  /** What the event says, for the resource; null: it cannot be read. */
  text: string | null;
  /** What it changed ("gpu-6: Ready -> NotReady"); null: not known. */
  changed: string | null;
}
/** An event behind a value. */
export interface Fact extends FactInWords {
  times: Times | null;
}
/** When it became so: between "from" and "to". The hub knew it at "known". */
export interface Times {
  /** Null: not known how early. */
  from: Time | null;
  to: Time;
  known: Time;
  /**
   * How that is known. said: the API server says when, in managedFields, to the second. created: the same, by
   * metadata.creationTimestamp, of what was seen for the first time. answered: a write of ours, between its intent and its
   * answer. unseen: within or right after a silence of its source; "from" is the last word before. listed: seen for the
   * first time soon after the first hub started, maybe in its list. logged: the log has no other time of it; "from" and
   * "to" are "known".
   */
  how: "said" | "created" | "answered" | "unseen" | "listed" | "logged";
  /** The field manager, of "said". */
  by?: string;
}
/** A pool of devices of a driver. */
export interface DevicePool {
  driver: string;
  pool: string;
  status: "complete" | "incomplete" | "invalid";
  /** Of one that is not complete. */
  why: string;
  /** Until when what was complete before counts; null: what is published now counts. */
  heldUntil: Time | null;
  /** The newest of its slices. */
  seq: Seq;
  /** By flavor, to what is offered. */
  adds: Record<string, Amount>;
  devices: {
    name: string;
    flavor: string;
    /** For the asked flavor. */
    counts: boolean;
    /** Why not. */
    reasons: string[];
  }[];
}
/** `audit why-not QUEUE FLAVOR RESOURCE`: what keeps a quota from being written, or from being larger. */
export interface QuotaWhyNot extends OfPair {
  kind: "QuotaWhyNot";
  nominal: Amount | null;
  effective: Effective[];
  desired: Amount | null;
  /** Desired if nothing were damped and every member ready; null: not ours. */
  undamped: Amount | null;
  /**
   * The first guard's name. DueNow: nominal and desired differ, and nothing in the log keeps the write back (a hub that
   * only recommends writes nothing all the same). NothingDiffers: there is no guard.
   */
  answer: string;
  /** The nearest to the write first. */
  guards: {
    guard: string;
    text: string;
    since: Time | null;
    until: Time | null;
    seq: Seq | null;
    cluster: string | null;
  }[];
}

// ---- why a worker list is what it is ----

/** `audit why multikueueconfig/NAME [CLUSTER]`: the worker list of a Placement. */
export interface WorkersWhy extends Answer {
  kind: "WorkersWhy";
  multiKueueConfig: string;
  list: string[];
  /** Null: the list need not change. */
  wish: string[] | null;
  use: string;
  /** Who else writes it. */
  foreign: string;
  frozenSince: Time | null;
  /** When a frozen list is given up, by window. */
  windowsEnd: Record<string, Time>;
  windows: Record<string, Duration>;
  checks: {
    admissionCheck: string;
    /** Status and reason of its conditions. */
    active: string;
    message: string;
    allClustersUsed: string;
    dispatcherReady?: string;
    seq: Seq;
  }[];
  workers: {
    multiKueueCluster: string;
    cluster: string;
    listed: boolean;
    /** By the PlacementDecisions. */
    decided: boolean;
    selected: boolean;
    since: Time;
    because: Place[];
    /** Why a decided one is not selected; "": it is. */
    leftOut: string;
    /** The verdict of the membership rule. */
    standing: string;
    /** In the decisions; null: unknown. */
    rank: Count | null;
    windowsEnd: Record<string, Time>;
    /** Names of the objects that have it; "": none. */
    credential: {clusterProfile: string; secret: string; lostSince: Time | null; event: Place | null} | null;
    /** Workloads that keep it in the list. */
    heldBy: {workload: string; seq: Seq}[];
    /** What still ran there when it left. */
    runningCopies: {workloads: string[]; overSince: Time | null; until: Time | null; seq: Seq} | null;
  }[];
}

// ---- the super cluster pool ----

/** Amounts of the two resources that slices are cut of. */
export type CpuAndMemory = {cpu: Amount; memory: Amount};
/**
 * `audit why --namespace` and `--pod`: where a tenant's namespace or pod is placed, and the decisions behind it. `why-not`
 * has the same, and a text that begins with what is missing.
 */
export interface PlacementWhy extends Answer {
  kind: "PlacementWhy" | "PlacementWhyNot";
  tenant: string;
  namespace: string;
  /** Of a pod. */
  pod?: string;
  /** The last event. */
  seq: Seq;
  /** Null: none was read. */
  slice: CpuAndMemory | null;
  /** How many slices the namespace should have. */
  expected: Count;
  /** Slices by id, as decided. */
  placements: Record<string, Count>;
  /** Of a pod; null: none. */
  superCluster?: string | null;
  /** Of a pod: the devices that are kept for it; null: none. */
  reservation?: {
    id: string;
    cluster: string;
    since: Time;
    because: (Place | null)[];
    brokenSince: Time | null;
    pods: ReservedPod[];
  } | null;
  /** What is missing now; null: nothing. */
  reason: string | null;
  clusters: PlacementCluster[];
  /** The decisions about the object, the oldest first. */
  changes: {
    /** Null, as the time is: decided, and not written. */
    seq: Seq | null;
    time: Time | null;
    rule: string;
    text: string;
    facts: FactInWords[];
    answer?: WriteAnswer;
  }[];
  /** Why nothing is decided about it; null: something is. */
  undecided: string | null;
}
/** What a super cluster has for a namespace or pod. */
export interface PlacementCluster {
  id: string;
  /** The member; null: none has the id. */
  cluster: string | null;
  state: ClusterStanding;
  slices: Count;
  /** What the pool may use of it; null: no value yet. */
  usable: CpuAndMemory | null;
  /** What other namespaces hold. */
  others: CpuAndMemory;
  /** Slices that fit beside them; 0 unless open. */
  room: Count;
  /** The first resource of which there is not enough for one more slice, or for the pod; absent: there is. */
  short?: string;
  /** What keeps "usable" from what the cluster offers; absent: nothing. */
  heldBy?: (Layer & {resource: string})[];
  /** Of a pod, without itself: what is left of the namespace's slices. */
  left?: Amounts;
  /** The same of the cluster. */
  free?: Amounts;
  /** What is used beyond what there is: a share may shrink below what its pods ask for. */
  overUsed?: {share?: Amounts; cluster?: Amounts};
  /** Of a pod: what the cluster answers to its claims for devices; null: it has none there. */
  devices?: {
    /** "": they fit. */
    reason: string;
    detail: string;
    /** In how many ways they fit; null: they do not. */
    alternatives: Count | null;
    /** Devices that are left when the pod has its own; null: not counted. */
    left: Count | null;
    objects: NamedObject[];
    requests: RequestEvidence[];
    incompletePools: PoolName[];
  } | null;
}
export type ClusterStanding = "open" | "closed" | "away" | "gone";

// ---- devices ----

/** An object that pods name; a null seq: it is not there. */
export type NamedObject = {kind: string; name: string; seq: Seq | null};
/** A request behind a refusal, as if it were alone. */
export interface RequestEvidence {
  podSet: string;
  request: string;
  /** Null: all. */
  count: Count | null;
  devices: {
    device: string;
    resourceSlice: string;
    seq: Seq | null;
    /** "": it could be taken. */
    why: string;
    usedBy: NamedObject[];
  }[];
  /** How many do not match. */
  otherDevices: Count;
}
/** A pool whose devices do not count, because its driver has not published all of it. */
export type PoolName = {driver: string; pool: string};
export interface ReservedPod {
  podSet: string;
  node: string;
  claims: {
    entry: string;
    devices: {request: string; device: string; adminAccess: boolean}[];
    /** How many a device plugin gives instead. */
    ofPlugin?: Count;
  }[];
}
/**
 * `audit why workload/NAMESPACE/NAME`: where a Workload that uses devices has its places. `why-not` has the same, and a text
 * about the clusters.
 */
export interface WorkloadWhy extends Answer {
  kind: "WorkloadWhy" | "WorkloadWhyNot";
  workload: string;
  /** The last one about it. */
  event: Place | null;
  priority: Count;
  created: Time;
  /** Its worker list; null: none. */
  list: string[] | null;
  /** As decided. */
  nominated: string[];
  /** As observed. */
  clusterName: string;
  /** Of the condition fairlead.io/DevicesReserved; "": there is none. */
  reason: string;
  message: string;
  /** Why no cluster is chosen by devices now; null: one is, or would be. */
  undecided: string | null;
  reservation: {
    multiKueueCluster: string;
    cluster: string;
    since: Time;
    because: (Place | null)[];
    brokenSince: Time | null;
    placedSince: Time | null;
    /** Claims. */
    replacedBy: string[];
    pods: ReservedPod[];
  } | null;
  /** One per entry of the annotation dra.fairlead.io/claims. */
  fleetClaims: {
    entry: string;
    claim: string;
    /** Null: the entry names the claim. */
    template: string | null;
    /** Null, as the fields of the claim are: there is no such claim. */
    event: Place | null;
    class: {
      name: string;
      /** Null: it is missing. */
      event: Place | null;
      driver: string | null;
      /** Null: all. */
      suitableClusters: string[] | null;
    } | null;
    allocationMode: "Immediate" | "WaitForFirstConsumer" | null;
    allocation: {
      event: Place | null;
      /** Null: all. */
      clusters: string[] | null;
      shareable: boolean;
      /** Of a booking; null: it is none. */
      devices: string[] | null;
    } | null;
    reservedFor: string[];
    deallocationRequested: boolean;
  }[];
  /** What its drivers were asked and have answered; null: nothing. */
  fleetScheduling: {
    event: Place | null;
    potentialClusters: string[];
    selectedCluster: string;
    /** Names by entry. */
    unsuitableClusters: Record<string, string[]>;
  } | null;
  /** In the order of the list. */
  clusters: {
    multiKueueCluster: string;
    cluster: string;
    /** "": it fits. */
    reason: string;
    detail: string;
    /** The first entry of fleetClaims that cannot be used there; "": none. */
    keptBy: string;
    /** That decided it, where no object did. */
    events: (Place | null)[];
    /** What its pods name there. */
    objects: NamedObject[];
    /** Of a refusal. */
    requests: RequestEvidence[];
    incompletePools: PoolName[];
  }[];
}

// ---- other configurations ----

/** What damping costs and saves in a world (replay/whatif/totals.h). */
export interface Totals {
  /** But those of statuses. */
  writes: Count;
  /** Of these, of ClusterQueues. */
  queueWrites: Count;
  /** Of Workloads' statuses, not among the writes. */
  nominations: Count;
  /** Of other statuses, neither. */
  statusWrites: Count;
  overQuotaSeconds: Count;
  /** In units of the resource: cpu in cores; cpu and devices to the thousandth. */
  overQuotaResourceHours: Amounts;
  underQuotaResourceHours: Amounts;
  /** Spans of over-quota that ended. */
  safeShrinks: Count;
  slowestShrinkSeconds: Count;
}
/** `whatif`: the writes that would have differed under another configuration. */
export interface WhatIf {
  kind: "WhatIf";
  /** Pruned: it begins later than asked for. */
  from: Moment & {pruned?: true};
  to: Moment;
  /** How many writes are. */
  same: Count;
  /** In order of time. */
  differences: {
    difference: "onlyHistory" | "onlyWhatIf" | "value" | "time";
    /** "ClusterQueue training", of a tenant's "Pod web/a of tenant/acme". */
    object: string;
    /** Under history's own configuration; seq and writtenTime of the same write in the log, null: it has none. */
    history: {time: Time; rule: string; text: string; seq: Seq | null; writtenTime: Time | null} | null;
    whatIf: {time: Time; rule: string; text: string} | null;
  }[];
  totals: {history: Totals; sameConfiguration: Totals; whatIf: Totals};
  /** Changed settings that an annotation kept from an object. */
  overridden: {
    setting: string;
    kind: string;
    name: string;
    namespace?: string;
    /** Absent: the hub. */
    source?: string;
    annotation: string;
    value: string;
    /** Null: from the beginning. */
    from: Moment | null;
    /** Null: to the end. */
    to: Moment | null;
  }[];
  /** Of the whole span. */
  unseen: Unseen[];
}

// ---- documents and lines that have no "kind" of their own ----

/** `plan`: a line for each write. */
export interface PlannedWrite {
  seq: Seq;
  time: Time;
  /** The API server that is written to. */
  cluster: string;
  verb: string;
  apiVersion: string;
  /** Of the object. */
  kind: string;
  /** "": it has none. */
  namespace: string;
  name: string;
  /** Exactly what is sent; absent: nothing. */
  body?: unknown;
  /** Server-side apply takes fields from their owners. */
  force?: true;
  reason: {rule: string; because: Seq[]; text: string};
}
/** `plan --admit`: a line for each objection. */
export interface Objection {
  cluster: string;
  operation: string;
  apiVersion: string;
  kind: string;
  name: string;
  rule: string;
  action: string;
  /** "": the whole object. */
  field: string;
  message: string;
}
/** `replay`: what folding a log again found. */
export interface Replay {
  events: Count;
  last_seq: Seq;
  /** Null: there is no event. */
  first_time: Time | null;
  last_time: Time | null;
  compared: Count;
  differing: Count;
  /** The state that they were planned on was pruned. */
  not_compared: Count;
  state_from_seq: Seq;
  /** That agree with the state. */
  checkpoints: Count;
  differs_at: Seq | null;
  differs_in?: string;
  recorded?: PlannedWrite;
  /** Null: this program would write nothing. */
  planned?: PlannedWrite | null;
  /** Where writes were compared. */
  unseen?: Unseen[];
}
/** `log cat`: a line for each event. docs/log-format.md has the fields of each fact. */
export interface LogEvent {
  seq: Seq;
  logTime: Time;
  epoch: Count;
  /** The API server that it came from. */
  source: string;
  cause: Seq;
  fact: string;
  [field: string]: unknown;
}
/** `log verify`. */
export interface LogVerdict {
  chain: string;
  events: Count;
  /** Of a broken chain. */
  first_bad_seq?: Seq;
  what?: string;
  /** Of a good one: its end, in hexadecimal. */
  digest?: string;
  unused_snapshots?: Seq[];
}
/** `snapshot list` and `take`: a line for each. */
export interface Snapshot {
  seq: Seq;
  /** Null, as the rest is: it cannot be read. */
  time: Time | null;
  fold_version: Count | null;
  bytes: Count | null;
  /** Digests, in hexadecimal. */
  state: string | null;
  log: string | null;
  /** Of list and verify; "": none. */
  fault?: string;
}

// ---- usage ----

/** A decimal without exponent, exact in seconds and with two digits behind the point in hours: "403200", "12.50". */
export type Decimal = string;
/** What rows of reports about use are told apart by. */
export interface UsageKey {
  side: "hub" | "worker";
  /** Of the API server: "hub", or a member's name. */
  cluster: string;
  /** What "by" names; "": it has none. */
  key: string;
  /** Of the queue, by queue; else "". */
  uid: string;
  /** "" by resource. */
  flavor: string;
  resource: string;
}
/** The question of a report about use, and the part of the log that answers it. */
export interface UsageSpan {
  from: Time;
  /** Not included, but at the log's end. */
  to: Time;
  /** "queue", "cohort", "flavor", "resource", "cluster", "namespace", "owner" or "label:KEY". */
  by: string;
  /** "1h", "1d" or "month"; null: one period. */
  every: string | null;
  /** Whose hours, days and months. */
  timeZone: string;
  /** Of amounts; times are in seconds or in hours, as amounts are. */
  unit: "resource-seconds" | "resource-hours";
  /** The first event of the span; 0: it has none. */
  firstSeq: Seq;
  lastSeq: Seq;
  /** SHA-256 of the log's hash chain after the last event, 64 hexadecimal digits. */
  digest: string;
}
/** A period of a key. Null: the column does not apply. */
export interface UsageRow extends UsageKey {
  from: Time;
  to: Time;
  /** The effective nominal quota. */
  granted: Decimal | null;
  used: Decimal | null;
  /** The part of "used" that was granted. */
  own: Decimal | null;
  /** The part that was not. */
  borrowed: Decimal | null;
  /** The part of "granted" that was not used. */
  idle: Decimal | null;
  /** Quota that was reserved and not used. */
  reserved: Decimal | null;
  /** Time without an observation; in no other column. */
  unknown: Decimal | null;
  /** The accepted capacity. */
  capacity: Decimal | null;
  /** Time with more used than that. */
  above: Decimal | null;
  /** What nodes that are not eligible would offer. */
  down: Decimal | null;
  planned: Decimal | null;
}
/** What a queue says that it used, and what its Workloads add up to. */
export interface UsageReconciliation extends UsageKey {
  used: Decimal;
  fromWorkloads: Decimal;
  difference: Decimal;
}
/** The integral of the difference between "borrowed" and what Kueue calls borrowed. */
export interface UsageDifference extends UsageKey {
  difference: Decimal;
}
/** `usage`. */
export interface UsageReport extends UsageSpan {
  rows: UsageRow[];
  /** By namespace, owner and label, over the whole span. */
  reconciliation: UsageReconciliation[];
  /** By queue, over the whole span, where it is not 0. */
  borrowedDiffers: UsageDifference[];
}
/** `usage --idle-candidates`. */
export interface IdleCandidates extends UsageSpan {
  rows: IdleRow[];
}
/** A pair of a hub queue that was not used up; of one resource and flavor the idlest first. */
export interface IdleRow extends UsageKey {
  granted: Decimal;
  idle: Decimal;
  /** Those that wait at the span's end and would have fitted, the oldest first. */
  workloads: {namespace: string; name: string}[];
}

export {}; // what has no "export" is a part of others, and has no name in the schemas
