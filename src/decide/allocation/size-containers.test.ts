import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LimitRangeRecord } from '../../model/sizing-records.ts';
import type { AllocationPod } from './allocation-pod.ts';
import type { PodTarget } from './node-input.ts';
import { sizeContainers } from './size-containers.ts';
import { testPodOf } from './testing/pods.ts';
import { userLimitsOf } from './user-limits.ts';

const podOf = (rows: Parameters<typeof testPodOf>[0], qos: AllocationPod['qos'] = 'Burstable'): AllocationPod =>
  testPodOf(rows, { qos });
const target = (
  request: number,
  limit?: number,
  limitPolicy: PodTarget['limitPolicy'] = limit === undefined ? 'Keep' : 'Apply',
): PodTarget => ({ request, limit, limitPolicy });
const usage = (...amounts: number[]): ReadonlyMap<string, number> =>
  new Map(amounts.map((amount, index) => [`c${index}`, amount]));
const range: LimitRangeRecord = {
  namespace: 'shop',
  name: 'r',
  type: 'Container',
  min: { cpu: 100 },
  max: { cpu: 500 },
  defaultRequest: {},
  defaultLimit: {},
  maxLimitRequestRatio: { cpu: 2 },
};
const ofPod = (bounds: Partial<LimitRangeRecord>): LimitRangeRecord => ({
  ...range,
  type: 'Pod',
  min: {},
  max: {},
  maxLimitRequestRatio: {},
  ...bounds,
});

