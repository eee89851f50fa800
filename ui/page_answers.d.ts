// What /ui/api/* answers, field by field; answers.d.ts says how this text is used.

import type {
  AdmissionHistory,
  Amount,
  Amounts,
  BlockedBy,
  CapacitySource,
  ClusterStanding,
  Count,
  CpuAndMemory,
  Duration,
  Hold,
  ObjectHistory,
  PlacementHistory,
  PlacementWhy,
  QuotaAudit,
  QuotaDiff,
  QuotaHistory,
  QuotaWhy,
  QuotaWhyList,
  QuotaWhyNot,
  Seq,
  Time,
  Times,
  Waiting,
  WaitingList,
  WhatIf,
  WorkersHistory,
  WorkersWhy,
  WorkloadWhy,
  Writer,
} from "./answers";

/** How far the log is folded; the same question brings it further. Seq 0: it waits. */
export type Building = {seq: Seq; lastSeq: Seq};
interface Folded {
  /** Null: all of the log is in the answer. Absent of a part of another answer. */
  building?: Building | null;
  /** What ends the log too early. */
  damage?: string | null;
}

/** /ui/api/log?seq=&chain=: which log it is. */
export interface Log {
  kind: "Log";
  first_seq: Seq;
  last_seq: Seq;
  /** Null: it has no event. */
  last_time: Time | null;
  chain: string;
  damage: string | null;
  /** The option that names it, and its value. */
  place: string[];
  program_version: string;
  /** Whether it has the chain that was asked about; null: none was. Behind: it ends earlier. */
  link: null | "same" | "other" | "behind" | "pruned";
}

/** /ui/api/waiting?queue=&from=&to=&points=: how many Workloads of a ClusterQueue waited, by what for. */
export interface WaitingDepth extends Folded {
  kind: "WaitingDepth";
  queue: string;
  from: Time;
  to: Time;
  /** Those for which any waited in the span; a count as text, like the values of other lines. */
  classes: {class: WaitingList["workloads"][number]["class"]; steps: [time: Time, seq: Seq, count: string][]}[];
}

/** /ui/api/overview?from=&to=&span=all&buckets=; without any of the first three of where something moved. */
export interface Overview extends Folded {
  kind: "Overview";
  from: Time;
  to: Time;
  /** Of the log. */
  begin: Time;
  damage: string | null;
  bucketWidth: Duration;
  /** Ascending; those without an event are left out. */
  buckets: [time: Time, events: Count, ours: Count, foreign: Count, losses: Count][];
  /** Of the whole log. */
  totals: {events: Count; ours: Count; foreign: Count; losses: Count};
  /** The most troubled first. */
  queues: {
    queue: string;
    /** The worst first (replay/timeline/moment_values.h); never empty. */
    states: string[];
    pairs: {flavor: string; resource: string; nominal: Amount | null; desired: Amount | null; used: Amount | null}[];
  }[];
  /** The most troubled first. */
  clusters: {
    cluster: string;
    state: string;
    source: CapacitySource | null;
    hold: Hold | null;
    capacity: {
      flavor: string;
      resource: string;
      offered: Amount | null;
      usable: Amount | null;
      accepted: Amount | null;
    }[];
  }[];
  lists: {
    list: string;
    state: "frozen" | "refused" | "unanswered" | "moving" | "steady";
    listed: string[];
    selected: string[];
    /** Null: it need not change. */
    wish: string[] | null;
  }[];
  cohorts: {
    cohort: string;
    /** False: ClusterQueues name it, and no object was seen. */
    object: boolean;
    parent: string | null;
    /** Null: none, or not known. */
    weight: string | null;
    queues: string[];
    quotas: {
      flavor: string;
      resource: string;
      nominal: Amount;
      borrowingLimit: Amount | null;
      lendingLimit: Amount | null;
    }[];
  }[];
  /** How many there are (Pool has them); null: there is no pool. */
  pool: {
    tenants: Count;
    superClusters: Count;
    namespaces: Count;
    /** Namespaces that lack something. */
    troubled: Count;
    pods: Count;
    waiting: Count;
  } | null;
}

/**
 * [time, seq, value, writer]: a value from its time to the next step's. Seq is null of a what-if, which is in no log; a null
 * value: none. "nominal" and "placed" have the writer.
 */
export type Step = [Time, Seq | null, Amount | null, Writer?];
interface AnySeries extends Folded {
  kind: "Series";
  from: Time;
  to: Time;
}
interface Reducible {
  /** Steps were left out: between two others may have been more. */
  reduced: boolean;
}
/**
 * /ui/api/series?queue=|cluster=&flavor=&resource=&from=&to=&points=. Each line begins with the step in force at "from" and
 * has at most `points` steps, the extremes of each stretch among them.
 */
