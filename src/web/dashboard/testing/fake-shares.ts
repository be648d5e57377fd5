/** Pods with shares of CPU that tests set by hand. */
import type { WorkloadRef } from '../../../model/cluster-view.ts';
import { workloadKey } from '../../../model/cluster-view.ts';
import type { ShareRecorderOptions } from '../share-recorder.ts';

type View = ShareRecorderOptions['view'];
type Pod = NonNullable<ReturnType<View['pod']>>;
type Workload = NonNullable<ReturnType<View['workload']>>;
type Shares = ShareRecorderOptions['allocation'];
type Record = NonNullable<ReturnType<Shares['of']>>;
type Listener = Parameters<Shares['onChange']>[0];

export interface FakeShares {
  readonly view: View;
  readonly allocation: Shares;
  set(ref: WorkloadRef, pod: string, share: { applied?: string; usage?: string; requested?: number }): void;
  remove(ref: WorkloadRef, pod: string): void;
  listeners(): number;
}

interface Known {
  readonly ref: WorkloadRef;
  readonly pod: Pod;
  readonly record: Record;
}

export function fakeShares(): FakeShares {
  const pods = new Map<string, Known>();
  const workloads = new Map<string, Workload>();
  const listeners = new Set<Listener>();
  return {
    view: {
      workload: (ref) => workloads.get(workloadKey(ref)),
      workloadOf: ({ owner }) => workloads.get(`Deployment/${owner?.name}`),
      podsOf: (workload) =>
        [...pods.values()].filter(({ ref }) => workloadKey(ref) === workloadKey(workload)).map(({ pod }) => pod),
      pod: (namespace, name) => pods.get(`${namespace}/${name}`)?.pod,
    },
    allocation: {
      of: ({ namespace, name }) => pods.get(`${namespace}/${name}`)?.record,
      onChange(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
    set(ref, name, { applied, usage, requested = 100 }) {
      const { namespace } = ref;
      const key = `${namespace}/${name}`;
      const before = pods.get(key)?.record;
      const record = {
        namespace,
        podName: name,
        spec: {
          namespace,
          podName: name,
          desiredCPURequest: '1m',
          desiredCPULimit: '1m',
          decision: { cpuUsage: usage },
        },
        status: { appliedCPURequest: applied },
      } as Record;
      const owner = { name: `${namespace}/${ref.name}` };
      const pod = { pod: { namespace, name, owner, template: { requests: { cpuMillis: requested } } } } as Pod;
      workloads.set(workloadKey(ref), ref as Workload);
      pods.set(key, { ref, pod, record });
      for (const listener of listeners) listener(before, record);
    },
    remove({ namespace }, name) {
      const key = `${namespace}/${name}`;
      const before = pods.get(key)?.record;
      pods.delete(key);
      for (const listener of listeners) listener(before, undefined);
    },
    listeners: () => listeners.size,
  };
}
