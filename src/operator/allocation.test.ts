/** From a PodAllocation to a resized pod and back, on the embedded cluster; what agents would write is written by hand. */
import { describe, expect, test } from 'vitest';
import { sizingKeys } from '../api/annotations-sizing.ts';
import { podAllocations } from '../api/pod-allocation.ts';
import { apiVersionOf } from '../api/resources.ts';
import { type LoadedPodFields, present } from './testing/allocated-world.ts';
import { wish } from './testing/wish.ts';
import { containers, statusOf, untilPhase, worldOf } from './testing/wished-world.ts';

const inShop = { namespace: 'shop' };

describe('a wish', () => {
  test('is carried out in place; the status says Applied once it is in force, and not before', async () => {
    const world = await worldOf([{ name: 'web' }], { resizeMillis: 3000 });
    const before = await world.pod('web');
    await wish(world, 'web', { request: 600, limit: 900 });
    await world.until('the spec has it', async () => (await world.request('web')) === 600, 5000);
    await world.clock.advance(1000);
    expect(await statusOf(world, 'web')).toMatchObject({
      phase: 'Pending',
      reason: 'Applying',
      appliedCPURequest: '200m',
    });
    await untilPhase(world, 'web', 'Applied');
    const { metadata, spec, status } = await world.pod('web');
    expect(spec?.containers[0]?.resources).toEqual({
      requests: { cpu: '600m', memory: '64Mi' },
      limits: { cpu: '900m' },
    });
    expect(status?.containerStatuses?.[0]?.restartCount).toBe(0);
    expect(metadata?.labels).toEqual(before.metadata?.labels);
    expect(metadata?.annotations?.[sizingKeys.allocationOriginals]).toBe('{"app":{"requests":{"cpu":"200m"}}}');
    const allocation = present(await world.allocation('web'), 'the allocation');
    expect(allocation.status).toMatchObject({
      appliedCPURequest: '600m',
      appliedCPULimit: '900m',
      reason: 'AlreadyApplied',
      observedGeneration: allocation.metadata?.generation,
      lastAppliedTime: expect.stringMatching(/Z$/),
      conditions: [
        { type: 'Managed', status: 'True' },
        { type: 'Applied', status: 'True' },
        { type: 'Constrained', status: 'False' },
      ],
    });
    expect((await world.events('CPUApplied')).map(({ note }) => note)).toEqual([
      expect.stringContaining('200m -> 600m'),
    ]);
    // Then all is quiet.
    const writes = world.operatorWrites.length;
    await world.clock.advance(45_000);
    expect(world.operatorWrites.slice(writes).filter((write) => !/leases|events/.test(write))).toEqual([]);
  });

  test('mbcas bug 14: a resize leaves the labels of the pod, and of its template, alone', async () => {
    const world = await worldOf([{ name: 'web', labels: { tier: 'front' } }]);
    const { metadata: before } = await world.pod('web');
    await wish(world, 'web', { request: 600 });
    await untilPhase(world, 'web', 'Applied');
    expect(await world.request('web')).toBe(600);
    expect((await world.pod('web')).metadata?.labels).toEqual(before?.labels);
    // Resizes and the note of what it had before: no other write to a pod.
    const writes = new Set(world.operatorWrites.filter((write) => /pods?$/.test(write)));
    expect([...writes]).toEqual(['patch pods']);
  });

  test('of a pod that is gone, or of its predecessor by the same name, fails and changes nothing', async () => {
    const world = await worldOf([{ name: 'web' }]);
    await wish(world, 'web', { request: 600, podUID: '00000000-0000-4000-8000-000000000001' });
    await untilPhase(world, 'web', 'Failed', 'PodNotFound');
    expect(await world.request('web')).toBe(200);
  });

  test('that is no amount fails as InvalidDesiredCPU', async () => {
    const world = await worldOf([{ name: 'web' }]);
    const uid = (await world.pod('web')).metadata?.uid ?? '';
    const most = '99999999999m';
    const spec = { namespace: 'shop', podName: 'web', podUID: uid, desiredCPURequest: most, desiredCPULimit: most };
    const identity = { apiVersion: apiVersionOf(podAllocations), kind: podAllocations.kind };
    await world.api.create(podAllocations, { ...identity, metadata: { name: 'odd', ...inShop }, spec });
    await untilPhase(world, 'web', 'Failed', 'InvalidDesiredCPU');
    expect(await world.request('web')).toBe(200);
  });

  test('mbcas bug 7, allocation bug 13: BestEffort is never resized, and is not called Applied', async () => {
    const spec = { containers: [{ name: 'app', image: 'app:1' }] };
    const world = await worldOf([{ name: 'web', spec }]);
    await wish(world, 'web', { request: 600 });
    await untilPhase(world, 'web', 'Pending', 'BestEffort');
    expect((await statusOf(world, 'web')).conditions?.[0]).toMatchObject({ type: 'Managed', status: 'False' });
    expect(world.resizes()).toBe(0);
    expect((await world.events('CPUSkipped')).length).toBe(1);
  });

  test.each<[string, string, Partial<LoadedPodFields>]>([
    ['opted out', 'Excluded', { labels: { 'mbcas.io/managed': 'false' } }],
    ['not opted in', 'NotOptedIn', { labels: { 'mbcas.io/managed': '' } }],
    [
      'Guaranteed',
      'GuaranteedQoS',
      { spec: containers({ cpu: '200m', memory: '64Mi' }, { cpu: '200m', memory: '64Mi' }) },
    ],
    [
      'one that restarts for CPU',
      'RestartPolicy',
      {
        spec: containers({ cpu: '200m', memory: '64Mi' }, undefined, {
          resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }],
        }),
      },
    ],
  ])('%s pod keeps what it has and is told why', async (_, reason, fields) => {
    const world = await worldOf([{ name: 'web', ...fields }]);
    await wish(world, 'web', { request: 600 });
    await untilPhase(world, 'web', 'Pending', reason);
    expect((await statusOf(world, 'web')).conditions?.[0]).toMatchObject({ type: 'Managed', status: 'False', reason });
    expect(world.resizes()).toBe(0);
  });

  test('mbcas bug 8: a Guaranteed pod that may be managed moves request and limit together', async () => {
    const spec = containers({ cpu: '200m', memory: '64Mi' }, { cpu: '200m', memory: '64Mi' });
    const annotations = { 'mbcas.io/skip-guaranteed': 'false' };
    const world = await worldOf([{ name: 'web', spec, annotations }]);
    await wish(world, 'web', { request: 300, limit: 300 });
    await untilPhase(world, 'web', 'Applied');
    expect((await world.pod('web')).spec?.containers[0]?.resources).toEqual({
      requests: { cpu: '300m', memory: '64Mi' },
      limits: { cpu: '300m', memory: '64Mi' },
    });
  });

  test('mbcas bug 6: the containers of a pod share by what they use, and the sum is verified', async () => {
    const app = (name: string) => ({ name, image: 'app:1', resources: { requests: { cpu: '100m', memory: '64Mi' } } });
    const world = await worldOf([{ name: 'web', spec: { containers: [app('app'), app('log')] } }]);
    await wish(world, 'web', { request: 500, usage: { app: 300, log: 100 } });
    await untilPhase(world, 'web', 'Applied');
    const { spec } = await world.pod('web');
    const requests =
      spec?.containers.map(({ resources: own }) => Number.parseInt(own?.requests?.['cpu'] ?? '', 10)) ?? [];
    expect(requests[0]).toBeGreaterThan(requests[1] ?? 0);
    expect((requests[0] ?? 0) + (requests[1] ?? 0)).toBe(500);
    expect(world.resizes()).toBe(1);
  });
});

