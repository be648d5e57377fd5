/** Rightsizing on the embedded cluster, from usage to status, by the operator as it is wired. */
import { describe, expect, test } from 'vitest';
import type { Deployment, StatefulSet } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import {
  createPolicy,
  deployLoaded,
  loadedDeployment,
  readPolicy,
  requestsOf,
  sizedEvents,
  sizedPods,
  startSizedWorld,
  statusOf,
  workloadWrites,
} from './testing/sized-world.ts';
import { inShop, MINUTE, patchDeployment, untilReady } from './testing/steps.ts';

type Templated = Deployment | StatefulSet;

describe('a policy in Recommend', () => {
  test('has the recommendation in its status, and nothing is written to the workload', async () => {
    const world = await startSizedWorld();
    await deployLoaded(world);
    await untilReady(world, 'web', 2);
    await createPolicy(world, { mode: 'Recommend' });
    await world.until('a recommendation', async () => (await statusOf(world))?.recommendations?.[0]?.cpu !== undefined);
    const entry = await statusOf(world);
    expect(entry).toMatchObject({ kind: 'Deployment', namespace: 'shop', status: 'Recommended' });
    expect(entry?.recommendations?.[0]).toMatchObject({ container: 'app', cpu: '240m' });
    expect(entry?.recommendations?.[0]?.memory).toMatch(/^\d+(Ki|Mi)?$/);
    const { status } = await readPolicy(world);
    expect(status?.conditions?.map(({ type, status: is }) => [type, is])).toEqual([
      ['Ready', 'True'],
      ['MetricsAvailable', 'True'],
      ['DryRun', 'False'],
      ['PermissionsSufficient', 'True'],
      ['Degraded', 'False'],
      ['ActuationIneffective', 'False'],
    ]);
    expect(workloadWrites(world)).toEqual([]);
    expect(await requestsOf(world)).toEqual(Array.from({ length: 2 }, () => ({ cpu: '500m', memory: '512Mi' })));
  });
});

