import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Pod, StatefulSet } from '../../../api/core.ts';
import { nameOf } from '../../objects.ts';
import { ordinalOf, planStatefulSet, type StatefulSetView } from './stateful-set-plan.ts';

type SetSpec = NonNullable<StatefulSet['spec']>;
/** r ready, u unready, t terminating, f failed; the digit after it is the revision. */
type PodText = `${'r' | 'u' | 't' | 'f'}${1 | 2}`;

const NOW = Date.UTC(2026, 5, 1);

function podOf(ordinal: number, text: PodText): Pod {
  const [state, revision] = text;
  return {
    metadata: {
      name: `db-${ordinal}`,
      uid: `uid-${ordinal}`,
      labels: { 'controller-revision-hash': `rev-${revision}` },
      ...(state === 't' ? { deletionTimestamp: '2026-06-01T00:00:00Z' } : {}),
    },
    status: {
      phase: state === 'f' ? 'Failed' : 'Running',
      conditions: [
        {
          type: 'Ready',
          status: state === 'r' || state === 't' ? 'True' : 'False',
          lastTransitionTime: '2026-05-31T00:00:00Z',
        },
      ],
    },
  };
}

function view(pods: Record<number, PodText>, spec: Partial<SetSpec> = {}, updated = false): StatefulSetView {
  const base: SetSpec = {
    serviceName: 'db',
    selector: {},
    template: {},
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: {} },
  };
  return {
    set: { metadata: { name: 'db' }, spec: { ...base, ...spec } },
    pods: Object.entries(pods).map(([ordinal, text]) => podOf(Number(ordinal), text)),
    currentRevision: 'rev-1',
    updateRevision: updated ? 'rev-2' : 'rev-1',
    nowMillis: NOW,
  };
}

const show = (input: StatefulSetView): string => {
  const plan = planStatefulSet(input);
  return [
    ...plan.create.map(({ ordinal, revision }) => `+${ordinal}@${revision.slice(4)}`),
    ...plan.delete.map((pod) => `-${ordinalOf(pod, 'db')}`),
  ].join(' ');
};

describe('in order, a StatefulSet', () => {
  test.each<[string, Record<number, PodText>, number, string]>([
    ['creates ordinal 0 first', {}, 3, '+0@1'],
    ['waits for it to be ready', { 0: 'u1' }, 3, ''],
    ['then creates the next', { 0: 'r1' }, 3, '+1@1'],
    ['fills the lowest gap', { 0: 'r1', 2: 'r1' }, 3, '+1@1'],
    ['waits for a terminating pod', { 0: 't1', 1: 'r1' }, 3, ''],
    ['replaces a failed pod', { 0: 'r1', 1: 'f1' }, 3, '-1'],
    ['is content when complete', { 0: 'r1', 1: 'r1' }, 2, ''],
    ['removes the highest ordinal first', { 0: 'r1', 1: 'r1', 2: 'r1' }, 1, '-2'],
    ['waits for a leaving pod before the next', { 0: 'r1', 1: 'r1', 2: 't1' }, 1, ''],
    ['removes an unready pod when it is the only one', { 0: 'r1', 1: 'u1' }, 1, '-1'],
    ['does not remove a ready pod above an unready one to be removed', { 0: 'r1', 1: 'u1', 2: 'u1' }, 1, ''],
    ['removes nothing while a pod that stays is unready', { 0: 'u1', 1: 'r1' }, 1, ''],
  ])('%s', (_, pods, replicas, expected) => {
    expect(show(view(pods, { replicas }))).toBe(expected);
  });

  test('starts at its first ordinal', () => {
    expect(show(view({}, { replicas: 2, ordinals: { start: 5 } }))).toBe('+5@1');
    expect(show(view({ 4: 'r1', 5: 'r1', 6: 'r1' }, { replicas: 2, ordinals: { start: 5 } }))).toBe('-4');
  });
});

