import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PodRecord } from '../model/records.ts';
import { aPod, aTemplate, NOON } from '../model/testing/records.ts';
import { createPodCompactor } from './compact-pod.ts';
import { compactPodSizing, plainSizing, type ToldSizing } from './sizing/compact-pod-sizing.ts';

const owner = { namespace: 'shop', name: 'web', uid: 'uid-web' };
/** What a field may be besides what `aPod` has. All fields are named, so that a new one cannot be forgotten. */
const values: { readonly [K in keyof Required<PodRecord>]: fc.Arbitrary<PodRecord[K]> } = {
  uid: fc.constantFrom('', 'one', 'two'),
  namespace: fc.constantFrom('shop', 'bank'),
  name: fc.constantFrom('a', 'b'),
  resourceVersion: fc.oneof(fc.nat().map(String), fc.constantFrom('', '007', '1e3', 'x', 'NaN', '9'.repeat(20))),
  owner: fc.constantFrom(undefined, { apiVersion: 'v1', kind: 'Job', name: 'job', uid: 'uid-job' }),
  template: fc.constantFrom(aTemplate(), aTemplate({ labels: { app: 'other' } })),
  phase: fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'),
  ready: fc.boolean(),
  readyChangedAt: fc.constantFrom(undefined, NOON, NOON + 1, 0),
  nodeName: fc.constantFrom(undefined, 'node-1'),
  unschedulableSince: fc.constantFrom(undefined, NOON),
  createdAt: fc.constantFrom(0, NOON, NOON + 999),
  deletingAt: fc.constantFrom(undefined, NOON),
  evictedAt: fc.constantFrom(undefined, NOON),
  slot: fc.constantFrom(undefined, 0, 7),
  capacity: fc.constantFrom(undefined, 'spot', 'on-demand'),
  admissionId: fc.constantFrom(undefined, 'id', '00ff7f80-0a0b-4c0d-8e0f-10203040506e'),
  unconfirmed: fc.boolean(),
  fallback: fc.boolean(),
  pinned: fc.constantFrom(undefined, true),
  deletionCost: fc.constantFrom(0, -5, 100),
  protectedBy: fc.constantFrom(undefined, 'karpenter.sh/do-not-disrupt'),
  claims: fc.constantFrom([], ['data']),
  resizing: fc.boolean(),
  sizing: fc.constant(undefined),
};
const somePod = fc.record(values).map((changes) => aPod(owner, 'a', changes));
const fieldsOf = (pod: PodRecord | undefined): unknown =>
  pod && Object.fromEntries(Object.keys(values).map((key) => [key, Reflect.get(pod, key)]));

test('for any pods, one after the other, each record says what the plain one says', () => {
  fc.assert(
    fc.property(fc.array(somePod, { minLength: 1, maxLength: 4 }), (pods) => {
      const compact = createPodCompactor(2);
      let before: PodRecord | undefined;
      const kept = pods.map((pod) => {
        before = compact(pod, before);
        return before;
      });
      expect(kept.map(fieldsOf)).toEqual(pods.map(fieldsOf));
    }),
  );
});

test('what sizing keeps of the pod reads as it did', () => {
  const told = {
    shared: { qos: 'Burstable', os: 'linux', containers: [{ name: 'app' }] },
    resize: {},
    sizes: [{ cpuRequest: 300 }],
    generation: 3,
    observedGeneration: 2,
  } as unknown as ToldSizing;
  const sharing = { common: <T>(common: T) => ({ common, ownCpu: String.fromCharCode(346, 0) }) };
  for (const startedAt of [[], [undefined, undefined], [NOON, NOON], [NOON, NOON + 1]]) {
    const statuses = startedAt.map((at) => ({ name: 'app', startedAt: at }) as ToldSizing['statuses'][number]);
    const sizing = compactPodSizing({ ...told, statuses }, sharing);
    const kept = createPodCompactor(2)({ ...aPod(owner, 'a'), sizing }, undefined).sizing;
    expect(kept && plainSizing(kept)).toEqual(plainSizing(sizing));
  }
});

test('a sizing part that is no compact one is kept as it is', () => {
  const pod = aPod(owner, 'a');
  const sizing = { ...pod, qos: 'Burstable' } as unknown as NonNullable<PodRecord['sizing']>;
  expect(createPodCompactor(2)({ ...pod, sizing }, undefined).sizing).toBe(sizing);
});
