import { expect, test } from 'vitest';
import { aContainer, MIB } from '../../model/testing/sizing-records.ts';
import { memoryGrowth, mostNeededFirst } from './most-needed-first.ts';

const containers = [
  aContainer({ name: 'app', size: { cpuRequest: 100, memoryRequest: 100 * MIB, memoryLimit: 200 * MIB } }),
  aContainer({ name: 'log', size: { memoryRequest: 10 * MIB } }),
];

test.each([
  ['nothing', [], 0],
  ['CPU alone', [{ container: 'app', to: { cpuRequest: 900 } }], 0],
  ['less', [{ container: 'app', to: { memoryRequest: 50 * MIB } }], 0],
  ['a request', [{ container: 'app', to: { memoryRequest: 150 * MIB } }], 0.5],
  ['a limit, and less of the request', [{ container: 'app', to: { memoryRequest: MIB, memoryLimit: 220 * MIB } }], 0.1],
  ['a limit that there was not', [{ container: 'log', to: { memoryLimit: 900 * MIB } }], 0],
  ['a container that is gone', [{ container: 'old', to: { memoryRequest: 900 * MIB } }], 0],
])('how much more memory %s is', (_, changes, expected) => {
  expect(memoryGrowth(containers, changes)).toBeCloseTo(expected);
});

test('of several containers the one that gets most decides', () => {
  const changes = [
    { container: 'app', to: { memoryRequest: 120 * MIB } },
    { container: 'log', to: { memoryRequest: 30 * MIB } },
  ];
  expect(memoryGrowth(containers, changes)).toBeCloseTo(2);
});

test('those of one need keep their order', () => {
  const items = [
    { name: 'a', growth: 0 },
    { name: 'b', growth: 0.1 },
    { name: 'c', growth: 0 },
    { name: 'd', growth: 2 },
    { name: 'e', growth: 0.1 },
  ];
  expect(mostNeededFirst(items, ({ growth }) => growth).map(({ name }) => name)).toEqual(['d', 'b', 'e', 'a', 'c']);
});
