import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  allowedRange,
  amountText,
  limitRangeProblem,
  quotaGrowth,
  quotaProblem,
  withLimitDefaults,
} from './size-bounds.ts';
import type { ContainerSize, ContainerSpecRecord } from './sizing-records.ts';
import { aContainer, aContainerStatus, aLimitRange, aQuota, MIB, smallSize } from './testing/sizing-records.ts';

const app = aContainer();
const none = { cpuRequest: 0, cpuLimit: 0, memoryRequest: 0, memoryLimit: 0 };

describe('LimitRange', () => {
  test.each<[string, Parameters<typeof aLimitRange>[0], string | undefined]>([
    ['within', { min: { cpu: 100 }, max: { cpu: 400, memory: 256 * MIB } }, undefined],
    ['request below min', { min: { cpu: 250 } }, 'the cpu request of container app would be 200m, of at least 250m'],
    [
      'limit above max',
      { max: { memory: 255 * MIB } },
      'the memory limit of container app would be 256Mi, of at most 255Mi',
    ],
    ['limit below ratio', { maxLimitRequestRatio: { cpu: 2 } }, undefined],
    [
      'ratio',
      { maxLimitRequestRatio: { cpu: 1.5 } },
      'the cpu limit of container app would be 2.00 times its request, of at most 1.5',
    ],
    ['of the pod', { type: 'Pod', max: { cpu: 399 } }, 'the cpu limit of the pod would be 400m, of at most 399m'],
  ])('%s', (_, changes, detail) => {
    expect(limitRangeProblem([aLimitRange(changes)], [app])).toEqual(detail && { name: 'bounds', detail });
  });

  test.each<[string, Parameters<typeof aLimitRange>[0], string, ContainerSize?]>([
    ['no request', { min: { cpu: 1 } }, 'container bare has no cpu request, of at least 1m'],
    ['no limit', { max: { memory: 300 * MIB } }, 'container bare has no memory limit, of at most 300Mi'],
    [
      'no request for a ratio',
      { maxLimitRequestRatio: { memory: 2 } },
      'container bare has no memory request, which a ratio needs',
    ],
    [
      'no limit for a ratio',
      { maxLimitRequestRatio: { cpu: 3 } },
      'container bare has no cpu limit, which a ratio needs',
      { cpuRequest: 100 },
    ],
  ])('a container without: %s', (_, changes, detail, size = {}) => {
    const bare = aContainer({ name: 'bare', size });
    expect(limitRangeProblem([aLimitRange(changes)], [app, bare])?.detail).toBe(detail);
  });

  test.each<[string, ContainerSize, Parameters<typeof aLimitRange>[0], string | undefined]>([
    ['a limit that is not set is not below the least', { cpuRequest: 300 }, { min: { cpu: 250 } }, undefined],
    ['a limit of just the least', { cpuRequest: 250, cpuLimit: 250 }, { min: { cpu: 250 } }, undefined],
    [
      'a request above the most, beside a lower limit',
      { cpuRequest: 500, cpuLimit: 200 },
      { max: { cpu: 400 } },
      '500m',
    ],
  ])('%s', (_name, size, range, amount) => {
    const detail = limitRangeProblem([aLimitRange(range)], [aContainer({ size })])?.detail;
    if (amount === undefined) expect(detail).toBeUndefined();
    else expect(detail).toContain(`would be ${amount}`);
  });

  test('a limit below the least', () => {
    const odd = aContainer({ size: { cpuRequest: 300, cpuLimit: 200 } });
    expect(limitRangeProblem([aLimitRange({ min: { cpu: 250 } })], [odd])?.detail).toContain(
      'cpu limit of container app would be 200m',
    );
  });

  test('pods are summed over containers', () => {
    const range = aLimitRange({ type: 'Pod', max: { cpu: 700 } });
    expect(limitRangeProblem([range], [app])).toBeUndefined();
    expect(limitRangeProblem([range], [app, aContainer({ name: 'log' })])?.detail).toContain('800m');
  });

  test.each<[string, Parameters<typeof aLimitRange>[0], string | undefined]>([
    ['a limit that one has counts', { max: { cpu: 400 } }, undefined],
    ['and is too much', { max: { cpu: 399 } }, 'the cpu limit of the pod would be 400m, of at most 399m'],
    ['a request that one has counts', { min: { cpu: 200 } }, undefined],
  ])('of containers of which one has no sizes: %s', (_, changes, detail) => {
    const bare = aContainer({ name: 'bare', size: {} });
    expect(limitRangeProblem([aLimitRange({ type: 'Pod', ...changes })], [app, bare])?.detail).toBe(detail);
  });

  test('a pod without any limit has none, where one is demanded', () => {
    const bare = aContainer({ size: {} });
    expect(limitRangeProblem([aLimitRange({ type: 'Pod', max: { cpu: 9000 } })], [bare])?.detail).toBe(
      'the pod has no cpu limit, of at most 9',
    );
  });

  test('of several LimitRanges each must be met; those of the other type say nothing', () => {
    const ranges = [
      aLimitRange({ min: { cpu: 50 }, max: { cpu: 4000 }, maxLimitRequestRatio: { cpu: 10 } }),
      aLimitRange({ min: { cpu: 100 }, max: { cpu: 2000 } }),
      aLimitRange({ type: 'Pod', min: { cpu: 500 }, max: { memory: 9 } }),
    ];
    expect(allowedRange(ranges, 'Container', 'cpu')).toEqual({ min: 100, max: 2000, maxRatio: 10 });
    expect(allowedRange(ranges, 'Pod', 'memory')).toEqual({ min: 0, max: 9, maxRatio: Number.POSITIVE_INFINITY });
  });
});

