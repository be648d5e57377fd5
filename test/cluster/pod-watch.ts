/** The pods of a namespace as they come and go: to look at a thousand of them again and again would take the CPU from what is waited for. */
import type { KubeObject, Pod } from '../../src/api/core.ts';
import type { KubeApi } from '../../src/api/kube-api.ts';
import { type ResourceType, resources } from '../../src/api/resources.ts';
import { createInformer } from '../../src/kube/informer.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { createSilentLogger } from '../../src/lib/log.ts';
import { createSystemRandom } from '../../src/lib/random.ts';

export interface PodWatch {
  /** As of now. */
  pods(): Pod[];
  stop(): Promise<void>;
}

/** @param onPod is told of every pod, as it is after each of its changes. */
export async function watchPods(api: KubeApi, namespace: string, onPod: (pod: Pod) => void): Promise<PodWatch> {
  const stop = new AbortController();
  const informer = informerOf<Pod>(api, resources.pods, namespace);
  informer.subscribe({
    onChange(_key, _before, after) {
      if (after !== undefined) onPod(after);
    },
  });
  const running = informer.run(stop.signal);
  await informer.onSynced;
  return {
    pods: () => [...informer.store.values()],
    async stop() {
      stop.abort();
      await running;
    },
  };
}

/** Whole objects of one namespace; to be run by the caller. */
export function informerOf<T extends KubeObject>(api: KubeApi, type: ResourceType<T>, namespace: string) {
  return createInformer<T, T>({
    api,
    type,
    project: (object) => object,
    clock: createSystemClock(),
    random: createSystemRandom(),
    log: createSilentLogger(),
    selection: { namespace },
  });
}