describe('updating, a StatefulSet', () => {
  const rolling = (rollingUpdate: object) => ({
    replicas: 3,
    updateStrategy: { type: 'RollingUpdate', rollingUpdate },
  });
  test.each<[string, Record<number, PodText>, Partial<SetSpec>, string]>([
    ['replaces the highest ordinal first', { 0: 'r1', 1: 'r1', 2: 'r1' }, rolling({}), '-2'],
    ['creates it anew from the new template', { 0: 'r1', 1: 'r1' }, rolling({}), '+2@2'],
    ['waits for it to be ready', { 0: 'r1', 1: 'r1', 2: 'u2' }, rolling({}), ''],
    ['goes on downwards', { 0: 'r1', 1: 'r1', 2: 'r2' }, rolling({}), '-1'],
    ['stops at the partition', { 0: 'r1', 1: 'r1', 2: 'r2' }, rolling({ partition: 2 }), ''],
    ['creates pods below the partition from the old template', { 0: 'r1', 2: 'r2' }, rolling({ partition: 2 }), '+1@1'],
    [
      'touches nothing with OnDelete',
      { 0: 'r1', 1: 'r1', 2: 'r1' },
      { replicas: 3, updateStrategy: { type: 'OnDelete' } },
      '',
    ],
    [
      'creates from the new template with OnDelete',
      { 0: 'r1', 1: 'r1' },
      { replicas: 3, updateStrategy: { type: 'OnDelete' } },
      '+2@2',
    ],
    [
      'takes several at a time with maxUnavailable',
      { 0: 'r1', 1: 'r1', 2: 'r1' },
      rolling({ maxUnavailable: 2 }),
      '-2 -1',
    ],
    [
      'takes at least one whatever the percentage',
      { 0: 'r1', 1: 'r1', 2: 'r1' },
      rolling({ maxUnavailable: '10%' }),
      '-2',
    ],
  ])('%s', (_, pods, spec, expected) => {
    expect(show(view(pods, spec, true))).toBe(expected);
  });
});

describe('in parallel, a StatefulSet', () => {
  const parallel = { podManagementPolicy: 'Parallel', replicas: 3 };
  test('creates and removes all at once', () => {
    expect(show(view({}, parallel))).toBe('+0@1 +1@1 +2@1');
    expect(show(view({ 0: 'u1', 1: 'r1', 2: 'r1', 3: 'r1', 4: 'u1' }, parallel))).toBe('-4 -3');
  });
  test('while updating replaces broken pods besides its budget', () => {
    expect(show(view({ 0: 'u1', 1: 'r1', 2: 'r1' }, parallel, true))).toBe('-0');
    expect(show(view({ 0: 'r1', 1: 'r1', 2: 'r1' }, parallel, true))).toBe('-2');
    expect(show(view({ 0: 'r1', 1: 'r1' }, parallel, true))).toBe('+2@2');
  });
});

test('for any state an ordered set does one thing at a time and never touches a ready pod it keeps while scaling', () => {
  const text = fc.constantFrom<PodText>('r1', 'u1', 't1', 'f1');
  fc.assert(
    fc.property(fc.dictionary(fc.nat(6).map(String), text), fc.nat(6), (pods, replicas) => {
      const plan = planStatefulSet(view(pods, { replicas }));
      expect(plan.create.length + plan.delete.length).toBeLessThanOrEqual(1);
      for (const pod of plan.delete) {
        const ordinal = ordinalOf(pod, 'db') ?? -1;
        expect(ordinal >= replicas || pod.status?.phase === 'Failed').toBe(true);
      }
    }),
  );
});

test.each([
  ['db-0', 0],
  ['db-12', 12],
  ['db-x', undefined],
  ['db-', undefined],
  ['other-1', undefined],
  ['db-1-2', undefined],
])('the ordinal of %s is %s', (name, expected) => {
  const pod: Pod = { metadata: { name } };
  expect(ordinalOf(pod, 'db')).toBe(expected);
  expect(nameOf(pod)).toBe(name);
});
