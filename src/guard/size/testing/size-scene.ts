/**
 * A scene for tests of the size guards: a Deployment of 3 on one roomy node, where every rule agrees to resize pod
 * `web-1`.
 */
import type {
  EvictToResizeDecision,
  ResizeDecision,
  RetemplateDecision,
  SizeDecision,
} from '../../../decide/size-decision.ts';
import { parseWindow } from '../../../lib/schedule.ts';
import type { PodRecord, ReplicaSetRecord } from '../../../model/records.ts';
import type { PodSizing } from '../../../model/sizing-records.ts';
import { createSizingSnapshot, type SizingRecords } from '../../../model/sizing-snapshot.ts';
import { aNamespace, aNode, GIB, NOON } from '../../../model/testing/records.ts';
import { aSizedPod, aSizedWorkload } from '../../../model/testing/sizing-records.ts';
import type { InFlightResize, SizeGuardContext, SizePolicy, SizeSettings } from '../context.ts';
import type { DisruptionState } from '../disruption-state.ts';
import { inspectSizeAll } from '../inspect-size.ts';
import { createSizeLog, type SizeLog } from '../size-history.ts';

export const web = aSizedWorkload();
export const replicaSet: ReplicaSetRecord = {
  namespace: 'shop',
  name: 'web-rev1',
  uid: 'uid-web-rev1',
  owner: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: web.uid },
  revision: 'rev1',
  replicas: 3,
  createdAt: web.createdAt,
};
/** The kubelet has not looked at the last size yet, so that there is one to take back. */
export const unread = { generation: 2, observedGeneration: 1 } as const;
export const pods = ['web-1', 'web-2', 'web-3'].map((name) => aSizedPod(replicaSet, name, unread, { uid: name }));
export const node = aNode('n1', undefined, { allocatable: { cpuMillis: 4000, memoryBytes: 8 * GIB } });

/** 200m -> 300m of the only container of `web-1`. */
export function resize(changes: Partial<ResizeDecision> = {}): ResizeDecision {
  return {
    kind: 'resize',
    engine: 'rightsizing',
    workload: { kind: 'Deployment', namespace: 'shop', name: 'web' },
    workloadUid: web.uid,
    pod: { namespace: 'shop', name: 'web-1', uid: 'web-1' },
    changes: [{ container: 'app', to: { cpuRequest: 300 } }],
    why: { summary: 'more CPU', numbers: {} },
    ...changes,
  };
}

export function retemplate(changes: Partial<RetemplateDecision> = {}): RetemplateDecision {
  return {
    kind: 'retemplate',
    engine: 'rightsizing',
    workload: { kind: 'Deployment', namespace: 'shop', name: 'web' },
    workloadUid: web.uid,
    changes: [{ container: 'app', to: { cpuRequest: 300 } }],
    useServerSideApply: true,
    force: true,
    why: { summary: 'more CPU', numbers: {} },
    ...changes,
  };
}

/** The same by a new pod. */
export const evictToResize: EvictToResizeDecision = {
  ...resize(),
  kind: 'evict-to-resize',
  engine: 'rightsizing',
  workload: { kind: 'Deployment', namespace: 'shop', name: 'web' },
  workloadUid: web.uid,
  growth: { cpuMillis: 100, memoryBytes: 0 },
};

export function aSizeLog(): SizeLog {
  return createSizeLog({ backoff: { initial: 60_000, max: 3_600_000 }, giveUpAfter: 3, giveUpMillis: 3_600_000 });
}

export interface SizeSceneChanges extends Partial<Omit<SizeGuardContext, 'view' | 'settings' | 'policy'>> {
  readonly records?: SizingRecords;
  readonly settings?: Partial<SizeSettings>;
  readonly policy?: Partial<SizePolicy>;
}

export function sizeScene(changes: SizeSceneChanges = {}): SizeGuardContext {
  const { records, settings, policy, ...rest } = changes;
  return {
    view: createSizingSnapshot({
      namespaces: [aNamespace()],
      nodes: [node],
      workloads: [web],
      replicaSets: [replicaSet],
      pods,
      ...records,
    }),
    settings: {
      enabled: true,
      readOnly: false,
      dryRun: false,
      warmUpMillis: 60_000,
      maxConcurrentResizes: 10,
      maxChangesPerMinute: 30,
      memoryMargin: 10,
      ...settings,
    },
    policy: { window: undefined, cooldownMillis: 600_000, allowRecreate: true, ...policy },
    leadership: { leader: true, sinceMillis: NOON - 3_600_000 },
    history: aSizeLog(),
    resizes: [],
    evictions: [],
    memoryOf: () => ({ now: 2 ** 26, peak: 2 ** 26 }),
    isAllocated: () => false,
    servesResize: true,
    now: NOON,
    ...rest,
  };
}

/** What objects, in order. */
export const reasonsFor = (decision: SizeDecision, changes: SizeSceneChanges = {}) =>
  inspectSizeAll(decision, sizeScene(changes)).map(({ reason }) => reason);

/** The scene with `web-1` changed. */
export const withPod = (sizing: Partial<PodSizing>, changes: Partial<PodRecord> = {}): { records: SizingRecords } => ({
  records: {
    pods: [aSizedPod(replicaSet, 'web-1', { ...unread, ...sizing }, { uid: 'web-1', ...changes }), ...pods.slice(1)],
  },
});
export const inFlight = (name: string, to: InFlightResize['changes'][number]['to']): InFlightResize => ({
  pod: { namespace: 'shop', name, uid: name },
  engine: 'rightsizing',
  since: NOON,
  changes: [{ container: 'app', to }],
});
/** Nothing under way, and room for two. */
export const aDisruptionState = (changes: Partial<DisruptionState> = {}): DisruptionState => ({
  window: undefined,
  last: undefined,
  cooldownMillis: 10_000,
  allowSingleReplica: false,
  stuckMillis: 600_000,
  inFlight: 0,
  limit: 2,
  ...changes,
});

/** A window of one hour at each of these times. */
export function hourFrom(schedule: string): DisruptionState['window'] {
  const parsed = parseWindow(schedule, '1h');
  return parsed.ok ? parsed.window : undefined;
}

export const memory = (memoryLimit: number) => resize({ changes: [{ container: 'app', to: { memoryLimit } }] });