export interface Series extends AnySeries {
  queue?: string;
  cluster?: string;
  pairs: (Reducible & {
    flavor: string;
    resource: string;
    /** This answer has not all steps of its span: there are more than `points`. */
    leftOut: boolean;
    /** Of a queue assigned, granted, offered, usable, accepted, desired, nominal, used; of a cluster the middle three. */
    lines: Record<string, Step[]>;
  })[];
}
/** The same of a worker list (list=). A null value: the list does not know the name. */
export interface WorkerSeries extends AnySeries {
  list: string;
  workers: (Reducible & {
    multiKueueCluster: string;
    cluster: string;
    lines: Record<"selected" | "listed" | "draining" | "frozen", [time: Time, seq: Seq, value: boolean | null][]>;
  })[];
}
/** The same of a tenant's namespace (namespace=TENANT/NAME), in counts. */
export interface ShareSeries extends AnySeries {
  namespace: string;
  shares: (Reducible & {
    /** "": the namespace itself. */
    id: string;
    lines: Record<"placed" | "decided" | "pods" | "expected" | "waiting", Step[]>;
  })[];
}
/** The same of a super cluster (superCluster=ID: accepted, held) or a tenant (tenant=: slices, limit). */
export interface PoolSeries extends AnySeries {
  superCluster?: string;
  tenant?: string;
  resources: (Reducible & {resource: string; lines: Record<string, Step[]>})[];
}
/** /ui/api/sparks?of=[[queue, flavor, resource], ...]: a series for each; null: there never was such a pair. */
export interface Sparks {
  kind: "Sparks";
  series: (Series | null)[];
  building: Building | null;
}
/** /ui/api/suppressed?cluster=: the nodes that flapped, and did not count for growing. */
export interface SuppressedNodes extends Folded {
  kind: "SuppressedNodes";
  cluster: string;
  from: Time;
  to: Time;
  /** There are more events or steps than an answer reads: then there are no steps, or fewer. */
  leftOut: boolean;
  /** By name. "until" is what `audit why` has as suppressedUntil until the next step; null: not suppressed. */
  nodes: {node: string; steps: [time: Time, seq: Seq, until: Time | null][]}[];
}
/** /ui/api/changes?seqs=N,N&times=true: by seq what each of these events changed, and when. What is not known is absent. */
export interface Changes {
  kind: "Changes";
  changes: Record<string, string>;
  /** If they were asked for. */
  times?: Record<string, Times>;
}

/** /ui/api/pool?tenant=&namespace=&superCluster=: the pool at the log's end. */
export interface Pool extends Folded {
  kind: "Pool";
  tenants: {
    tenant: string;
    state: "connected" | "not connected";
    namespaces: Count;
    pods: Count;
    waiting: Count;
    slices: CpuAndMemory;
    /** What has none is absent. */
    limit: Amounts;
  }[];
  superClusters: {
    id: string;
    /** Null: no member has the id. */
    cluster: string | null;
    state: ClusterStanding;
    overflowing: boolean;
    namespaces: Count;
    accepted: Amounts;
    held: Amounts;
  }[];
  /** Those that lack something first. */
  namespaces: {
    tenant: string;
    namespace: string;
    /** The worst first (replay/timeline/pool_values.h); never empty. */
    states: string[];
    /** Null: none was read. */
    slice: CpuAndMemory | null;
    expected: Count;
    slices: Count;
    /** Slices by id. */
    placements: Record<string, Count>;
    /** What is missing; null: nothing. */
    reason: string | null;
    pods: Count;
    waiting: Count;
  }[];
  /** How many more there are. */
  namespacesLeftOut: Count;
  /** Those that wait; of a namespace that is asked for all. */
  pods: {
    tenant: string;
    namespace: string;
    pod: string;
    superCluster: string | null;
    waitsSince: Time | null;
    reason: string | null;
  }[];
  podsLeftOut: Count;
}

/** A window that a what-if may change. */
export interface Setting {
  name: string;
  /** At the log's end. */
  value: string;
  /** Null: it is a duration. */
  most: Count | null;
  /** Whether it may be 0. */
  zero: boolean;
}
/** /ui/api/whatif?set=&from=&to=&queue=&flavor=&resource=&points=. */
export interface PageWhatIf {
  kind: "PageWhatIf";
  settings: Setting[];
  /** With the first of its differences. Null: no setting was given, or it is not folded yet. */
  whatIf: (WhatIf & {differencesLeftOut: Count}) | null;
  /** Of the queue that was asked for, in that world. */
  series: Series | null;
  building: Building | null;
}
/** /audit/whatif, while it is folded; then it answers a WhatIf. */
export type WhatIfUnderWay = {building: Building};

/** /ui/api/proof?begin=true: the verification of chain and replay. Before it begins there is the state alone. */
export interface Proof {
  kind: "Proof";
  state: "none" | "running" | "done";
  /** The last event that is verified. */
  seq?: Seq;
  /** "intact", or what is broken; null: not known yet. */
  chain?: string | null;
  /** What breaks it. */
  what?: string | null;
  /** Why the log cannot be verified. */
  error?: string | null;
  /** When it was done. */
  at?: Time | null;
  replay?: {
    events: Count;
    compared: Count;
    differing: Count;
    notCompared: Count;
    checkpoints: Count;
    differsAt: Seq | null;
    differsIn: string | null;
  } | null;
  progress?: {done: Count; total: Count} | null;
}

/** Every document that has a "kind" of its own. */
export type Document =
  | AdmissionHistory
  | BlockedBy
  | Changes
  | Log
  | ObjectHistory
  | Overview
  | PageWhatIf
  | PlacementHistory
  | PlacementWhy
  | Pool
  | PoolSeries
  | Proof
  | QuotaAudit
  | QuotaDiff
  | QuotaHistory
  | QuotaWhy
  | QuotaWhyList
  | QuotaWhyNot
  | Series
  | ShareSeries
  | Sparks
  | SuppressedNodes
  | Waiting
  | WaitingList
  | WhatIf
  | WaitingDepth
  | WorkerSeries
  | WorkersHistory
  | WorkersWhy
  | WorkloadWhy;

export {};
