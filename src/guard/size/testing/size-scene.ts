/** A scene for tests of the size guards: a Deployment of 3 on one roomy node, where every rule agrees to resize pod `web-1`. */
import type { ResizeDecision, RetemplateDecision } from '../../../decide/size-decision.ts';
import type { ReplicaSetRecord } from '../../../model/records.ts';
import { createSizingSnapshot, type SizingRecords } from '../../../model/sizing-snapshot.ts';
import { aNamespace, aNode, GIB, NOON } from '../../../model/testing/records.ts';
import { aSizedPod, aSizedWorkload } from '../../../model/testing/sizing-records.ts';
import type { SizeGuardContext, SizePolicy, SizeSettings } from '../context.ts';
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
export const pods = ['web-1', 'web-2', 'web-3'].map((name) => aSizedPod(replicaSet, name, {}, { uid: name }));
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
    why: { summary: 'more CPU', numbers: {} },
    ...changes,
  };
}

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
