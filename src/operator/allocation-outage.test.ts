/**
 * Somebody is gone: the agent, its connection, or the API server for everybody. Pods keep what they have; only an agent that
 * stays away loses its say, and then its pods get back what they had.
 */
import { describe, expect, test } from 'vitest';
import type { Pod } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { resources } from '../api/resources.ts';
import type { ActiveFault } from '../cluster/faults/fault-plan.ts';
import { type AllocatedWorld, createPods, requestOf, startAllocatedWorld } from './testing/allocated-world.ts';

const inShop = { namespace: 'shop' };
const STALE = 120_000;
const originals = { web: '100m', hog: '900m' } as const;

interface Disturbed {
  readonly world: AllocatedWorld;
  /** Request and limit of all pods, seen by somebody whom no outage meets. */
  sizes(): Promise<Readonly<Record<string, string>>>;
  /** CPU that a pod requests. */
  request(name: string): Promise<number>;
  pod(name: string): Promise<Pod>;
  outage(...users: readonly string[]): ActiveFault;
}

/** A service that asked for too little beside a hog, raised by now and at rest. */
async function raised(): Promise<Disturbed> {
  const world = await startAllocatedWorld({
    startsAgents: false,
    allocation: `  staleAfter: ${STALE / 1000}s`,
  });
  const { server } = world.cluster;
  world.agents.start('node-1', server.client({ user: 'agent' }));
  const bystander: KubeApi = server.client({ user: 'bystander' });
  await createPods(world.api, [
    { name: 'web', cpu: '700m', request: '100m' },
    { name: 'hog', cpu: '4000m', request: '900m' },
  ]);
  await world.until('web has more', async () => (await world.request('web')) > 250, 180_000);
  await world.clock.advance(60_000);
  const disturbed: Disturbed = {
    world,
    async sizes() {
      const { items } = await bystander.list(resources.pods, inShop);
      return Object.fromEntries(items.map((pod) => [pod.metadata?.name ?? '', sizeOf(pod)]));
    },
    request: async (name) => requestOf(await bystander.get(resources.pods, name, inShop)),
    pod: (name) => bystander.get(resources.pods, name, inShop),
    outage: (...users) => server.faults.add({ users, effect: { kind: 'outage' } }),
  };
  const { web = '', hog = '' } = await disturbed.sizes();
  expect(web).not.toBe(originals.web);
  // Its ceiling is in force.
  expect(hog).toMatch(/^\d+m, at most \d+m$/);
  return disturbed;
}

function sizeOf({ spec }: Pod): string {
  const { requests, limits } = spec?.containers[0]?.resources ?? {};
  return `${requests?.['cpu']}${limits?.['cpu'] === undefined ? '' : `, at most ${limits['cpu']}`}`;
}

/** Nothing changes for so long, looked at each second. */
async function untouched({ world, sizes }: Disturbed, millis: number): Promise<void> {
  const before = await sizes();
  for (let passed = 0; passed < millis; passed += 1000) {
    await world.clock.advance(1000);
    expect(await sizes()).toEqual(before);
  }
}

async function restored({ world, sizes, pod }: Disturbed): Promise<void> {
  await world.until('given back', async () => (await sizes())['web']?.startsWith(originals.web) === true, 2 * STALE);
  await world.until('the hog too', async () => (await sizes())['hog']?.startsWith(originals.hog) === true, STALE);
  for (const name of ['web', 'hog']) {
    expect((await pod(name)).status?.containerStatuses?.[0]?.restartCount).toBe(0);
  }
}

const ADMIN = 'kubernetes-admin';

describe('the API server is down for a minute', () => {
  test.each([
    ['for everybody', [ADMIN, 'agent']],
    ['for the operator', [ADMIN]],
    ['for the agent', ['agent']],
  ])('%s: the pods are as they were, during it and for long after', async (_, users) => {
    const disturbed = await raised();
    const { world } = disturbed;
    const outage = disturbed.outage(...users);
    await untouched(disturbed, 60_000);
    expect(outage.met()).toBeGreaterThan(3);
    outage.remove();
    // An operator that lost its lease has ended, and is started again by its kubelet.
    if (users.includes(ADMIN)) await world.startOperator('test_2');
    await untouched(disturbed, 2 * STALE);
    expect(await world.events('CPURestored')).toEqual([]);
  });

  test('and the loop goes on: what happens next is answered', async () => {
    const disturbed = await raised();
    const { world, request } = disturbed;
    const outage = disturbed.outage(ADMIN, 'agent');
    await world.clock.advance(60_000);
    outage.remove();
    await world.startOperator('test_2');
    await world.clock.advance(30_000);
    await createPods(world.api, [{ name: 'late', cpu: '600m', request: '100m' }]);
    await world.until('it gets what it needs', async () => (await request('late')) > 200, 240_000);
  });
});

describe('the agent', () => {
  test('is killed: nothing changes for half the time to live, then its pods get back what they had', async () => {
    const disturbed = await raised();
    const killing = disturbed.world.agents.kill('node-1');
    await disturbed.world.clock.advance(0);
    await killing;
    await untouched(disturbed, STALE / 2);
    await restored(disturbed);
  });

  test('is cut off: the same, although it goes on measuring; when it is back it is believed again', async () => {
    const disturbed = await raised();
    const outage = disturbed.outage('agent');
    await untouched(disturbed, STALE / 2);
    await restored(disturbed);
    outage.remove();
    const { world, request } = disturbed;
    await world.until('raised again', async () => (await request('web')) > 250, 180_000);
  });

  test('is cut off with its node: both are back before anything is given back, so that it can be heard first', async () => {
    const disturbed = await raised();
    const { world } = disturbed;
    const setReady = async (status: 'True' | 'False'): Promise<void> => {
      const { status: told } = await world.api.get(resources.nodes, 'node-1');
      const conditions = (told?.conditions ?? []).map((each) => (each.type === 'Ready' ? { ...each, status } : each));
      const patch = { type: 'merge', body: { status: { conditions } } } as const;
      await world.api.patch(resources.nodes, 'node-1', patch, { subresource: 'status' });
    };
    const killing = world.agents.kill('node-1');
    await world.clock.advance(0);
    await killing;
    await setReady('False');
    await untouched(disturbed, STALE + 20_000);
    await setReady('True');
    await untouched(disturbed, 20_000);
    expect(await world.events('AgentGone')).toEqual([]);
    await restored(disturbed);
  });

  test('is restarted within the time to live: nothing happens to pods, then or later', async () => {
    const disturbed = await raised();
    const { world } = disturbed;
    const killing = world.agents.kill('node-1');
    await world.clock.advance(0);
    await killing;
    await untouched(disturbed, STALE / 4);
    world.agents.start('node-1', world.cluster.server.client({ user: 'agent' }));
    await untouched(disturbed, 2 * STALE);
  });
});
