import { expect, test } from 'vitest';
import type { UsageTold } from '../workload-answer.ts';
import { bytes, cores } from './format.ts';
import { staleText, usageText } from './usage-part.ts';

const usage: UsageTold = {
  of: 'last-day',
  end: 208,
  columns: [0.5, 0.5],
  beyond: 0,
  median: 90,
  p90: 120,
  highest: 200,
};

test('the picture in words', () => {
  expect(usageText(usage, cores)).toBe(
    'All samples of the last day or so: half of them at most 90m CPU, nine of ten at most 120m CPU, none above 200m CPU.',
  );
  const mib = 1024 ** 2;
  const peaks: UsageTold = { ...usage, of: 'peaks', median: 100 * mib, p90: 200 * mib, highest: 300 * mib };
  expect(usageText(peaks, bytes)).toMatch(/six hours: half of them at most 100 MiB, .* none above 300 MiB\.$/);
});

test.each([
  [undefined, ''],
  [0, ''],
  [15 * 60_000, ''],
  [16 * 60_000, ' The last sample came 16 min ago.'],
  [5 * 3_600_000, ' The last sample came 5 h ago.'],
])('usage last heard of %s ms ago', (age, text) => {
  const now = Date.UTC(2026, 5, 1);
  expect(staleText({ until: age === undefined ? undefined : now - age }, now)).toBe(text);
});

test('where all is alike, that is said once', () => {
  expect(usageText({ ...usage, median: 199.8, highest: 200.2 }, cores)).toBe(
    'All samples of the last day or so: about 200m CPU, all of them.',
  );
});

test('what lies beyond it is told', () => {
  expect(usageText({ ...usage, highest: 1500, beyond: 0.004 }, cores)).toMatch(
    /none above 1\.5 cores\. 0\.4 % of samples lie above 208m CPU, where the picture ends\.$/,
  );
});
