import { describe, expect, test } from 'vitest';
import type { KubeObject, Pod } from '../../api/core.ts';
import { type ResourceType, resources } from '../../api/resources.ts';
import type { Clock } from '../../lib/clock.ts';
import { createSilentLogger } from '../../lib/log.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { createApiServer } from '../apiserver/api-server.ts';
import { createCaches } from '../caches.ts';
import { nodeObject } from '../kubelet/node-object.ts';
import { nameOf, timestampOf } from '../objects.ts';
import type { StandIn, StandInContext } from '../stand-in.ts';
import { TEST_START_MILLIS, testNodes, testTemplate } from '../testing/virtual-cluster.ts';
import { createDaemonSetController } from './daemon-set-controller.ts';
import { nextAvailability } from './next-availability.ts';
import { createReplicaSetController } from './replica-set-controller.ts';
import { createStatefulSetController } from './stateful-set/stateful-set-controller.ts';

const IN_DEFAULT = { namespace: 'default' };

const podOf = (status: string, since: number): Pod => ({
  status: { conditions: [{ type: 'Ready', status, lastTransitionTime: timestampOf(since) }] },
});

describe('nextAvailability', () => {
  test.each<[string, Pod[], number, number, number | undefined]>([
    ['no pods', [], 10, 0, undefined],
    ['nothing to wait for', [podOf('True', 5000)], 0, 0, undefined],
    ['an unready pod', [podOf('False', 5000)], 10, 0, undefined],
    ['a pod that was seen to be available', [podOf('True', 5000)], 10, 15_000, undefined],
    ['a pod that was not, by a millisecond', [podOf('True', 5000)], 10, 14_999, 15_000],
    ['the first of several', [podOf('True', 9000), podOf('True', 1000), podOf('True', 5000)], 10, 11_000, 15_000],
  ])('%s', (_, pods, minReadySeconds, judgedMillis, expected) => {
    expect(nextAvailability(pods, minReadySeconds, judgedMillis)).toBe(expected);
  });
});

type Status = Readonly<Record<string, unknown>>;

/** One controller alone, and the only pod of its object, which nobody runs. */
async function setUp(create: (context: StandInContext) => StandIn, type: ResourceType, kind: string) {
  const virtual = createVirtualClock(TEST_START_MILLIS);
  let looks = Number.NEGATIVE_INFINITY;
  let aheadMillis = 0;
  const clock: Clock = {
    now() {
      if (++looks === 0) aheadMillis = 300;
      return virtual.now() + aheadMillis;
    },
    setTimer: virtual.setTimer,
  };
  const random = createSeededRandom(1);
  const log = createSilentLogger();
  const server = createApiServer({ clock: virtual, random });
  const api = server.client();
  const caches = createCaches({ api, clock: virtual, random, log });
  const controller = create({ api, caches, clock, random, log });
  const stop = new AbortController();
  const work = [caches.run(stop.signal), controller.run(stop.signal)];
  await caches.synced();
  for (const spec of testNodes(1)) await api.create(resources.nodes, nodeObject(spec, virtual.now()));
  const template = testTemplate('web', { spec: { tolerations: [{ operator: 'Exists' }] } });
  const spec = { minReadySeconds: 10, selector: { matchLabels: { app: 'web' } }, template };
  const object: KubeObject & { readonly spec: object } = {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name: 'web', ...IN_DEFAULT },
    spec,
  };
  await api.create(type, object, IN_DEFAULT);
  await virtual.advance(0);
  const [pod] = (await api.list(resources.pods, IN_DEFAULT)).items;
  return {
    virtual,
    async getReady() {
      const condition = { type: 'Ready', status: 'True', lastTransitionTime: timestampOf(TEST_START_MILLIS) };
      const body = { status: { phase: 'Running', conditions: [condition] } };
      const options = { ...IN_DEFAULT, subresource: 'status' };
      await api.patch(resources.pods, nameOf(pod ?? {}), { type: 'strategic', body }, options);
    },
    /**
     * From now on timers fire a little early by the clock, as they may; and so busy a machine that the process stands
     * still at its n-th look.
     */
    standStillAt(n: number) {
      aheadMillis = -1;
      looks = -n;
    },
    status: async (): Promise<Status> => {
      const { status = {} }: KubeObject & { readonly status?: Status } = await api.get(type, 'web', IN_DEFAULT);
      return status;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(work);
      await server.close();
    },
  };
}

describe.each([
  ['ReplicaSet', createReplicaSetController, resources.replicaSets, 'availableReplicas'],
  ['StatefulSet', createStatefulSetController, resources.statefulSets, 'availableReplicas'],
  ['DaemonSet', createDaemonSetController, resources.daemonSets, 'numberAvailable'],
] as const)('a pod of a %s', (kind, create, type, figure) => {
  const looks = Array.from({ length: 12 }, (_, index) => index + 1);

  test.each(looks)('is available in time where the process stands still at look %d at the clock', async (n) => {
    await using at = await setUp(create, type, kind);
    await at.getReady();
    await at.virtual.advance(5000);
    at.standStillAt(n);
    await at.virtual.advance(6000);
    expect((await at.status())[figure]).toBe(1);
  });
});
