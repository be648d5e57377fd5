/** Follows the pods of a node and keeps what no later look could tell: the highest sum they ever held, and each change of a size. */
import type { Pod } from '../../../src/api/core.ts';
import type { KubeApi } from '../../../src/api/kube-api.ts';
import { resources } from '../../../src/api/resources.ts';
import { createInformer } from '../../../src/kube/informer.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { createSilentLogger } from '../../../src/lib/log.ts';
import { createSystemRandom } from '../../../src/lib/random.ts';
import type { EpochMillis, Millicores } from '../../../src/lib/units.ts';
import { heldBy, type PodSize, sizeOf } from './shared-pods.ts';

export interface SizeChange {
  readonly at: EpochMillis;
  readonly pod: string;
  readonly from: PodSize;
  readonly to: PodSize;
}

export interface PodWatch {
  readonly pods: ReadonlyMap<string, Pod>;
  /** Highest sum of what the node's pods held, at any event. */
  readonly highestSum: Millicores;
  readonly changes: readonly SizeChange[];
  stop(): Promise<void>;
}

export async function watchPods(api: KubeApi, nodeName: string, clock: Clock): Promise<PodWatch> {
  const informer = createInformer<Pod, Pod>({
    api,
    clock,
    random: createSystemRandom(),
    log: createSilentLogger(),
    type: resources.pods,
    project: (pod) => pod,
    selection: { fieldSelector: `spec.nodeName=${nodeName}` },
  });
  const pods = new Map<string, Pod>();
  const changes: SizeChange[] = [];
  let highestSum = 0;
  informer.subscribe({
    onChange(key, before, after) {
      if (after === undefined) pods.delete(key);
      else pods.set(key, after);
      highestSum = Math.max(
        highestSum,
        [...pods.values()].reduce((sum, pod) => sum + heldBy(pod), 0),
      );
      if (before === undefined || after === undefined || before.metadata?.uid !== after.metadata?.uid) return;
      const [from, to] = [sizeOf(before), sizeOf(after)];
      if (from.request !== to.request || from.limit !== to.limit)
        changes.push({ at: clock.now(), pod: after.metadata?.name ?? '', from, to });
    },
  });
  const stopper = new AbortController();
  const running = informer.run(stopper.signal);
  await informer.onSynced;
  return {
    pods,
    get highestSum() {
      return highestSum;
    },
    changes,
    async stop() {
      stopper.abort();
      await running;
    },
  };
}
