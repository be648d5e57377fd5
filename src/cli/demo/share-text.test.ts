import { expect, test } from 'vitest';
import { sharesReport, sharesText } from './share-text.ts';

const checkout = { name: 'checkout', request: 100, limit: undefined, used: 200 };
const report = { name: 'report', request: 900, limit: undefined, used: 1800 };

test('a line tells what each pod has and uses', () => {
  expect(sharesText([checkout, { ...report, limit: 1260 }])).toBe(
    'CPU of shared-1: checkout asks 100m, uses 200m; report asks 900m, at most 1260m, uses 1800m',
  );
  expect(sharesText([])).toBe('');
});

test('the end tells how the shares have moved', () => {
  const last = [
    { ...checkout, request: 400, used: 700 },
    { ...report, request: 600, limit: 1260, used: 1259 },
  ];
  expect(sharesReport([checkout, report], last)).toEqual([
    'CPU of shared-1, shared out anew by allocation:',
    '  checkout   request 100m -> 400m; uses 200m -> 700m',
    '  report     request 900m -> 600m, a ceiling of 1260m; uses 1800m -> 1259m',
  ]);
});

test('nothing was seen, nothing is told', () => {
  expect(sharesReport([], [checkout])).toEqual([]);
  expect(sharesReport([checkout], [])).toEqual([]);
});
