import { describe, expect, test } from 'vitest';
import type { LimitRangeRecord } from '../../../model/sizing-records.ts';
import { testPodOf } from '../testing/pods.ts';
import { besideLimit, limitRangeBound, mostBesideRequests, ratioBounds } from './limit-range.ts';

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

describe('beside limits that stay', () => {
  const ratio = (type: 'Container' | 'Pod', most: number) => range(type, undefined, undefined, most);
  const pod = testPodOf([
    [400, 1000],
    [100, 200],
  ]);

  test.each<[string, readonly LimitRangeRecord[], number | undefined]>([
    ['each container keeps what its ratio asks for', [ratio('Container', 3)], 334 + 67],
    ['and the pod', [ratio('Pod', 2)], 600],
    ['whichever is more', [ratio('Container', 3), ratio('Pod', 2), ratio('Pod', 4)], 600],
    ['nothing without a ratio', [range('Container', 50, 2000)], undefined],
  ])('integration 4: %s', (_name, ranges, min) => {
    const wanted = min === undefined ? [] : [{ layer: 'hard', reason: 'LimitRatio', min }];
    expect(ratioBounds(ranges, pod.containers)).toEqual(wanted);
  });

  test('integration 4: containers without a limit keep nothing for it', () => {
    expect(ratioBounds([ratio('Container', 3)], testPodOf([[400]]).containers)).toEqual([]);
  });

  test('integration 4: where limits move along, only that bound is none', () => {
    const bounds = [
      ...ratioBounds([ratio('Pod', 2)], pod.containers),
      { layer: 'hard', reason: 'LimitRange' } as const,
    ];
    expect(besideLimit(bounds, true)).toEqual(bounds);
    expect(besideLimit(bounds, false)).toEqual([{ layer: 'hard', reason: 'LimitRange' }]);
  });
});

describe('beside requests that stay', () => {
  const ratio = (type: 'Container' | 'Pod', most: number) => range(type, undefined, undefined, most);

  test.each<[string, readonly LimitRangeRecord[], number]>([
    ['each container has at most its ratio', [ratio('Container', 2.5)], 37 + 1000],
    ['and so has the pod', [ratio('Pod', 2.1)], 871],
    ['whichever is less', [ratio('Container', 2), ratio('Pod', 2.1)], 830],
    ['anything without a ratio', [range('Container', 50, 2000)], Number.POSITIVE_INFINITY],
  ])('integration 4: %s', (_name, ranges, most) => {
    expect(mostBesideRequests(ranges, testPodOf([[15], [400]]).containers)).toBe(most);
  });

  test('integration 4: a container that requests nothing is bounded by nothing where there is no ratio', () => {
    expect(mostBesideRequests([range('Container', 50, 2000)], testPodOf([[undefined]]).containers)).toBe(
      Number.POSITIVE_INFINITY,
    );
  });
});
