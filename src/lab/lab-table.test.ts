import { describe, expect, test } from 'vitest';
import type { RunFigures } from './experiment.ts';
import { labPlot } from './lab-plot.ts';
import { spreadOf, tabulate } from './lab-table.ts';
import { labText } from './lab-text.ts';

const pod = { p50Millis: 1, p99Millis: 9, throttledShare: 0, writes: 1 };
const aRun = (seed: number, p95Millis: number, more: Partial<RunFigures> = {}): RunFigures => ({
  load: 'constant',
  arm: 'hand-tuned',
  seed,
  substrate: 'simulated',
  pods: [
    { ...pod, pod: 'a', sent: 10, p95Millis, lostShare: 0, badShare: 0.125, usage: 500, throttledMillis: 2000 },
    { ...pod, pod: 'hog', sent: 0, p95Millis: 0, lostShare: 0, badShare: 0, usage: 330, throttledMillis: 90_000 },
  ],
  unscheduled: [],
  countedMillis: 60_000,
  jain: 1,
  writesPerMinute: seed,
  lateWrites: 0,
  highestSum: 1800,
  violations: 0,
  trace: [
    { atMillis: 2000, pods: { a: { request: 600, limit: undefined, usage: 100 } } },
    { atMillis: 4000, pods: { a: { request: 700, limit: 900, usage: 650 } } },
  ],
  ...more,
});

describe('a spread', () => {
  test.each([
    [[3, 1, 2], 2, 1, 3],
    [[4, 1, 2, 3], 2.5, 1, 4],
    [[1, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 2], Number.POSITIVE_INFINITY, 1, Number.POSITIVE_INFINITY],
    [
      [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
      Number.POSITIVE_INFINITY,
      Number.POSITIVE_INFINITY,
      Number.POSITIVE_INFINITY,
    ],
    [[], 0, 0, 0],
  ])('of %j', (values, median, least, most) => {
    expect(spreadOf(values)).toEqual({ median, least, most });
  });
});

test('a row is one arm under one load over its seeds; throttling counts where somebody waits for an answer', () => {
  const rows = tabulate([aRun(1, 20), aRun(2, 40), aRun(3, 30), aRun(1, 50, { arm: 'stowage' })]);
  expect(rows.map(({ arm, runs }) => [arm, runs])).toEqual([
    ['hand-tuned', 3],
    ['stowage', 1],
  ]);
  expect(rows[0]?.pods[0]?.p95Millis).toEqual({ median: 30, least: 20, most: 40 });
  expect(rows[0]?.throttledMillis.median).toBe(2000);
  expect(tabulate([aRun(1, 20, { countedMillis: 120_000 })])[0]?.throttledMillis.median).toBe(1000);
});

test('a seed that was run twice counts once, as it came out last', () => {
  const [row] = tabulate([aRun(1, 20), aRun(2, 40), aRun(1, 60)]);
  expect(row?.runs).toBe(2);
  expect(row?.pods[0]?.p95Millis).toEqual({ median: 50, least: 40, most: 60 });
});

test('figures of a pod that found room in some runs only are of those, and say so', () => {
  const [a, hog] = aRun(1, 20).pods;
  if (a === undefined || hog === undefined) throw new Error('there are two pods');
  const late = { ...a, pod: 'late', p95Millis: 70 };
  const runs = [
    aRun(1, 20, { unscheduled: ['late'] }),
    aRun(2, 20, { pods: [a, hog, late] }),
    aRun(3, 20, { arm: 'stowage' }),
  ];
  const rows = tabulate(runs);
  expect(rows[0]?.pods.map((each) => [each.pod, each.runs])).toEqual([
    ['a', 2],
    ['hog', 2],
    ['late', 1],
  ]);
  const text = labText(rows);
  expect(text).toMatch(/^\| hand-tuned \| 2 \| 20 \| 12\.5 \| 70, 1 of 2 seeds \| 12\.5, 1 of 2 seeds \|/m);
  expect(text).toMatch(/^\| stowage \| 1 \| 20 \| 12\.5 \| no room \| no room \|/m);
});

test('the table says what was lost, and who broke the sum', () => {
  const text = labText(tabulate([aRun(1, 20), aRun(2, Number.POSITIVE_INFINITY, { violations: 2 })]));
  expect(text).toContain(
    '| arm | seeds | a p95 ms | a bad % | throttled s/min | hog CPU m | writes/min/pod | late writes |\n|---|---|---|---|---|---|---|---|\n' +
      '| hand-tuned | 2 | lost (20 to lost) | 12.5 | 2 | 330 | 2 (1 to 2) | 0 |',
  );
  expect(text).toContain('above what is allocatable at times: hand-tuned on constant');
  const calm = labText(tabulate([aRun(1, 20)]));
  expect(calm).toMatch(/In no run was the sum of requests above what is allocatable\.\n$/);
  const full = labText(tabulate([aRun(1, 20), aRun(2, 20, { unscheduled: ['late'] })]));
  expect(full).toContain('A pod that came found no room: hand-tuned on constant.');
});

test('the plot draws a ceiling only where there is one', () => {
  const svg = labPlot([aRun(1, 20)]);
  expect(svg).toMatch(/^<svg [^>]*>[\s\S]*<\/svg>\n$/);
  expect(svg.match(/stroke="#cf222e"/g)).toHaveLength(1);
  expect(svg.match(/<path d="M[^"]* L[^"]*"/g)).toHaveLength(2);
  expect(svg).toContain('constant, hand-tuned: a');
  expect(labPlot([])).toMatch(/<\/svg>\n$/);
});
