import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Pod } from '../api/core.ts';
import { noLessons } from '../model/learned-floors.ts';
import type { OwnerReference, PodRecord } from '../model/records.ts';
import { sizesOf, writeReplicaSizes } from '../model/replica-sizes.ts';
import type { LimitRangeRecord, QuotaRecord, SizedWorkload } from '../model/sizing-records.ts';
import { aDeployment, aReplicaSet } from '../model/testing/records.ts';
import {
  aContainer,
  aLimitRange,
  aQuota,
  aSizedPod,
  aSizedWorkload,
  MIB,
  smallSize,
} from '../model/testing/sizing-records.ts';
import { createSizeNewPods } from './size-new-pods.ts';

const owner: OwnerReference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-1', uid: 'rs' };
const text = `{"app":{"cpuRequest":[200,120],"memoryRequest":[${128 * MIB},${64 * MIB}]}}`;
const web = (changes: Partial<SizedWorkload> = {}): SizedWorkload =>
  aSizedWorkload({ annotations: { 'optipod.io/applied-sizes': text }, ...changes });
const resourcesOfPod = {
  requests: { cpu: '200m', memory: '128Mi', 'ephemeral-storage': '1Gi' },
  limits: { cpu: '400m', memory: '256Mi' },
};
const pod = (resources: object = resourcesOfPod, more: object = {}): Pod => ({
  metadata: { annotations: { a: 'b' } },
  spec: { containers: [{ name: 'app', image: 'a', resources }], ...more },
});
const sizes = (
  workload: SizedWorkload | undefined,
  isActive = true,
  limitRanges: readonly LimitRangeRecord[] = [],
  quotas: readonly QuotaRecord[] = [],
  clock = { now: () => 0 },
  pods: readonly PodRecord[] = [],
) =>
  createSizeNewPods({
    workloadOf: () => workload,
    isActive: () => isActive,
    limitRanges: () => limitRanges,
    quotas: () => quotas,
    podsOf: () =>
      pods.flatMap((record) => (record.sizing === undefined ? [] : [{ pod: record, sizing: record.sizing }])),
    clock,
  });

