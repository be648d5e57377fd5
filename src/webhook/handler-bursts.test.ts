import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Pod } from '../api/core.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createCoordinatedHandler } from './coordinated-handler.ts';
import {
  ask,
  countSides,
  created,
  createWorld,
  deploymentOf,
  podOf,
  type Response,
  replicaSet,
  reviewOf,
  sideOf,
} from './testing/admission-world.ts';

describe('bursts', () => {
  test('case 28: ten concurrent requests against an empty cache land exactly 7/3', async () => {
    const { handle } = createWorld();
    const asked = Array.from({ length: 10 }, (_, index) => ask(handle, reviewOf(`r${index}`, podOf())));
    expect(await countSides(asked)).toEqual({ spot: 7, 'on-demand': 3 });
  });

  test('case 28: also when the owner has to be read live meanwhile', async () => {
    const { handle } = createWorld({ isReplicaSetCached: false, api: [replicaSet] });
    const asked = Array.from({ length: 10 }, (_, index) => ask(handle, reviewOf(`r${index}`, podOf())));
    expect(await countSides(asked)).toEqual({ spot: 7, 'on-demand': 3 });
  });

  test('hazard H13: three replicas, of which one decides, are as exact as one', async () => {
    const leader = createWorld({ replicas: 100 });
    const replicas = [leader, createWorld({ replicas: 100 }), createWorld({ replicas: 100 })].map((world) =>
      createCoordinatedHandler({
        decide: world.handle,
        isLeader: () => world === leader,
        isSynced: () => true,
        forward: async (body) => leader.handle(body),
        onForwarded: () => {},
        clock: createVirtualClock(0),
      }),
    );
    const asked = Array.from({ length: 100 }, (_, index) => {
      const handle = replicas[index % 3] ?? leader.handle;
      return ask((body) => handle(body, false), reviewOf(`r${index}`, podOf()));
    });
    expect(await countSides(asked)).toEqual({ spot: 70, 'on-demand': 30 });
  });

  test('a pod placed without the leader says so on the pod', async () => {
    const { handle } = createWorld();
    const { patch } = await ask((body) => handle(body, false), reviewOf('r1', podOf()));
    expect(patch?.at(-1)).toEqual({
      op: 'add',
      path: '/metadata/annotations/spotalis.io~1unconfirmed',
      value: 'true',
    });
  });

  test('a burst of 1,000 is exact', async () => {
    const { handle } = createWorld({ replicas: 1_000 });
    const asked = Array.from({ length: 1_000 }, (_, index) => ask(handle, reviewOf(`r${index}`, podOf())));
    expect(await countSides(asked)).toEqual({ spot: 700, 'on-demand': 300 });
  });

  test('for any interleaving with pods appearing in the cache the result is exact', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 20, maxLength: 20 }), async (appears) => {
        const { handle, stores } = createWorld({ replicas: 20 });
        const responses: Promise<Response>[] = [];
        for (const [index, isVisible] of appears.entries()) {
          const response = await ask(handle, reviewOf(`r${index}`, podOf()));
          responses.push(Promise.resolve(response));
          if (isVisible) stores.pods.put(created(`p${index}`, response));
        }
        expect(await countSides(responses)).toEqual({ spot: 14, 'on-demand': 6 });
      }),
      { numRuns: 20 },
    );
  });
});

describe('caches that lag behind', () => {
  /** Four pods at 50 %: two on each side, all of them visible. */
  async function fullWorld() {
    const world = createWorld({ replicas: 4, annotations: { 'spotalis.io/spot-percentage': '50' } });
    const pods: Pod[] = [];
    for (let index = 0; index < 4; index++) {
      const pod = created(`p${index}`, await ask(world.handle, reviewOf(`r${index}`, podOf())));
      world.stores.pods.put(pod);
      pods.push(pod);
    }
    const late = { answer: undefined as Response | undefined };
    const asked = ask(world.handle, reviewOf('late', podOf())).then((response) => {
      late.answer = response;
    });
    return { ...world, pods, late, asked };
  }
  const capacityOf = (pod: Pod | undefined) => pod?.spec?.nodeSelector?.['karpenter.sh/capacity-type'];

  test.each([0, 1, 2, 3])(
    'the replacement of pod %i waits until its end is seen, and takes its side',
    async (index) => {
      const { clock, stores, pods, late, asked } = await fullWorld();
      await clock.advance(30);
      expect(late.answer).toBeUndefined();
      const lost = pods[index];
      stores.pods.put({ ...lost, metadata: { ...lost?.metadata, deletionTimestamp: '2026-01-31T00:00:00Z' } });
      await asked;
      expect(sideOf(late.answer ?? ({} as Response))).toBe(capacityOf(lost));
      expect(clock.pendingTimers()).toBe(0);
    },
  );

  test('a scale-up is waited for too: the new pods fill the new slots', async () => {
    const { stores, late, asked, ledger } = await fullWorld();
    stores.deployments.put(deploymentOf({ replicas: 5, annotations: { 'spotalis.io/spot-percentage': '50' } }));
    await asked;
    expect(late.answer?.auditAnnotations.slot).toBe('5');
    expect(ledger.size()).toBe(1);
  });

  test('no longer than 400 ms: then it is decided on what is known', async () => {
    const { clock, late, asked } = await fullWorld();
    await clock.advance(399);
    expect(late.answer).toBeUndefined();
    await clock.advance(1);
    await asked;
    expect(late.answer?.auditAnnotations.slot).toBe('5');
  });

  test('the same request again gets the same answer at once', async () => {
    const { clock, handle, late, asked } = await fullWorld();
    await clock.advance(400);
    await asked;
    expect(await ask(handle, reviewOf('late', podOf()))).toEqual(late.answer);
  });
});
