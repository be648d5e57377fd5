import { describe, expect, test } from 'vitest';
import { applyScalingRules, type ScalingHistory, type ScalingInput } from './scaling-rules.ts';

const NOW = Date.UTC(2026, 5, 1, 12);
const SECOND = 1000;

const decide = (input: Partial<ScalingInput>, history: Partial<ScalingHistory> = {}) =>
  applyScalingRules(
    { current: 4, wanted: 4, least: 1, most: 100, behavior: undefined, now: NOW, ...input },
    { recommendations: [], changes: [], ...history },
  );
const wished = (replicas: number, secondsAgo: number) => [{ at: NOW - secondsAgo * SECOND, replicas }];

describe('without a behavior', () => {
  test.each<[string, Partial<ScalingInput>, number, string | undefined]>([
    ['nothing to do', {}, 4, undefined],
    ['up', { wanted: 7 }, 7, undefined],
    ['up to twice as many at once', { current: 10, wanted: 40 }, 20, 'ScaleUpLimit'],
    ['up to four at least', { current: 1, wanted: 40 }, 4, 'ScaleUpLimit'],
    ['up to twice as many, where three are', { current: 3, wanted: 40 }, 6, 'ScaleUpLimit'],
    ['no further than the most', { wanted: 7, most: 6 }, 6, 'TooManyReplicas'],
    ['down', { wanted: 2 }, 2, undefined],
    ['no further than the least', { wanted: 0, least: 2 }, 2, 'TooFewReplicas'],
    ['back into the bounds', { current: 9, wanted: 9, most: 6 }, 6, 'TooManyReplicas'],
    ['up into the bounds', { current: 1, wanted: 1, least: 3 }, 3, 'TooFewReplicas'],
  ])('%s', (_, input, replicas, limit) => {
    expect(decide(input)).toMatchObject({ replicas, limit });
  });

  test('replicas go down only when nothing more was wanted for five minutes', () => {
    expect(decide({ wanted: 1 }, { recommendations: wished(3, 299) })).toEqual({
      replicas: 3,
      stabilized: 'down',
      limit: undefined,
    });
    expect(decide({ wanted: 1 }, { recommendations: wished(9, 299) })).toMatchObject({
      replicas: 4,
      stabilized: 'down',
    });
    expect(decide({ wanted: 1 }, { recommendations: wished(3, 300) })).toMatchObject({ replicas: 1 });
  });

  test('pods just added count in no rate', () => {
    const changes = [{ at: NOW - 10 * SECOND, by: 5 }];
    expect(decide({ current: 10, wanted: 40 }, { changes })).toMatchObject({ replicas: 20, limit: 'ScaleUpLimit' });
  });
});

describe('with a behavior', () => {
  const behavior = {};

  test('replicas go up by four at least, or to twice as many', () => {
    expect(decide({ current: 1, wanted: 40, behavior })).toMatchObject({ replicas: 5, limit: 'ScaleUpLimit' });
    expect(decide({ current: 10, wanted: 40, behavior })).toMatchObject({ replicas: 20, limit: 'ScaleUpLimit' });
  });

  test('pods just added count in the rate', () => {
    const changes = [{ at: NOW - 10 * SECOND, by: 5 }];
    expect(decide({ current: 10, wanted: 40, behavior }, { changes })).toMatchObject({
      replicas: 10,
      limit: 'ScaleUpLimit',
    });
    const earlier = [{ at: NOW - 15 * SECOND, by: 5 }];
    expect(decide({ current: 10, wanted: 40, behavior }, { changes: earlier })).toMatchObject({ replicas: 20 });
  });

  test('the window up waits for wishes to agree', () => {
    const behavior = { scaleUp: { stabilizationWindowSeconds: 60 } };
    expect(decide({ wanted: 8, behavior }, { recommendations: wished(5, 30) })).toMatchObject({
      replicas: 5,
      stabilized: 'up',
    });
    expect(decide({ wanted: 8, behavior }, { recommendations: wished(5, 61) })).toMatchObject({ replicas: 8 });
  });

  test.each([
    ['Max', 2],
    ['Min', 3],
    ['Disabled', 4],
  ])('policies down are chosen by %s', (selectPolicy, replicas) => {
    const policies = [
      { type: 'Pods', value: 1, periodSeconds: 60 },
      { type: 'Percent', value: 50, periodSeconds: 60 },
    ];
    const behavior = { scaleDown: { stabilizationWindowSeconds: 0, selectPolicy, policies } };
    expect(decide({ wanted: 1, behavior })).toMatchObject({ replicas, limit: 'ScaleDownLimit' });
  });

  test('nothing goes up where that is disabled', () => {
    const behavior = { scaleUp: { selectPolicy: 'Disabled' } };
    expect(decide({ wanted: 8, behavior })).toMatchObject({ replicas: 4, limit: 'ScaleUpLimit' });
  });

  test('pods just taken away count in the rate', () => {
    const policies = [{ type: 'Pods', value: 2, periodSeconds: 60 }];
    const behavior = { scaleDown: { stabilizationWindowSeconds: 0, policies } };
    const changes = [{ at: NOW - 30 * SECOND, by: -1 }];
    expect(decide({ wanted: 1, behavior }, { changes })).toMatchObject({ replicas: 3 });
  });
});
