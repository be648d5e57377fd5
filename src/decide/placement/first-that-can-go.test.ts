import { expect, test } from 'vitest';
import type { PodRecord } from '../../model/records.ts';
import { aPod, aStatefulSet, aTemplate, aVolumeClaim, inZone, NOON } from '../../model/testing/records.ts';
import { createWorld, evictionOf, plan, SPOT_NODE, type World } from './testing/world.ts';

const rollout = { type: 'StatefulSet', start: 0, partition: 0, onDelete: false, orderedReady: false } as const;

/** Five pods on spot with volumes; on-demand has nodes in zone a, and so have the volumes of these ordinals. */
function withVolumes(followers: readonly number[], replicas = 5): World {
  const world = createWorld(aStatefulSet({ replicas, rollout }), { rounding: 'floor' });
  world.nodes = world.nodes.map((node) => ({ ...node, labels: { ...node.labels, zone: 'a' } }));
  const ordinals = Array.from({ length: replicas }, (_, ordinal) => ordinal);
  world.pods = ordinals.map((ordinal) =>
    aPod({ ...world.workload, kind: 'StatefulSet' }, `db-${ordinal}`, {
      nodeName: SPOT_NODE,
      claims: [`data-${ordinal}`],
    }),
  );
  world.volumeClaims = ordinals.map((ordinal) =>
    aVolumeClaim(`data-${ordinal}`, { requiredNodeTerms: [inZone(followers.includes(ordinal) ? 'a' : 'b')] }),
  );
  return world;
}

const change = (world: World, changes: (pod: PodRecord) => Partial<PodRecord>): void => {
  world.pods = world.pods.map((pod) => ({ ...pod, ...changes(pod) }));
};

// Of slots o s o s s the pods db-2 and db-0 are to move.
test.each<[string, readonly number[], string]>([
  ['the highest slot where all can follow', [0, 2], 'db-2'],
  ['another where its volume cannot follow: it holds up none that can', [0], 'db-0'],
  ['the highest where none can, so that the guard says why', [], 'db-2'],
])('hazard H12: of pods with volumes moves %s', (_, followers, expected) => {
  expect(evictionOf(plan(withVolumes(followers)))?.pod.name).toBe(expected);
});

test('hazard H10: a pod that would come back as another revision holds up no other', () => {
  const world = withVolumes([0, 2]);
  const status = { ...world.workload.status, currentRevision: 'old', updateRevision: 'new' };
  world.workload = { ...world.workload, status };
  const victimWith = (hash: string) => {
    const template = aTemplate({ labels: { 'controller-revision-hash': hash } });
    change(world, ({ name }) => (name === 'db-2' ? { template } : {}));
    return evictionOf(plan(world))?.pod.name;
  };
  expect(victimWith('old')).toBe('db-0');
  expect(victimWith('new')).toBe('db-2');
});

test('of those that wait for spot the first whose volume lets it fall back does', () => {
  const fallbackOf = (followers: readonly number[]) => {
    const world = withVolumes(followers);
    const waiting = { nodeName: undefined, phase: 'Pending', ready: false, capacity: 'spot' } as const;
    change(world, ({ name }) => {
      const ordinal = Number(name.slice(-1));
      return [1, 3].includes(ordinal)
        ? { ...waiting, slot: ordinal + 1, admissionId: name, unschedulableSince: NOON - 3_600_000 + ordinal }
        : { nodeName: ordinal === 4 ? SPOT_NODE : 'node-on-demand' };
    });
    return plan(world).decisions.find(({ kind }) => kind === 'fallback')?.pod.name;
  };
  expect(fallbackOf([1, 3])).toBe('db-1');
  expect(fallbackOf([3])).toBe('db-3');
  expect(fallbackOf([])).toBe('db-1');
});

test('no more than twenty are looked at, each of which may cost a look at every node', () => {
  const victimOf = (follower: number) => evictionOf(plan(withVolumes([follower], 100)))?.pod.name;
  const wanted = plan(withVolumes([], 100)).pods.filter(({ state }) => state === 'wrong-side');
  const slots = wanted.map(({ slot = 0 }) => slot).toSorted((a, b) => b - a);
  const ordinalAt = (place: number): number => (slots[place] ?? 0) - 1;
  expect(victimOf(ordinalAt(19))).toBe(`db-${ordinalAt(19)}`);
  expect(victimOf(ordinalAt(20))).toBe(`db-${ordinalAt(0)}`);
});
