// The answers of the server: replay/audit/audit.h, replay/timeline/timeline_answers.h and engine/main/page_service.h.

import type {Step} from "./charts";

export interface Overview {
  from: string;
  to: string;
  begin: string;
  bucketWidth: string;
  damage: string | null;
  buckets: [time: string, events: number, ours: number, foreign: number, losses: number][];
  totals: {events: number; ours: number; foreign: number; losses: number};
  queues: {
    queue: string;
    states: string[];
    pairs: {flavor: string; resource: string; nominal: string | null; desired: string | null; used: string | null}[];
  }[];
  clusters: {
    cluster: string;
    state: string;
    source: string | null;
    hold: {since: string; until: string} | null;
    capacity: {
      flavor: string;
      resource: string;
      offered: string | null;
      usable: string | null;
      accepted: string | null;
    }[];
  }[];
  lists: {list: string; state: string; listed: string[]; selected: string[]; wish: string[] | null}[];
  cohorts: {
    cohort: string;
    object: boolean;
    parent: string | null;
    weight: string | null;
    queues: string[];
    quotas: {
      flavor: string;
      resource: string;
      nominal: string;
      borrowingLimit: string | null;
      lendingLimit: string | null;
    }[];
  }[];
  pool: {
    tenants: number;
    superClusters: number;
    namespaces: number;
    troubled: number;
    pods: number;
    waiting: number;
  } | null;
}
export interface Pool {
  tenants: {
    tenant: string;
    state: string;
    namespaces: number;
    pods: number;
    waiting: number;
    slices: Record<string, string>;
    limit: Record<string, string>;
  }[];
  superClusters: {
    id: string;
    cluster: string | null;
    state: string;
    overflowing: boolean;
    namespaces: number;
    accepted: Record<string, string>;
    held: Record<string, string>;
  }[];
  namespaces: {
    tenant: string;
    namespace: string;
    states: string[];
    slice: Record<string, string> | null;
    expected: number;
    slices: number;
    placements: Record<string, number>;
    reason: string | null;
    pods: number;
    waiting: number;
  }[];
  namespacesLeftOut: number;
  pods: {
    tenant: string;
    namespace: string;
    pod: string;
    superCluster: string | null;
    waitsSince: string | null;
    reason: string | null;
  }[];
  podsLeftOut: number;
}
export interface ShareSeries {
  from: string;
  to: string;
  namespace: string;
  shares: {
    id: string;
    reduced: boolean;
    lines: Record<"placed" | "decided" | "pods" | "expected" | "waiting", Step[]>;
  }[];
}
export interface PoolSeries {
  from: string;
  to: string;
  resources: {resource: string; reduced: boolean; lines: Record<string, Step[]>}[];
}
export interface PlacementHistory {
  rows: {seq: number; time: string; old: unknown; new: unknown; writer: "fairlead" | "foreign"; rule: string | null}[];
  unseen: Unseen[];
}
export interface PlacementWhy {
  asOf: AsOf;
  tenant: string;
  namespace: string;
  pod?: string;
  slice: Record<string, string> | null;
  expected: number;
  placements: Record<string, number>;
  superCluster?: string | null;
  reason: string | null;
  undecided: string | null;
  unseen: Unseen[];
  clusters: {
    id: string;
    cluster: string | null;
    state: string;
    slices: number;
    usable: Record<string, string> | null;
    others: Record<string, string>;
    room: number;
    short?: string;
    heldBy?: (Layer & {resource: string})[];
    left?: Record<string, string>;
    free?: Record<string, string>;
    devices?: {reason: string; detail: string} | null;
  }[];
  changes: {
    seq: number | null;
    time: string | null;
    rule: string;
    text: string;
    facts: {seq: number; time: string | null; text: string | null; changed: string | null}[];
    answer?: {outcome: string; seq?: number};
  }[];
}
export interface Series {
  from: string;
  to: string;
  pairs: {flavor: string; resource: string; reduced: boolean; leftOut?: boolean; lines: Record<string, Step[]>}[];
}
export interface SuppressedNodes {
  leftOut: boolean;
  nodes: {node: string; steps: [time: string, seq: number, until: string | null][]}[];
}
/** Between `from` and `to` it became so; the hub knew at `known`. */
export interface Times {
  from: string | null;
  to: string;
  known: string;
  how: "said" | "created" | "answered" | "unseen" | "listed" | "logged";
  by?: string;
}
export interface WorkerSeries {
  from: string;
  to: string;
  list: string;
  workers: {
    multiKueueCluster: string;
    cluster: string;
    reduced: boolean;
    lines: Record<"selected" | "listed" | "draining" | "frozen", [time: string, seq: number, value: boolean | null][]>;
  }[];
}
export interface WorkersHistory {
  multiKueueConfig: string;
  rows: {
    seq: number;
    time: string;
    old: string[] | null;
    new: string[];
    writer: "fairlead" | "foreign";
    rule?: string;
    text?: string;
  }[];
}
export interface WorkersWhy {
  asOf: AsOf;
  multiKueueConfig: string;
  list: string[];
  wish: string[] | null;
  use: string;
  foreign: string;
  frozenSince: string | null;
  unseen: Unseen[];
  workers: {
    multiKueueCluster: string;
    cluster: string;
    listed: boolean;
    selected: boolean;
    since: string;
    standing: string;
    leftOut: string;
    windowsEnd: Record<string, string>;
    heldBy: {workload: string; seq: number}[];
    because: {seq: number; time: string | null}[];
  }[];
}
export interface Setting {
  name: string;
  value: string;
  most: number | null;
  zero: boolean;
}
export interface Totals {
  writes: number;
  queueWrites: number;
  nominations: number;
  statusWrites: number;
  overQuotaSeconds: number;
  overQuotaResourceHours: Record<string, string>;
  underQuotaResourceHours: Record<string, string>;
  safeShrinks: number;
  slowestShrinkSeconds: number;
}
export interface WhatIf {
  from: {seq: number; time: string; pruned?: boolean};
  to: {seq: number; time: string};
  same: number;
  differences: {
    difference: "onlyHistory" | "onlyWhatIf" | "value" | "time";
    object: string;
    history: {time: string; rule: string; text: string; seq: number | null; writtenTime: string | null} | null;
    whatIf: {time: string; rule: string; text: string} | null;
  }[];
  differencesLeftOut: number;
  totals: {history: Totals; sameConfiguration: Totals; whatIf: Totals};
  overridden: {setting: string; kind: string; name: string; namespace?: string; annotation: string; value: string}[];
  unseen: Unseen[];
}
export interface PageWhatIf {
  settings: Setting[];
  whatIf: WhatIf | null;
  series: Series | null;
}
export interface LogAnswer {
  first_seq: number;
  last_seq: number;
  last_time: string | null;
  chain: string;
  damage: string | null;
  place: string[];
  program_version: string;
  link: null | "same" | "other" | "behind" | "pruned";
}
export interface Place {
  seq: number;
  time: string | null;
  pruned?: boolean;
}
export interface AsOf {
  seq: number;
  time: string;
  eventTime: string;
}
export interface Unseen {
  what: string;
  text: string;
  from: Place | null;
  since: string | null;
  to: Place | null;
}
export interface Change {
  seq: number;
  time: string;
  flavor: string;
  resource: string;
  old: string | null;
  new: string | null;
  writer: "fairlead" | "foreign";
  rule?: string;
  text?: string;
  because?: number[];
  by?: {manager: string; operation: string; time: string | null}[];
  answer?: {outcome: string; seq?: number; time?: string};
  tookEffect?: {seq: number; time: string} | null;
}
export interface SettingChange {
  seq: number;
  time: string;
  field: string;
  flavor: string | null;
  resource: string | null;
  old: unknown;
  new: unknown;
  writer: "fairlead" | "foreign";
  rule?: string;
  by?: {manager: string; operation: string}[];
}
export interface ObjectHistory {
  rows: SettingChange[];
  note: string | null;
}
export interface History {
  rows: Change[];
  settings: SettingChange[];
  unseen: Unseen[];
  note: string | null;
}
export interface Fact {
  seq: number;
  time: string | null;
  text: string | null;
  changed: string | null;
  times: Times | null;
}
export interface Layer {
  name: string;
  text: string;
  since: string | null;
  until: string | null;
  settings?: {name: string; value: string; seq: number}[];
}
export interface Capacity {
  flavor: string;
  resource?: string;
  bounds: boolean;
  offered: string;
  usable: string;
  accepted: string;
  state: string;
  layer: Layer;
  moved: {from: string | null; to: string; at: string; by: string} | null;
  because: Fact[];
  earlierNotKept: boolean;
}
export interface Grant {
  cluster: string;
  assigned: string;
  granted: string;
  contributes: string;
  reason: string;
  claim: {
    name: string;
    generation: number;
    editedSeq: number;
    editedTime: string | null;
    fault: {reason: string; message: string} | null;
  };
  member: {confirmed: string; settled: boolean; seq: number} | null;
  presence: {
    source: string | null;
    liveness: string;
    livenessSeq: number;
    hold: {since: string; until: string} | null;
  } | null;
  capacity: Capacity[];
  nodes: {
    name: string;
    seq: number;
    amount: string;
    counts: boolean;
    reasons: string[];
    suppressedUntil: string | null;
  }[];
  devices?: DevicePool[];
}
export interface DevicePool {
  driver: string;
  pool: string;
  status: "complete" | "incomplete" | "invalid";
  why: string;
  heldUntil: string | null;
  seq: number;
  adds: Record<string, string>;
  devices: {name: string; flavor: string; counts: boolean; reasons: string[]}[];
}
export interface WorkerPart {
  cluster: string;
  from: string;
  usable?: string;
  accepted?: string;
  contributes?: string;
  layer: Layer;
  because: Fact[];
}
export interface Why {
  asOf: AsOf;
  configuration: {seq: number; digest: string; time: string | null};
  value: {
    nominal: string | null;
    desired: string | null;
    ours: boolean;
    unknown: boolean;
    base: string;
    queueSeq: number;
    overbookPercent: number;
  };
  written: Change | null;
  writtenTimes: Times | null;
  grants: Grant[];
  workers?: WorkerPart[];
  unseen: Unseen[];
}
export interface WhyNot {
  asOf: AsOf;
  nominal: string | null;
  desired: string | null;
  undamped: string | null;
  answer: string;
  guards: {
    guard: string;
    text: string;
    since: string | null;
    until: string | null;
    seq: number | null;
    cluster: string | null;
  }[];
}
export interface Diff {
  from: AsOf;
  to: AsOf;
  unseen: Unseen[];
  [section: string]: unknown;
}
export interface Proof {
  state: "none" | "running" | "done";
  seq?: number;
  chain?: string | null;
  what?: string | null;
  error?: string | null;
  at?: string | null;
  replay?: {
    events: number;
    compared: number;
    differing: number;
    notCompared: number;
    checkpoints: number;
    differsAt: number | null;
    differsIn: string | null;
  } | null;
  progress?: {done: number; total: number} | null;
}
