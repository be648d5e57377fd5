/** The real kubelet of the cluster the runner's global set-up has started. */
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { resources } from '../../../src/api/resources.ts';
import { createSystemClock } from '../../../src/lib/clock.ts';
import type { RealNodesAccess } from '../global-setup.ts';
import { PINNED_NODE, SPOT_NODE } from '../nodes.ts';
import { getText } from '../pod-access.ts';
import { connect } from '../runtime/connect.ts';
import type { KubeletUnderTest } from './kubelet-under-test.ts';
import { portOf } from './pods.ts';

/** Each look is a request, and many tests look at the same time. */
const POLL_MILLIS = 100;

export async function connectRealKubelet(access: RealNodesAccess): Promise<KubeletUnderTest> {
  const clock = createSystemClock();
  const api = await connect(access.kubeconfigPath, clock);
  const eventually: KubeletUnderTest['eventually'] = (assertion, timeoutMillis = 150_000) =>
    vi.waitFor(assertion, { timeout: timeoutMillis, interval: POLL_MILLIS });
  const order = async (pod: Parameters<typeof portOf>[0], container: string, path: string): Promise<void> => {
    const { status } = await api.get(resources.pods, pod.metadata?.name ?? '', {
      namespace: pod.metadata?.namespace ?? '',
    });
    await getText(`http://${status?.podIP}:${portOf(pod, container)}${path}`);
  };
  return {
    name: 'real',
    api,
    node: SPOT_NODE,
    pinnedNode: PINNED_NODE,
    // Not the wall clock, which may be set while a time is taken.
    now: () => performance.now(),
    eventually,
    pass: (millis) => wait(millis),
    async namespace() {
      const name = `behaviour-${randomBytes(4).toString('hex')}`;
      await api.create(resources.namespaces, { metadata: { name } });
      // Pods are refused until the namespace has its account.
      const type = { group: '', version: 'v1', plural: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true };
      await eventually(() => api.get(type, 'default', { namespace: name }));
      return name;
    },
    async clear(namespace) {
      const { items } = await api.list(resources.pods, { namespace });
      for (const { metadata } of items)
        await api.delete(resources.pods, metadata?.name ?? '', { namespace, gracePeriodSeconds: 0 });
      await eventually(async () => expect((await api.list(resources.pods, { namespace })).items).toEqual([]));
      await api.delete(resources.namespaces, namespace);
    },
    async useMemory(pod, container, mebibytes) {
      // No answer comes from a container that was killed for it.
      await order(pod, container, `/set?mem=${mebibytes}`).catch(() => undefined);
    },
    setReady: (pod, container, isReady) => order(pod, container, `/set?ready=${isReady}`),
    async exit(pod, container, code) {
      await order(pod, container, `/exit?code=${code}`).catch(() => undefined);
    },
    async stop() {
      api.close();
    },
  };
}