describe('sizes of containers', () => {
  test.each<
    [string, AllocationPod, PodTarget, ReadonlyMap<string, number>, readonly LimitRangeRecord[], Record<string, object>]
  >([
    ['requests by usage', podOf([[200], [200]]), target(800), usage(300, 100), [], { c0: { cpuRequest: 600 } }],
    ['what stays is not named', podOf([[600], [100]]), target(800), usage(300, 100), [], { c1: { cpuRequest: 200 } }],
    ['nothing changes', podOf([[600], [200]]), target(800), usage(1, 999), [], {}],
    [
      'a kept limit bounds its container',
      podOf([
        [200, 300],
        [200, 900],
      ]),
      target(800),
      usage(300, 100),
      [],
      { c0: { cpuRequest: 300 }, c1: { cpuRequest: 500 } },
    ],
    [
      'a ceiling for all of them',
      podOf([[200], [200]]),
      target(400, 440),
      usage(300, 100),
      [],
      { c0: { cpuLimit: 240 }, c1: { cpuLimit: 200 } },
    ],
    [
      'a ceiling leaves its part to a sidecar that hardly works',
      podOf([[800], [100]]),
      target(600, 660),
      usage(1600, 5),
      [],
      { c0: { cpuRequest: 590, cpuLimit: 610 }, c1: { cpuRequest: 10, cpuLimit: 50 } },
    ],
    [
      'as far as there is something beyond requests',
      podOf([[90], [10]]),
      target(100, 110),
      usage(900, 5),
      [],
      { c0: { cpuLimit: 90 }, c1: { cpuLimit: 20 } },
    ],
    [
      'Guaranteed: both the same',
      podOf([[200, 200]], 'Guaranteed'),
      target(300, 300),
      usage(),
      [],
      { c0: { cpuRequest: 300, cpuLimit: 300 } },
    ],
    [
      'lifted: no limit goes down',
      podOf([
        [200, 220],
        [200, 900],
      ]),
      target(400, 1800, 'Lift'),
      usage(300, 1),
      [],
      { c0: { cpuLimit: 900 } },
    ],
    [
      'within the limits of the namespace',
      podOf([
        [200, 300],
        [200, 300],
      ]),
      target(700, 1400),
      usage(900, 1),
      [range],
      { c0: { cpuRequest: 500, cpuLimit: 500 }, c1: { cpuLimit: 400 } },
    ],
    [
      'a container without a request gets none, however much it uses: it could not be taken away again',
      podOf([[200], [undefined]]),
      target(400),
      usage(100, 500),
      [],
      { c0: { cpuRequest: 400 } },
    ],
    [
      'under a ceiling it gets the least, or its limit would become its request',
      podOf([[200], [undefined]]),
      target(200, 220),
      usage(100, 100),
      [],
      { c0: { cpuRequest: 190, cpuLimit: 190 }, c1: { cpuRequest: 10, cpuLimit: 30 } },
    ],
    [
      'allocation bug 3: limits of containers are tens, too: 333m and 667m (k/k#117782)',
      podOf([[200], [200]]),
      target(400, 1000),
      usage(333, 667),
      [],
      { c0: { cpuLimit: 330 }, c1: { cpuLimit: 670 } },
    ],
    [
      'but what the user set otherwise stays as it was',
      podOf([[200, 700]]),
      target(400, 417),
      usage(),
      [],
      { c0: { cpuRequest: 400, cpuLimit: 417 } },
    ],
    [
      'allocation bug 3: Guaranteed: tens, too',
      podOf(
        [
          [100, 100],
          [100, 100],
        ],
        'Guaranteed',
      ),
      target(310, 310),
      usage(100, 200),
      [],
      { c1: { cpuRequest: 210, cpuLimit: 210 } },
    ],
    [
      'integration 4: beside a limit that stays the request keeps the ratio',
      podOf([[400, 600]]),
      target(100),
      usage(50),
      [range],
      { c0: { cpuRequest: 300 } },
    ],
    [
      'integration 4: a ceiling is lifted as far as the LimitRange of the pod allows',
      podOf([[200, 220]]),
      target(200, 1800, 'Lift'),
      usage(),
      [ofPod({ max: { cpu: 700 } })],
      { c0: { cpuLimit: 700 } },
    ],
    [
      'integration 4: nor above the ratio of the pod, however its containers differ',
      podOf([[200], [200]]),
      target(400, 1800),
      usage(300, 100),
      [ofPod({ maxLimitRequestRatio: { cpu: 1.5 } })],
      { c0: { cpuLimit: 400 }, c1: { cpuLimit: 200 } },
    ],
    [
      'integration 4: nor where a limit was lifted and the request beside it falls',
      podOf([[900, 1800]]),
      target(787, 1800, 'Lift'),
      usage(50),
      [{ ...range, min: {}, max: {} }],
      { c0: { cpuRequest: 787, cpuLimit: 1574 } },
    ],
    [
      'integration 4: by the ratio of the pod as well',
      podOf([[900, 1800]]),
      target(787, 1800, 'Lift'),
      usage(50),
      [ofPod({ maxLimitRequestRatio: { cpu: 2 } })],
      { c0: { cpuRequest: 787, cpuLimit: 1574 } },
    ],
    [
      'integration 4: nor does a request fall below it where limits stay',
      podOf([
        [300, 600],
        [300, 600],
      ]),
      target(300),
      usage(100, 100),
      [ofPod({ maxLimitRequestRatio: { cpu: 3 } })],
      { c0: { cpuRequest: 200 }, c1: { cpuRequest: 200 } },
    ],
  ])('%s', (_name, pod, wanted, measured, ranges, changes) => {
    expect(
      Object.fromEntries(sizeContainers(pod, wanted, measured, ranges).map(({ container, to }) => [container, to])),
    ).toEqual(changes);
  });

  test('mbcas bug 6: for any pod the parts are the whole, no limit is below its request, and doing it again changes nothing', () => {
    const amount = fc.integer({ min: 10, max: 900 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(amount, amount), { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 50, max: 3000 }),
        fc.integer({ min: 1, max: 900 }),
        (rows, request, more) => {
          const pod = podOf(rows.map(([each]) => [each]));
          const measured = usage(...rows.map(([, used]) => used));
          const wanted = target(request, request + more);
          const apply = (subject: AllocationPod): AllocationPod => {
            const changes = new Map(
              sizeContainers(subject, wanted, measured, []).map(({ container, to }) => [container, to]),
            );
            return {
              ...subject,
              containers: subject.containers.map((each) => ({
                ...each,
                size: { ...each.size, ...changes.get(each.name) },
              })),
            };
          };
          const after = apply(pod);
          const sum = (key: 'cpuRequest' | 'cpuLimit'): number =>
            after.containers.reduce((all, { size }) => all + (size[key] ?? 0), 0);
          expect(sum('cpuRequest')).toBe(request);
          const limit = request + more;
          const tens = after.containers.reduce((all, { size }) => all + 10 * Math.ceil((size.cpuRequest ?? 0) / 10), 0);
          expect(sum('cpuLimit')).toBe(limit % 10 === 0 ? Math.max(limit, tens) : limit);
          for (const { size } of after.containers)
            expect(size.cpuLimit ?? 0).toBeGreaterThanOrEqual(size.cpuRequest ?? 0);
          expect(apply(after)).toEqual(after);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('limits that users set on some containers', () => {
  const partly = podOf([[100, 500], [100]]);
  const originals = { 'mbcas.io/original-resources': '{"c0":{"limits":{"cpu":"500m"}},"c1":{}}' };
  const limited = {
    ...podOf([
      [400, 500],
      [100, 490],
    ]),
    marks: originals,
  };
  const changes = (pod: AllocationPod, wanted: PodTarget): object =>
    Object.fromEntries(
      sizeContainers(pod, wanted, usage(900, 100), [], userLimitsOf(pod, { apply: 'requests+ceilings' })).map(
        ({ container, to }) => [container, to],
      ),
    );

  test('are not raised by a ceiling of the pod, nor by lifting it', () => {
    expect(changes(partly, target(900, 990))).toEqual({
      c0: { cpuRequest: 500 },
      c1: { cpuRequest: 400, cpuLimit: 490 },
    });
    expect(changes(limited, target(500, 1800, 'Lift'))).toEqual({ c1: { cpuLimit: 1300 } });
  });

  test('nor to a multiple of ten', () => {
    expect(changes(podOf([[400], [125, 125]]), target(525, 660))).toEqual({ c0: { cpuLimit: 530 } });
  });
});