describe('a policy in Auto', () => {
  test('optipod defect B2: resizes running pods in place: one first, then the others; the template stays', async () => {
    const world = await startSizedWorld();
    await deployLoaded(world, { replicas: 3 });
    await untilReady(world, 'web', 3);
    const before = (await sizedPods(world)).map(({ metadata }) => metadata?.uid);
    await createPolicy(world, { mode: 'Auto' });
    await world.until('a first pod has less', async () => (await requestsOf(world)).some(({ cpu }) => cpu === '240m'));
    expect((await requestsOf(world)).filter(({ cpu }) => cpu === '240m')).toHaveLength(1);
    await world.until('told', async () => (await statusOf(world))?.reason === 'CanaryWatched');
    expect((await requestsOf(world)).filter(({ cpu }) => cpu === '240m')).toHaveLength(1);
    await world.until('all pods have less', async () => (await requestsOf(world)).every(({ cpu }) => cpu === '240m'));
    await world.until('applied', async () => (await statusOf(world))?.status === 'Applied');
    expect(await statusOf(world)).toMatchObject({ lastApplyMethod: 'InPlace' });
    const pods = await sizedPods(world);
    expect(new Set(pods.map(({ metadata }) => metadata?.uid))).toEqual(new Set(before));
    expect(pods.flatMap(({ status }) => status?.containerStatuses?.map((c) => c.restartCount))).toEqual([0, 0, 0]);
    const { metadata, spec } = await world.api.get(resources.deployments, 'web', inShop);
    expect(spec?.template?.spec?.containers[0]?.resources).toEqual({ requests: { cpu: '500m', memory: '512Mi' } });
    expect(metadata?.annotations).toMatchObject({
      'optipod.io/managed': 'true',
      'optipod.io/policy': 'sizes',
      'optipod.io/recommendation.app.cpu-request': '240m',
      'optipod.io/last-applied': expect.stringMatching(/Z$/),
    });
  });

  test('new pods are born with the size of the others, and are told apart by a stamp', async () => {
    const world = await startSizedWorld();
    await deployLoaded(world, { replicas: 1 });
    await untilReady(world, 'web', 1);
    await createPolicy(world, { mode: 'Auto' });
    await world.until('applied', async () => (await statusOf(world))?.status === 'Applied');
    await patchDeployment(world, { replicas: 3 });
    await untilReady(world, 'web', 3);
    const pods = await sizedPods(world);
    expect(pods.map(({ metadata }) => metadata?.annotations?.['optipod.io/applied'] ?? '-').toSorted()).toEqual([
      '-',
      'true',
      'true',
    ]);
    expect(await requestsOf(world)).toEqual(Array.from({ length: 3 }, () => ({ cpu: '240m', memory: '120Mi' })));
    // Whoever edits the template means what he writes.
    const { spec } = loadedDeployment({ replicas: 3, requests: { cpu: '600m', memory: '600Mi' } });
    await world.api.patch(resources.deployments, 'web', { type: 'merge', body: { spec } }, inShop);
    await world.until('a pod of the new template', async () =>
      (await requestsOf(world)).some(({ cpu }) => cpu === '600m'),
    );
  });

  test('in dry-run nothing is written to workloads, and the status says so', async () => {
    const world = await startSizedWorld({ rightsizing: '  dryRun: true' });
    await deployLoaded(world);
    await untilReady(world, 'web', 2);
    await createPolicy(world, { mode: 'Auto' });
    await world.until('a recommendation', async () => (await statusOf(world))?.reason === 'DryRunActive');
    expect(await statusOf(world)).toMatchObject({ status: 'Skipped', recommendations: [{ cpu: '240m' }] });
    const conditions = (await readPolicy(world)).status?.conditions;
    expect(conditions?.find(({ type }) => type === 'DryRun')).toMatchObject({ status: 'True', observedGeneration: 1 });
    expect(workloadWrites(world)).toEqual([]);
  });

  test('without in-place resize the template is written once, where the policy allows it', async () => {
    const world = await startSizedWorld();
    await deployLoaded(world);
    await untilReady(world, 'web', 2);
    await createPolicy(world, { mode: 'Auto', updates: { allowInPlaceResize: false, allowRecreate: true } });
    await world.until('new pods', async () => (await requestsOf(world)).every(({ cpu }) => cpu === '240m'));
    await untilReady(world, 'web', 2);
    await world.until('applied', async () => (await statusOf(world))?.status === 'Applied');
    expect(await statusOf(world)).toMatchObject({ lastApplyMethod: 'ServerSideApply' });
    const { metadata } = await world.api.get(resources.deployments, 'web', inShop);
    expect(
      metadata?.managedFields?.some(({ manager, operation }) => manager === 'optipod' && operation === 'Apply'),
    ).toBe(true);
    expect(metadata?.annotations?.['optipod.io/applied-sizes']).toBeUndefined();
  });

  test.each(['Paused', 'TemplateOnDelete'] as const)(
    'a template that would reach no pod is left alone: %s',
    async (reason) => {
      const world = await startSizedWorld();
      const { metadata = {}, spec } = loadedDeployment({ replicas: 1 });
      const template = spec?.template ?? {};
      const selector = spec?.selector ?? {};
      if (reason === 'Paused') {
        await deployLoaded(world, { replicas: 1 });
      } else {
        const onDelete = { replicas: 1, serviceName: 'web', selector, template, updateStrategy: { type: 'OnDelete' } };
        await world.api.create(
          resources.statefulSets,
          { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata, spec: onDelete },
          inShop,
        );
      }
      await untilReady(world, 'web', 1);
      if (reason === 'Paused') await patchDeployment(world, { paused: true });
      await createPolicy(world, { mode: 'Auto', updates: { allowInPlaceResize: false, allowRecreate: true } });
      await world.until('told', async () => (await statusOf(world))?.reason === reason);
      await world.clock.advance(2 * MINUTE);
      expect(await statusOf(world)).toMatchObject({ status: 'Skipped', reason });
      const type = reason === 'Paused' ? resources.deployments : resources.statefulSets;
      expect(
        (await world.api.get<Templated>(type, 'web', inShop)).spec?.template?.spec?.containers[0]?.resources?.requests,
      ).toEqual({
        cpu: '500m',
        memory: '512Mi',
      });
    },
  );

  test('where neither is allowed the workload is skipped with a warning that says what to do', async () => {
    const world = await startSizedWorld();
    await deployLoaded(world);
    await untilReady(world, 'web', 2);
    await createPolicy(world, { mode: 'Auto', updates: { allowInPlaceResize: false } });
    await world.until('told', async () => (await statusOf(world))?.reason === 'InPlaceResizeUnavailable');
    await world.until('an event', async () =>
      (await sizedEvents(world)).some(({ reason }) => reason === 'InPlaceResizeUnavailable'),
    );
    const event = (await sizedEvents(world)).find(({ reason }) => reason === 'InPlaceResizeUnavailable');
    expect(event).toMatchObject({ type: 'Warning', regarding: { kind: 'Deployment', name: 'web' } });
    expect(event?.note).toMatch(/Deployment shop\/web .*Suggestion: /);
    expect(await requestsOf(world)).toEqual(Array.from({ length: 2 }, () => ({ cpu: '500m', memory: '512Mi' })));
  });
});
