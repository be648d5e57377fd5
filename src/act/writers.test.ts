import { describe, expect, test } from 'vitest';
import type { Pod, PodDisruptionBudget } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import { createApiServer } from '../cluster/apiserver/api-server.ts';
import type { Decision, EvictDecision, RestampDecision } from '../decide/decision.ts';
import type { Approved } from '../guard/guard.ts';
import { createSeededRandom } from '../lib/random.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { createEvict } from './evict.ts';
import { createRestamp } from './restamp.ts';

const workload = { kind: 'Deployment', namespace: 'default', name: 'web' };
const why = { summary: 'a test', numbers: {} };
const signal = new AbortController().signal;
const inDefault = { namespace: 'default' };

/** Tests stand outside the guard. */
const approve = <D extends Decision>(decision: D): Approved<D> => ({ decision }) as unknown as Approved<D>;

async function createWorld() {
  const server = createApiServer({ clock: createVirtualClock(0), random: createSeededRandom(1) });
  const api = server.client();
  const create = (name: string, annotations: Record<string, string> = {}): Promise<Pod> => {
    const pod: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default', labels: { app: 'web' }, annotations },
      spec: { containers: [{ name: 'app', image: 'app:1' }] },
    };
    return api.create(resources.pods, pod, inDefault);
  };
  const pod = await create('web-1', { 'spotalis.io/slot': '3', 'spotalis.io/unconfirmed': 'true', other: 'kept' });
  return { api, pod, create };
}

const evictionOf = (pod: Pod, fields: Partial<EvictDecision> = {}): Approved<EvictDecision> =>
  approve({
    kind: 'evict',
    engine: 'placement',
    workload,
    workloadUid: 'd1',
    pod: { namespace: 'default', name: pod.metadata?.name ?? '', uid: pod.metadata?.uid ?? '' },
    from: 'spot',
    to: 'on-demand',
    onDemandFloor: 0,
    why,
    ...fields,
  });

const restampOf = (pod: Pod, fields: Partial<RestampDecision> = {}): Approved<RestampDecision> =>
  approve({
    kind: 'restamp',
    engine: 'placement',
    workload,
    workloadUid: 'd1',
    pod: { namespace: 'default', name: pod.metadata?.name ?? '', uid: pod.metadata?.uid ?? '' },
    resourceVersion: pod.metadata?.resourceVersion ?? '',
    slot: 2,
    capacity: 'on-demand',
    deletionCost: -2,
    why,
    ...fields,
  });

describe('createEvict', () => {
  test('the pod is gone or going', async () => {
    const { api, pod } = await createWorld();
    expect(await createEvict(api)(evictionOf(pod), signal)).toEqual({ result: 'evicted' });
    const { items } = await api.list(resources.pods, inDefault);
    expect(items.every(({ metadata }) => metadata?.deletionTimestamp !== undefined)).toBe(true);
  });

  test('case 72: a pod made again under the same name is not evicted', async () => {
    const { api, pod, create } = await createWorld();
    await api.delete(resources.pods, 'web-1', { ...inDefault, gracePeriodSeconds: 0 });
    const next = await create('web-1');
    expect(await createEvict(api)(evictionOf(pod), signal)).toEqual({ result: 'changed' });
    expect((await api.get(resources.pods, 'web-1', inDefault)).metadata?.uid).toBe(next.metadata?.uid);
  });

  test('a pod that waited for a node and has one by now stays', async () => {
    const { api, pod } = await createWorld();
    const waited = evictionOf(pod, { resourceVersion: pod.metadata?.resourceVersion ?? '' });
    const body = { metadata: { labels: { is: 'another' } } };
    await api.patch(resources.pods, 'web-1', { type: 'merge', body }, inDefault);
    expect(await createEvict(api)(waited, signal)).toEqual({ result: 'changed' });
    const { metadata } = await api.get(resources.pods, 'web-1', inDefault);
    expect(metadata?.deletionTimestamp).toBeUndefined();
    const anew = evictionOf(pod, { resourceVersion: metadata?.resourceVersion ?? '' });
    expect(await createEvict(api)(anew, signal)).toEqual({ result: 'evicted' });
  });

  test('a pod that is gone needs nothing', async () => {
    const { api, pod } = await createWorld();
    await api.delete(resources.pods, 'web-1', { ...inDefault, gracePeriodSeconds: 0 });
    expect(await createEvict(api)(evictionOf(pod), signal)).toEqual({ result: 'gone' });
  });

  test('case 70: several budgets for one pod are told as that, whatever they allow', async () => {
    const { api, pod } = await createWorld();
    const running = { ...pod, status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } };
    await api.replace(resources.pods, running, { ...inDefault, subresource: 'status' });
    for (const name of ['one', 'two']) {
      const spec = { minAvailable: '0%', selector: { matchLabels: { app: 'web' } } };
      const budget: PodDisruptionBudget = {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name, namespace: 'default' },
        spec,
      };
      await api.create(resources.podDisruptionBudgets, budget, inDefault);
    }
    expect((await createEvict(api)(evictionOf(pod), signal)).result).toBe('multiple-pdbs');
  });
});

describe('createRestamp', () => {
  test('slot, side and cost are corrected, the rest stays', async () => {
    const { api, pod } = await createWorld();
    expect(await createRestamp(api)(restampOf(pod), signal)).toEqual({ result: 'restamped' });
    expect((await api.get(resources.pods, 'web-1', inDefault)).metadata?.annotations).toEqual({
      'spotalis.io/slot': '2',
      'spotalis.io/capacity': 'on-demand',
      'controller.kubernetes.io/pod-deletion-cost': '-2',
      other: 'kept',
    });
  });

  test('a deletion cost of the user is not touched', async () => {
    const { api, create } = await createWorld();
    const pod = await create('web-2', { 'controller.kubernetes.io/pod-deletion-cost': '100' });
    await createRestamp(api)(restampOf(pod, { deletionCost: undefined }), signal);
    const { metadata } = await api.get(resources.pods, 'web-2', inDefault);
    expect(metadata?.annotations?.['controller.kubernetes.io/pod-deletion-cost']).toBe('100');
  });

  test.each<[string, Partial<RestampDecision>]>([
    ['changed meanwhile', { resourceVersion: '1' }],
    ['another one', { pod: { namespace: 'default', name: 'web-1', uid: 'other' } }],
    ['gone', { pod: { namespace: 'default', name: 'web-9', uid: 'other' } }],
  ])('a pod that is %s is left alone', async (_, fields) => {
    const { api, pod } = await createWorld();
    expect(await createRestamp(api)(restampOf(pod, fields), signal)).toEqual({ result: 'changed' });
    const { metadata } = await api.get(resources.pods, 'web-1', inDefault);
    expect(metadata?.annotations?.['spotalis.io/slot']).toBe('3');
  });
});
