import { describe, expect, test } from 'vitest';
import type { LimitRangeRecord } from '../../../model/sizing-records.ts';
import { limitRangeBound } from './limit-range.ts';

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
