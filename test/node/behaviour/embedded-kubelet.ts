/** The embedded cluster's kubelet, in virtual time. */
import { resources } from '../../../src/api/resources.ts';
import { createCluster } from '../../../src/cluster/cluster.ts';
import { createSilentLogger } from '../../../src/lib/log.ts';
import { createSeededRandom } from '../../../src/lib/random.ts';
import { settled } from '../../../src/lib/testing/settled.ts';
import { createVirtualClock } from '../../../src/lib/virtual-clock.ts';
import type { KubeletUnderTest } from './kubelet-under-test.ts';

const MEBIBYTE = 1024 ** 2;
const STEP_MILLIS = 10;
const DEFAULT_TIMEOUT_MILLIS = 60_000;

export async function startEmbeddedKubelet(): Promise<KubeletUnderTest> {
  const clock = createVirtualClock(Date.UTC(2026, 0, 31, 12));
  const stopper = new AbortController();
  const node = (name: string) => ({
    name,
    cpuMillis: 2000,
    memoryBytes: 24 * 1024 * MEBIBYTE,
    reserved: { cpuMillis: 500, memoryBytes: 2 * 1024 * MEBIBYTE },
  });
  const cluster = createCluster({
    clock,
    random: createSeededRandom(1),
    log: createSilentLogger(),
    nodes: [
      node('node-1'),
      {
        ...node('pinned-1'),
        taints: [{ key: 'stowage.test/pinned', effect: 'NoSchedule' }],
        cpuManagerPolicy: 'static',
      },
    ],
  });
  const { api, kubelet } = cluster;
  const keyOf = (pod: { metadata?: { namespace?: string; name?: string } }): string =>
    `${pod.metadata?.namespace}/${pod.metadata?.name}`;
  const eventually: KubeletUnderTest['eventually'] = async (assertion, timeoutMillis = DEFAULT_TIMEOUT_MILLIS) => {
    const deadline = clock.now() + timeoutMillis;
    for (;;) {
      try {
        return await assertion();
      } catch (error) {
        if (clock.now() >= deadline) throw error;
        await clock.advance(STEP_MILLIS);
      }
    }
  };
  await settled(clock, cluster.start(stopper.signal), STEP_MILLIS);
  let made = 0;
  return {
    name: 'embedded',
    api,
    node: 'node-1',
    pinnedNode: 'pinned-1',
    now: () => clock.now(),
    eventually,
    pass: (millis) => clock.advance(millis),
    async namespace() {
      const name = `behaviour-${made++}`;
      await api.create(resources.namespaces, { metadata: { name } });
      return name;
    },
    async clear(namespace) {
      const { items } = await api.list(resources.pods, { namespace });
      for (const { metadata } of items)
        await api.delete(resources.pods, metadata?.name ?? '', { namespace, gracePeriodSeconds: 0 });
      await eventually(async () => {
        const left = (await api.list(resources.pods, { namespace })).items.length;
        if (left > 0) throw new Error(`${left} pods are still there`);
      });
      await api.delete(resources.namespaces, namespace);
    },
    useMemory: async (pod, container, mebibytes) => void kubelet.useMemory(keyOf(pod), container, mebibytes * MEBIBYTE),
    setReady: async (pod, container, isReady) => void kubelet.setReady(keyOf(pod), container, isReady),
    exit: async (pod, container, code) => void kubelet.endContainer(keyOf(pod), container, code),
    async stop() {
      stopper.abort();
      await settled(clock, cluster.stop(), STEP_MILLIS);
    },
  };
}