describe('new pods', () => {
  test('get the sizes of the others and a stamp; what else they ask for stays', () => {
    expect(sizes(web())(pod(), 'shop', owner, true)).toEqual([
      {
        op: 'add',
        path: '/spec/containers/0/resources',
        value: {
          requests: { cpu: '120m', memory: '64Mi', 'ephemeral-storage': '1Gi' },
          limits: { cpu: '400m', memory: '256Mi' },
        },
      },
      { op: 'add', path: '/metadata/annotations/optipod.io~1applied', value: 'true' },
    ]);
  });

  test('within the bounds of the namespace', () => {
    const ranges = [aLimitRange({ min: { cpu: 120 }, max: {} })];
    expect(sizes(web(), true, ranges)(pod(), 'shop', owner, true)).toHaveLength(2);
  });

  test('within the bounds of the namespace on pods, with what a mesh puts into them, perhaps after this', () => {
    const workload = web();
    const running = (name: string, createdAt: number, ...added: readonly string[]) =>
      aSizedPod(
        aReplicaSet(aDeployment()),
        name,
        { containers: [aContainer(), ...added.map((each) => aContainer({ name: each }))] },
        { createdAt },
      );
    // The newest tells, whatever comes first.
    const there = [running('web-1', 1), running('web-3', 3, 'proxy'), running('web-2', 2, 'proxy', 'old-proxy')];
    const born = (min: number, max: number) =>
      sizes(
        workload,
        true,
        [aLimitRange({ type: 'Pod', min: { cpu: min }, max: { cpu: max } })],
        [],
        undefined,
        there,
      )(pod(), 'shop', owner, true).length;
    // 120m and 200m of requests, 400m and 400m of limits.
    expect([born(320, 800), born(321, 800), born(320, 799)]).toEqual([2, 0, 0]);
  });

  test('without annotations so far, they are made', () => {
    expect(sizes(web())(pod(), 'shop', owner, false).at(-1)).toEqual({
      op: 'add',
      path: '/metadata/annotations',
      value: { 'optipod.io/applied': 'true' },
    });
  });

  test('the class is that of the whole pod: a run-once init container without limits makes it Burstable anyhow', () => {
    const both = { cpuRequest: 200, cpuLimit: 200, memoryRequest: 128 * MIB, memoryLimit: 128 * MIB };
    const amounts = { cpu: '200m', memory: '128Mi' };
    const annotations = { 'optipod.io/applied-sizes': '{"app":{"cpuRequest":[200,120]}}' };
    const workload = web({ annotations, containers: [aContainer({ size: both })] });
    const ask = (initContainers: readonly object[]) =>
      sizes(workload)(pod({ requests: amounts, limits: amounts }, { initContainers }), 'shop', owner, true).length;
    expect([ask([]), ask([{ name: 'setup', image: 'a' }])]).toEqual([0, 2]);
  });

  test.each<[string, readonly unknown[]]>([
    ['a bare pod', sizes(web())(pod(), 'shop', undefined, true)],
    ['an unknown owner', sizes(undefined)(pod(), 'shop', owner, true)],
    ['nothing applied', sizes(web({ annotations: {} }))(pod(), 'shop', owner, true)],
    [
      'a LimitRange that has come since, which would refuse it with other sizes',
      sizes(web(), true, [aLimitRange({ min: { cpu: 150 }, max: {} })])(pod(), 'shop', owner, true),
    ],
    [
      'a limit that was lowered since, below what was applied',
      sizes(
        web({
          annotations: { 'optipod.io/applied-sizes': '{"app":{"cpuRequest":[200,350]}}' },
          containers: [aContainer({ size: { ...smallSize, cpuLimit: 300 } })],
        }),
      )(pod({ ...resourcesOfPod, limits: { cpu: '300m', memory: '256Mi' } }), 'shop', owner, true),
    ],
    [
      'resources of the whole pod',
      sizes(web())(pod(resourcesOfPod, { resources: { requests: { cpu: '250m' } } }), 'shop', owner, true),
    ],
    ['no policy acts on it', sizes(web(), false)(pod(), 'shop', owner, true)],
    [
      'a template that was edited',
      sizes(web())(pod({ requests: { cpu: '300m', memory: '128Mi' } }), 'shop', owner, true),
    ],
    [
      'a template without this container',
      sizes(web({ containers: [aContainer({ name: 'x' })] }))(pod(), 'shop', owner, true),
    ],
    [
      'an annotation that cannot be read',
      sizes(web({ annotations: { 'optipod.io/applied-sizes': '{' } }))(pod(), 'shop', owner, true),
    ],
  ])('%s: stays as it is', (_, operations) => {
    expect(operations).toEqual([]);
  });

  test('where a quota that counts them has room for the size of the template only, stay as they are', () => {
    const annotations = { 'optipod.io/applied-sizes': '{"app":{"cpuRequest":[200,350]}}' };
    const born = (scope: string | undefined, more: object = {}) => {
      const scopes = scope === undefined ? {} : { scopes: [scope] };
      const quota = aQuota({ hard: { cpuRequest: 1000 }, used: { cpuRequest: 700 }, ...scopes });
      let now = 0;
      const found = sizes(web({ annotations }), true, [], [quota], { now: () => now });
      const [first, later] = [0, 10_000].map((at) => {
        now = at;
        return found(pod(resourcesOfPod, more), 'shop', owner, true).length;
      });
      expect(first).toBe(2);
      return later;
    };
    expect(born(undefined)).toBe(0);
    expect(born('PriorityClass In high')).toBe(2);
    expect(born('PriorityClass In high', { priorityClassName: 'high' })).toBe(0);
    expect(born('Terminating')).toBe(2);
    expect(born('Terminating', { activeDeadlineSeconds: 60 })).toBe(0);
  });

  test('a limit alone is also the request, as the API server completes it', () => {
    const size = { cpuLimit: 400, memoryRequest: 128 * MIB };
    const annotations = { 'optipod.io/applied-sizes': '{"app":{"cpuRequest":[null,120]}}' };
    const completed = { requests: { cpu: '400m', memory: '128Mi' }, limits: { cpu: '400m' } };
    const found = sizes(web({ annotations, containers: [aContainer({ size })] }))(pod(completed), 'shop', owner, true);
    expect(found[0]).toMatchObject({ value: { requests: { cpu: '120m' } } });
  });

  describe('with what a LimitRange of the namespace has filled in', () => {
    const size = { cpuRequest: 200 };
    const ranges = [
      aLimitRange({
        defaultRequest: { cpu: 50, memory: 64 * MIB },
        defaultLimit: { cpu: 400, memory: 256 * MIB },
      }),
    ];
    const filledIn = { requests: { cpu: '200m', memory: '64Mi' }, limits: { cpu: '400m', memory: '256Mi' } };
    const born = (cpuRequest: number, resources: object, own = ranges) => {
      const annotations = { 'optipod.io/applied-sizes': `{"app":{"cpuRequest":[200,${cpuRequest}]}}` };
      const workload = web({ annotations, containers: [aContainer({ size })] });
      return sizes(workload, true, own)(pod(resources), 'shop', owner, true)[0];
    };

    test('they are of the template all the same, and keep that', () => {
      const sized = { requests: { cpu: '120m', memory: '64Mi' }, limits: filledIn.limits };
      expect(born(120, filledIn)).toMatchObject({ value: sized });
      // One that came after the pod was made.
      const bare = { requests: { cpu: '200m' } };
      expect(born(120, bare)).toMatchObject({ value: { requests: { cpu: '120m' } } });
    });

    test('no request goes above a limit that was filled in: the pod would be refused', () => {
      expect(born(400, filledIn)).toMatchObject({ value: { requests: { cpu: '400m' } } });
      expect(born(401, filledIn)).toBeUndefined();
    });

    test('what somebody else has changed is left alone', () => {
      expect(born(120, { ...filledIn, limits: { cpu: '300m', memory: '256Mi' } })).toBeUndefined();
      expect(born(120, filledIn, [])).toBeUndefined();
    });
  });

  test('native sidecars are found where they stand', () => {
    const annotations = { 'optipod.io/applied-sizes': '{"log":{"cpuRequest":[50,20]}}' };
    const containers = [aContainer(), aContainer({ name: 'log', isSidecar: true, size: { cpuRequest: 50 } })];
    const initContainers = [
      { name: 'setup', image: 's' },
      { name: 'log', image: 'l', restartPolicy: 'Always', resources: { requests: { cpu: '50m' } } },
    ];
    const found = sizes(web({ annotations, containers }))(pod(resourcesOfPod, { initContainers }), 'shop', owner, true);
    expect(found[0]).toMatchObject({ path: '/spec/initContainers/1/resources', value: { requests: { cpu: '20m' } } });
  });

  describe('of replicas that have sizes of their own', () => {
    const template = web().containers;
    const own = (cpuRequest: number) => ({
      sizes: sizesOf([aContainer({ size: { ...smallSize, cpuRequest } })]),
      changedAt: undefined,
      before: undefined,
      lessons: noLessons,
    });
    const kept = (replicas: Readonly<Record<string, number>>): string =>
      writeReplicaSizes(template, new Map(Object.entries(replicas).map(([name, cpu]) => [name, own(cpu)]))) ?? '';
    const cpuOf = (workload: SizedWorkload, born: Pod): unknown => {
      const [first] = sizes(workload)(born, 'shop', owner, true);
      return first === undefined ? undefined : (first as { value: { requests: { cpu: string } } }).value.requests.cpu;
    };
    const named = (name: string): Pod => ({ ...pod(), metadata: { name, annotations: { a: 'b' } } });
    const onNode = (...terms: readonly object[]): Pod =>
      pod(resourcesOfPod, {
        affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } },
      });
    const field = (...values: string[]) => ({ matchFields: [{ key: 'metadata.name', operator: 'In', values }] });

    test.each<[string, string, string | undefined]>([
      ['its own', 'db-7', '300m'],
      ['its own, as small as it is', 'db-3', '90m'],
      ['that of all where it has none', 'db-8', '120m'],
      ['that of all where its name says nothing', 'db-07', '120m'],
    ])('a pod of a StatefulSet has %s', (_, name, cpu) => {
      const annotations = { 'optipod.io/applied-sizes': text, 'optipod.io/replica-sizes': kept({ 7: 300, 3: 90 }) };
      expect(cpuOf(web({ kind: 'StatefulSet', name: 'db', annotations }), named(name))).toBe(cpu);
    });

    test.each<[string, Pod, string | undefined]>([
      ['the node it is made for', onNode(field('b')), '300m'],
      ['one node in every term', onNode(field('b'), field('b')), '300m'],
      ['a node of which nothing is known', onNode(field('c')), undefined],
      ['one of two nodes: that of all', onNode(field('a', 'b')), undefined],
      ['another node in each term: that of all', onNode(field('a'), field('b')), undefined],
      ['a term that asks for no node: that of all', onNode(field('b'), {}), undefined],
      ['no node: that of all', pod(), undefined],
    ])('a pod of a DaemonSet for %s', (_, born, cpu) => {
      const annotations = { 'optipod.io/replica-sizes': kept({ a: 90, b: 300 }) };
      expect(cpuOf(web({ kind: 'DaemonSet', name: 'agent', annotations }), born)).toBe(cpu);
    });

    test('a pod of a Deployment has that of all, whatever its name is', () => {
      const annotations = { 'optipod.io/applied-sizes': text, 'optipod.io/replica-sizes': kept({ 7: 300 }) };
      expect(cpuOf(web({ name: 'db', annotations }), named('db-7'))).toBe('120m');
    });

    test('for any sizes, no pod is born with those of another replica', () => {
      fc.assert(
        fc.property(fc.uniqueArray(fc.nat(20), { maxLength: 10 }), fc.nat(25), (ordinals, asked) => {
          const replicas = Object.fromEntries(ordinals.map((ordinal) => [ordinal, 201 + ordinal]));
          const annotations = { 'optipod.io/replica-sizes': kept(replicas) };
          const born = cpuOf(web({ kind: 'StatefulSet', name: 'db', annotations }), named(`db-${asked}`));
          expect(born).toBe(ordinals.includes(asked) ? `${201 + asked}m` : undefined);
        }),
        { numRuns: 200 },
      );
    });
  });

  test('for any applied sizes, the QoS class of the pod is that of its template', () => {
    const both = { cpuRequest: 200, cpuLimit: 200, memoryRequest: 64 * MIB, memoryLimit: 64 * MIB };
    const guaranteed = { requests: { cpu: '200m', memory: '64Mi' }, limits: { cpu: '200m', memory: '64Mi' } };
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 900 }), (cpu) => {
        const annotations = { 'optipod.io/applied-sizes': `{"app":{"cpuRequest":[200,${cpu}]}}` };
        const workload = web({ annotations, containers: [aContainer({ size: both })] });
        // A request of its own would make it Burstable.
        expect(sizes(workload)(pod(guaranteed), 'shop', owner, true)).toEqual([]);
      }),
      { numRuns: 100 },
    );
    expect(smallSize.cpuRequest).toBe(200);
  });
});
