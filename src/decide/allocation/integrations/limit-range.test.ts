import { describe, expect, test } from 'vitest';
import type { LimitRangeRecord } from '../../../model/sizing-records.ts';
import { testPod } from '../testing/pods.ts';
import { cpuRange, limitRangeBound, limitRangeViolation } from './limit-range.ts';

const range = (type: 'Container' | 'Pod', min?: number, max?: number, ratio?: number): LimitRangeRecord => ({
  namespace: 'shop',
  name: 'range',
  type,
  min: min === undefined ? {} : { cpu: min },
  max: max === undefined ? {} : { cpu: max },
  defaultRequest: {},
  defaultLimit: {},
  maxLimitRequestRatio: ratio === undefined ? {} : { cpu: ratio },
});
const containers = (request: number, limit?: number) =>
  testPod('a', { request, ...(limit !== undefined && { limit }) }).containers;

test('integration 4: objects combine: the largest minimum, the smallest maximum and ratio', () => {
  const ranges = [range('Container', 50, 4000, 10), range('Container', 100, 2000), range('Pod', 500, 9000, 4)];
  expect(cpuRange(ranges, 'Container')).toEqual({ lo: 100, hi: 2000, ratio: 10 });
  expect(cpuRange(ranges, 'Pod')).toEqual({ lo: 500, hi: 9000, ratio: 4 });
  expect(cpuRange([], 'Pod')).toEqual({ lo: 0, hi: Number.POSITIVE_INFINITY, ratio: Number.POSITIVE_INFINITY });
});

describe('box of a pod', () => {
  test.each<[string, readonly LimitRangeRecord[], number, number, object | undefined]>([
    ['one container', [range('Container', 50, 2000)], 1, 1, { min: 50, max: 2000 }],
    ['three containers', [range('Container', 50, 2000)], 3, 1, { min: 150, max: 6000 }],
    ['the pod bounds the sum', [range('Container', 50, 2000), range('Pod', 400, 3000)], 3, 1, { min: 400, max: 3000 }],
    ['the limit must be higher for the request to be enough', [range('Container', 90)], 1, 0.9, { min: 100 }],
    ['a minimum above the maximum', [range('Container', 500, 400)], 1, 1, undefined],
    ['containers that cannot fit the pod', [range('Container', 500), range('Pod', undefined, 900)], 2, 1, undefined],
  ])('integration 4: %s', (_name, ranges, count, ratio, wanted) => {
    const found = limitRangeBound(ranges, count, ratio);
    if (wanted === undefined) expect(found).toBeUndefined();
    else expect(found).toMatchObject({ layer: 'hard', reason: 'LimitRange', ...wanted });
  });
});

describe('pods that admission refuses whatever is changed', () => {
  test.each<[string, readonly LimitRangeRecord[], readonly [number, number?], RegExp | undefined]>([
    ['inside', [range('Container', 50, 2000, 4)], [500, 2000], undefined],
    ['no limit where none is demanded', [range('Container', 50)], [500], undefined],
    ['request too small', [range('Container', 200)], [100], /container main: request 100m is below the least 200m/],
    ['limit too large', [range('Container', undefined, 900)], [100, 1000], /limit 1000m is above the most 900m/],
    [
      'no limit where one is demanded',
      [range('Container', undefined, 900)],
      [100],
      /limit none is above the most 900m/,
    ],
    [
      'ratio too large',
      [range('Container', undefined, undefined, 2)],
      [100, 300],
      /more than 2 times the request 100m/,
    ],
    [
      'a ratio demands a limit',
      [range('Container', undefined, undefined, 2)],
      [100],
      /limit none is more than 2 times/,
    ],
    ['pod total too small', [range('Pod', 200)], [100], /pod: request 100m is below the least 200m/],
  ])('integration 4: %s', (_name, ranges, [request, limit], wanted) => {
    const found = limitRangeViolation(ranges, containers(request, limit));
    if (wanted === undefined) expect(found).toBeUndefined();
    else expect(found).toMatch(wanted);
  });
});