describe('what a LimitRange gives to a new container', () => {
  const given = { defaultRequest: { cpu: 100, memory: MIB }, defaultLimit: { cpu: 500 } };

  test.each([
    ['all it lacks', {}, { cpuRequest: 100, cpuLimit: 500, memoryRequest: MIB }],
    [
      'nothing it has',
      { cpuRequest: 7, cpuLimit: 8, memoryRequest: 9 },
      { cpuRequest: 7, cpuLimit: 8, memoryRequest: 9 },
    ],
    [
      'no request beside a limit of its own, which is the request',
      { cpuLimit: 300, memoryLimit: 5 },
      { cpuRequest: 300, cpuLimit: 300, memoryRequest: 5, memoryLimit: 5 },
    ],
  ])('%s', (_, size, expected) => {
    const ranges = [aLimitRange(given), aLimitRange({ defaultLimit: { cpu: 900 } })];
    expect(withLimitDefaults(ranges, [aContainer({ size })])[0]?.size).toEqual(expected);
  });

  test('of the pod there are no defaults', () => {
    const bare = aContainer({ size: {} });
    expect(withLimitDefaults([aLimitRange({ ...given, type: 'Pod' })], [bare])[0]?.size).toEqual({});
  });
});

describe('ResourceQuota', () => {
  const pod = { qos: 'Burstable', priorityClassName: 'high' } as const;
  const quota = aQuota({ hard: { cpuRequest: 1000 }, used: { cpuRequest: 900 } });

  test.each([
    [100, 0, undefined],
    [101, 0, { name: 'compute', resource: 'requests.cpu', asked: '101m', free: '100m' }],
    [50, 60, { name: 'compute', resource: 'requests.cpu', asked: '50m', free: '40m' }],
    [0, 500, undefined],
  ])('%dm more beside %dm under way', (more, underWay, expected) => {
    expect(quotaProblem([quota], pod, { ...none, cpuRequest: more }, { ...none, cpuRequest: underWay })).toEqual(
      expected,
    );
  });

  test('what is not bounded is free', () => {
    expect(quotaProblem([quota], pod, { ...none, memoryLimit: 1e12 }, none)).toBeUndefined();
  });

  test.each([
    [undefined, true],
    [['NotBestEffort'], true],
    [['BestEffort'], false],
    [['Terminating'], false],
    [['NotTerminating Exists'], true],
    [['PriorityClass In high,low'], true],
    [['PriorityClass In low'], false],
    [['PriorityClass NotIn low'], true],
    [['PriorityClass NotIn high'], false],
    [['PriorityClass Exists'], true],
    [['PriorityClass DoesNotExist'], false],
    [['PriorityClass Odd'], true],
    [['NotBestEffort', 'PriorityClass In low'], false],
  ])('a quota for %j counts the pod: %s', (scopes, counts) => {
    const found = quotaProblem([{ ...quota, scopes }], pod, { ...none, cpuRequest: 500 }, none);
    expect(found !== undefined).toBe(counts);
  });

  test('a best-effort pod counts where only such do', () => {
    const scoped = { ...quota, scopes: ['BestEffort'] };
    const bestEffort = { qos: 'BestEffort', priorityClassName: '' } as const;
    expect(quotaProblem([scoped], bestEffort, { ...none, cpuRequest: 500 }, none)).toBeDefined();
    expect(
      quotaProblem([{ ...quota, scopes: ['NotBestEffort'] }], bestEffort, { ...none, cpuRequest: 500 }, none),
    ).toBeUndefined();
  });

  const of = (name: string, cpuRequest: number): ContainerSpecRecord => aContainer({ name, size: { cpuRequest } });
  const pair = (left: number, right: number) => [of('left', left), of('right', right)];
  const holding = (left: number, right: number) => pair(left, right).map((each) => aContainerStatus(each));
  const cpuGrowth = (...growth: Parameters<typeof quotaGrowth>) => quotaGrowth(...growth).cpuRequest;

  test('what the pod was granted or has is counted already, of requests and limits', () => {
    const status = aContainerStatus(app, {
      allocated: { cpuRequest: 250 },
      actual: { ...smallSize, memoryLimit: 512 * MIB },
    });
    const size = { cpuRequest: 300, cpuLimit: 500, memoryRequest: 100 * MIB, memoryLimit: 600 * MIB };
    expect(quotaGrowth([app], [{ ...app, size }], [status])).toEqual({
      cpuRequest: 50,
      cpuLimit: 100,
      memoryRequest: 0,
      memoryLimit: 88 * MIB,
    });
    expect(quotaGrowth([app], [{ ...app, size }], [])).toMatchObject({ cpuRequest: 100, memoryLimit: 344 * MIB });
  });

  test.each<[string, ContainerSpecRecord[], ContainerSpecRecord[], number]>([
    // Up to 1.36: 500 + 100, then 500 + 300. From 1.37 on: 600 of both.
    ['one gives back, another takes on: each by itself', pair(200, 100), pair(200, 300), 200],
    // Up to 1.36: 500 + 300 of both. From 1.37 on: 600, then 800.
    ['both take on what one was about to give back: all together', pair(200, 300), pair(500, 300), 200],
    ['nothing but decreases', pair(500, 100), pair(200, 50), 0],
  ])('of two containers, %s', (_, before, after, more) => {
    expect(cpuGrowth(before, after, holding(500, 100))).toBe(more);
  });

  test('for any sizes, a change grows by no less than either rule of the API server says, and not below nothing', () => {
    const amount = fc.integer({ min: 0, max: 1000 });
    const two = fc.tuple(amount, amount);
    fc.assert(
      fc.property(two, two, two, (before, after, held) => {
        const byContainers = ([left, right]: [number, number]) => Math.max(left, held[0]) + Math.max(right, held[1]);
        const bySums = ([left, right]: [number, number]) => Math.max(left + right, held[0] + held[1]);
        expect(cpuGrowth(pair(...before), pair(...after), holding(...held))).toBe(
          Math.max(0, byContainers(after) - byContainers(before), bySums(after) - bySums(before)),
        );
      }),
    );
  });
});

test('amounts are written as Kubernetes writes them', () => {
  expect([amountText('cpu', 1500), amountText('cpu', 2000), amountText('memory', 1536 * MIB)]).toEqual([
    '1500m',
    '2',
    '1536Mi',
  ]);
});