describe('modes', () => {
  const writingNothing = [
    ['observe', { allocation: '  apply: observe' }, 'Observe'],
    ['read-only', { config: 'operator: { readOnlyMode: true }' }, 'ReadOnly'],
  ] as const;
  test.each(writingNothing)('%s writes no pod', async (_, options, reason) => {
    const world = await worldOf([{ name: 'web' }], options);
    await wish(world, 'web', { request: 600 });
    await untilPhase(world, 'web', 'Pending', reason);
    expect(world.operatorWrites.filter((write) => write.includes('pods'))).toEqual([]);
    expect(await world.request('web')).toBe(200);
  });

  test.each(writingNothing)('%s takes nothing off a pod that opted out, either', async (_, options) => {
    const annotations = { [sizingKeys.allocationOriginals]: '{"app":{"requests":{"cpu":"200m"}}}' };
    const world = await worldOf([{ name: 'web', labels: { 'mbcas.io/managed': 'false' }, annotations }], options);
    await world.clock.advance(60_000);
    expect(world.operatorWrites.filter((write) => write.includes('pods'))).toEqual([]);
    expect((await world.pod('web')).metadata?.annotations).toMatchObject(annotations);
  });

  test('limits: as MBCAS, the limit is the share and the request follows', async () => {
    const world = await worldOf([{ name: 'web', limit: '500m' }], { allocation: '  apply: limits' });
    await wish(world, 'web', { request: 540, limit: 600 });
    await untilPhase(world, 'web', 'Applied');
    expect((await world.pod('web')).spec?.containers[0]?.resources).toMatchObject({
      requests: { cpu: '540m' },
      limits: { cpu: '600m' },
    });
  });
});
