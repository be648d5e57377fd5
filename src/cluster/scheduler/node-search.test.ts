import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { NodeState } from './cluster-state.ts';
import { enoughNodes, searchNodes } from './node-search.ts';

const nodes = (count: number): NodeState[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `n${index}`,
    node: {},
    allocatable: new Map(),
    requested: new Map(),
    pods: new Map(),
  }));
const anyNode = (): undefined => undefined;
const noNode = () => ({ reasons: ['no'], isUnresolvable: true });

// As kube-scheduler computes them with percentageOfNodesToScore 0.
test.each([
  [0, 0],
  [10, 10],
  [99, 99],
  [100, 100],
  [500, 230],
  [1000, 420],
  [6000, 300],
  [10_000, 500],
])('of %i nodes %i are enough', (count, expected) => {
  expect(enoughNodes(count)).toBe(expected);
});

describe('searchNodes', () => {
  test('in a small cluster finds every node that fits', () => {
    expect(searchNodes(nodes(50), 17, anyNode).feasible).toHaveLength(50);
  });

  test('in a large cluster stops when there are enough, and goes on from there next time', () => {
    const all = nodes(500);
    const first = searchNodes(all, 0, anyNode);
    const second = searchNodes(all, first.next, anyNode);
    expect([first.feasible.length, second.feasible.length]).toEqual([230, 230]);
    const seen = new Set([...first.feasible, ...second.feasible].map(({ name }) => name));
    expect(seen.size).toBe(460);
  });

  test('takes a fair sample of nodes listed zone by zone', () => {
    const { feasible } = searchNodes(nodes(600), 0, anyNode);
    const perZone = [0, 0, 0];
    for (const { name } of feasible) {
      const zone = Math.floor(Number(name.slice(1)) / 200);
      perZone[zone] = (perZone[zone] ?? 0) + 1;
    }
    expect(Math.max(...perZone) - Math.min(...perZone)).toBeLessThanOrEqual(15);
  });

  test('for any size looks at every node once before it gives up', () => {
    fc.assert(
      fc.property(fc.nat(2000), fc.nat(5000), (count, start) => {
        const all = nodes(count);
        const visited = new Set<string>();
        const { refusals, feasible } = searchNodes(all, start, (state) => {
          visited.add(state.name);
          return noNode();
        });
        expect([refusals.length, feasible.length, visited.size]).toEqual([count, 0, count]);
      }),
      { numRuns: 40 },
    );
  });
});
