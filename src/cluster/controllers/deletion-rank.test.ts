import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Pod } from '../../api/core.ts';
import { nameOf } from '../objects.ts';
import { choosePodsToDelete } from './deletion-rank.ts';

const NOW = Date.UTC(2026, 5, 1);
const ago = (seconds: number): string => new Date(NOW - seconds * 1000).toISOString();

interface PodFacts {
  readonly node?: string;
  readonly phase?: string;
  readonly readyFor?: number;
  readonly cost?: string;
  readonly restarts?: number;
  readonly age?: number;
  readonly uid?: string;
}

function pod(name: string, facts: PodFacts = {}): Pod {
  const {
    node = `node-of-${name}`,
    phase = 'Running',
    readyFor = 100,
    cost,
    restarts = 0,
    age = 1000,
    uid = name,
  } = facts;
  const ready = readyFor >= 0;
  return {
    metadata: {
      name,
      uid,
      creationTimestamp: ago(age),
      ...(cost === undefined ? {} : { annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } }),
    },
    spec: { containers: [], ...(node === '' ? {} : { nodeName: node }) },
    status: {
      phase,
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: ago(Math.max(0, readyFor)) }],
      containerStatuses: [{ name: 'a', image: '', imageID: '', ready, restartCount: restarts }],
    },
  };
}

const NOT_READY = -1;

describe('the pod deleted first', () => {
  // Each row: what goes, what stays, and why.
  test.each<[string, Pod, Pod]>([
    ['unassigned before assigned', pod('gone', { node: '' }), pod('kept', { phase: 'Pending', readyFor: NOT_READY })],
    ['pending before running', pod('gone', { phase: 'Pending' }), pod('kept', { readyFor: NOT_READY })],
    ['pending before unknown', pod('gone', { phase: 'Pending' }), pod('kept', { phase: 'Unknown' })],
    ['unready before ready', pod('gone', { readyFor: NOT_READY, cost: '100' }), pod('kept', { cost: '-100' })],
    ['lower cost first', pod('gone', { cost: '-5', readyFor: 9999 }), pod('kept', { cost: '-4', readyFor: 1 })],
    ['no cost counts as zero', pod('gone', { cost: '-1' }), pod('kept')],
    ['a malformed cost counts as zero', pod('gone', { cost: '-1' }), pod('kept', { cost: '-9.5' })],
    ['a cost beyond 32 bits counts as zero', pod('gone', { cost: '-1' }), pod('kept', { cost: '-9999999999' })],
    ['shorter ready first', pod('gone', { readyFor: 10 }), pod('kept', { readyFor: 1000 })],
    ['more restarts first', pod('gone', { restarts: 3 }), pod('kept', { restarts: 1 })],
    ['younger first', pod('gone', { age: 10 }), pod('kept', { age: 1000 })],
  ])('%s', (_, gone, kept) => {
    expect(choosePodsToDelete([kept, gone], [kept, gone], 1, NOW)).toEqual([gone]);
    expect(choosePodsToDelete([gone, kept], [kept, gone], 1, NOW)).toEqual([gone]);
  });

  test('is one that shares its node with most pods of the same owner', () => {
    const crowded = [pod('a', { node: 'n1' }), pod('b', { node: 'n1' })];
    const alone = pod('c', { node: 'n2', readyFor: 1 });
    const [first] = choosePodsToDelete([alone, ...crowded], [alone, ...crowded], 1, NOW);
    expect(first?.spec?.nodeName).toBe('n1');
  });

  test('counts pods of other revisions, but not terminating ones, as sharing a node', () => {
    const own = [pod('a', { node: 'n1', readyFor: 9999 }), pod('b', { node: 'n2', readyFor: 1 })];
    const other = pod('other', { node: 'n1' });
    const leaving: Pod = { ...other, metadata: { ...other.metadata, deletionTimestamp: ago(0) } };
    expect(choosePodsToDelete(own, [...own, other], 1, NOW).map(nameOf)).toEqual(['a']);
    expect(choosePodsToDelete(own, [...own, leaving], 1, NOW).map(nameOf)).toEqual(['b']);
  });

  test('among pods of similar age follows the uid, not the age', () => {
    const young = pod('young', { readyFor: 1000, uid: 'z' });
    const old = pod('old', { readyFor: 1050, uid: 'a' });
    expect(choosePodsToDelete([young, old], [], 1, NOW).map(nameOf)).toEqual(['old']);
  });
});

test('ten ready pods with costs -1..-10 scaled to four keep the pods 1..4', () => {
  const pods = Array.from({ length: 10 }, (_, index) => pod(`p${index + 1}`, { cost: String(-(index + 1)) }));
  const deleted = new Set(choosePodsToDelete(pods, pods, 6, NOW).map(nameOf));
  expect(pods.map(nameOf).filter((name) => !deleted.has(name))).toEqual(['p1', 'p2', 'p3', 'p4']);
});

test('asking for as many as there are returns all of them', () => {
  const pods = [pod('a'), pod('b')];
  expect(choosePodsToDelete(pods, pods, 5, NOW)).toEqual(pods);
});

test('for any pods the choice does not depend on the order they come in', () => {
  const facts = fc.record({
    node: fc.constantFrom('', 'n1', 'n2'),
    phase: fc.constantFrom('Pending', 'Running'),
    readyFor: fc.constantFrom(NOT_READY, 5, 50, 500),
    cost: fc.constantFrom('-1', '0', '3'),
    restarts: fc.nat(2),
    age: fc.constantFrom(10, 100, 1000),
  });
  fc.assert(
    fc.property(fc.array(facts, { minLength: 1, maxLength: 12 }), fc.nat(12), fc.nat(1000), (all, count, shift) => {
      const pods = all.map((each, index) => pod(`p${index}`, each));
      const rotated = [...pods.slice(shift % pods.length), ...pods.slice(0, shift % pods.length)];
      const once = choosePodsToDelete(pods, pods, count, NOW);
      expect(once).toHaveLength(Math.min(count, pods.length));
      const crowd = (node: string | undefined): number => pods.filter(({ spec }) => spec?.nodeName === node).length;
      // Pods that rank alike may be swapped; how the chosen ones rank may not change.
      const ranks = (chosen: readonly Pod[]): string[] =>
        chosen
          .map(({ metadata, spec, status }) => {
            const node = spec?.nodeName;
            const { annotations, creationTimestamp } = metadata ?? {};
            return JSON.stringify([node !== undefined, crowd(node), annotations, creationTimestamp, status]);
          })
          .sort();
      expect(ranks(choosePodsToDelete(rotated, pods, count, NOW))).toEqual(ranks(once));
    }),
  );
});
