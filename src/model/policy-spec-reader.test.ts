import { describe, expect, test } from 'vitest';
import { activeKinds } from './policy-spec-reader.ts';
import { validPolicy } from './testing/policies.ts';

const HOUR = 3_600_000;
const read = (spec: object = {}) => validPolicy({ spec }).spec;
const metrics = (more: object) => read({ metricsConfig: { provider: 'prometheus', ...more } }).metrics;
const updates = (more: object) => read({ updateStrategy: more }).updates;

describe('defaults', () => {
  test('are those OptiPod ships, and those of the fields it has not', () => {
    expect(read()).toMatchObject({
      mode: 'Auto',
      weight: 100,
      scope: undefined,
      intervalMillis: HOUR / 12,
      hpa: 'Skip',
      annotateRecommendations: false,
      metrics: {
        provider: 'prometheus',
        rollingWindowMillis: 24 * HOUR,
        strategy: 'Percentile',
        percentile: { cpu: 90, memory: 90 },
        safetyFactor: { cpu: 1.2, memory: 1.2 },
        startupExclusionMillis: 120_000,
        halfLifeMillis: 24 * HOUR,
        customSource: undefined,
      },
      updates: {
        allowInPlaceResize: true,
        allowRecreate: false,
        updateRequestsOnly: true,
        useServerSideApply: true,
        memoryDecrease: 'WhenSafe',
        evictToResize: false,
        window: undefined,
        limits: { policy: undefined, multiplier: { cpu: 1, memory: 1.1 } },
      },
    });
  });

  test('zero durations of typed Go clients are defaults; where no time makes sense they are no time', () => {
    expect(metrics({ rollingWindow: '0s' }).rollingWindowMillis).toBe(24 * HOUR);
    expect(read({ reconciliationInterval: '0' }).intervalMillis).toBe(HOUR / 12);
    expect(metrics({ minHistory: '0s', startupExclusion: '0s' })).toMatchObject({
      minHistoryMillis: 0,
      startupExclusionMillis: 0,
    });
    expect(updates({ cooldown: '0s' }).cooldownMillis).toBe(0);
  });

  test('a false that OptiPod’s own client cannot send is a false', () => {
    expect(updates({ allowInPlaceResize: false, updateRequestsOnly: false, useServerSideApply: false })).toMatchObject({
      allowInPlaceResize: false,
      updateRequestsOnly: false,
      useServerSideApply: false,
    });
  });
});

describe('metrics', () => {
  test('no window is longer than 90 days, whatever is asked for', () => {
    const windowOf = (rollingWindow: string) => {
      const { rollingWindowMillis, isWindowCut } = metrics({ rollingWindow });
      return [rollingWindowMillis / HOUR, isWindowCut];
    };
    expect(windowOf('2w')).toEqual([14 * 24, undefined]);
    expect(windowOf('90d')).toEqual([90 * 24, undefined]);
    expect(windowOf('2000000h')).toEqual([90 * 24, true]);
  });

  test('what is said of a resource goes before what is said of both', () => {
    const both = { percentile: 'P50', safetyFactor: 1.5 };
    expect(metrics(both)).toMatchObject({
      percentile: { cpu: 50, memory: 50 },
      safetyFactor: { cpu: 1.5, memory: 1.5 },
    });
    const apart = metrics({ ...both, percentiles: { cpu: 'P99' }, safetyFactors: { memory: 2 } });
    expect(apart.percentile).toEqual({ cpu: 99, memory: 50 });
    expect(apart.safetyFactor).toEqual({ cpu: 1.5, memory: 2 });
    const other = metrics({ ...both, percentiles: { memory: 'P95' }, safetyFactors: { cpu: 3 } });
    expect(other.percentile).toEqual({ cpu: 50, memory: 95 });
    expect(other.safetyFactor).toEqual({ cpu: 3, memory: 1.5 });
    expect(metrics({ minSamples: 17 }).minSamples).toBe(17);
  });

  test.each<[string, object | undefined, object]>([
    ['nothing said', undefined, { exceededHours: 28, minGainUp: 0.3, minGainDown: 0.33 }],
    ['work that may wait', { workload: 'Batch' }, { exceededHours: 4, minGainUp: 0.3, minGainDown: 0.33 }],
    [
      'a price of its own',
      { workload: 'Batch', exceededHours: 12, minGain: '10%', minGainDown: '50%' },
      { exceededHours: 12, minGainUp: 0.1, minGainDown: 0.5 },
    ],
  ])('the price of shortage: %s', (_name, costAware, expected) => {
    expect(metrics({ strategy: 'CostAware', costAware }).costAware).toEqual(expected);
  });
});

describe('bounds', () => {
  test.each<[unknown, unknown, number]>([
    ['100m', '4000m', 100],
    [1, '2', 1000],
    ['0.5', '1e1', 500],
    ['1u', '1', 1],
  ])('CPU from %j to %j', (min, max, expected) => {
    const { bounds } = read({ resourceBounds: { cpu: { min, max }, memory: { min: '512M', max: '1Gi' } } });
    expect(bounds.cpu.min).toBe(expected);
    expect(bounds.memory).toEqual({ min: 512_000_000, max: 1024 ** 3 });
  });
});

describe('selectors', () => {
  test('are compiled; what is left out matches all', () => {
    const { selector } = read({
      selector: {
        namespaceSelector: { matchLabels: { team: 'a' } },
        namespaces: { allow: ['x'], deny: ['y'] },
        workloadTypes: { include: ['StatefulSet'] },
      },
    });
    expect([...selector.kinds]).toEqual(['StatefulSet']);
    expect(selector.matchesNamespace?.({ team: 'a' })).toBe(true);
    expect(selector.matchesNamespace?.({})).toBe(false);
    expect(selector.matchesWorkload).toBeUndefined();
    expect([[...selector.allow], [...selector.deny]]).toEqual([['x'], ['y']]);
  });

  test('of workloads are asked of their own labels', () => {
    const { selector } = read({ selector: { workloadSelector: { matchLabels: { app: 'web' } } } });
    expect([selector.matchesWorkload?.({ app: 'web' }), selector.matchesWorkload?.({ app: 'db' })]).toEqual([
      true,
      false,
    ]);
    expect(selector.matchesNamespace).toBeUndefined();
  });

  test.each<[Parameters<typeof activeKinds>[0], Parameters<typeof activeKinds>[1], readonly string[]]>([
    [undefined, undefined, ['Deployment', 'StatefulSet', 'DaemonSet']],
    [[], [], ['Deployment', 'StatefulSet', 'DaemonSet']],
    [['StatefulSet'], undefined, ['StatefulSet']],
    [undefined, ['StatefulSet'], ['Deployment', 'DaemonSet']],
    [['Deployment', 'DaemonSet'], ['Deployment'], ['DaemonSet']],
    [['Deployment'], ['Deployment'], []],
    [undefined, ['Deployment', 'StatefulSet', 'DaemonSet'], []],
    [['CronJob', 'Rollout'], undefined, ['CronJob', 'Rollout']],
    [['Deployment', 'Deployment'], ['Job'], ['Deployment']],
  ])('kinds: %j without %j', (include, exclude, expected) => {
    expect([...activeKinds(include, exclude)]).toEqual(expected);
  });
});

test('access to Prometheus', () => {
  const { prometheus, customSource } = metrics({
    prometheus: {
      url: 'https://metrics.example:9090/base',
      headersSecretRef: { name: 'tenant' },
      bearerTokenSecretRef: { name: 'token', key: 'value' },
      caSecretRef: { name: 'ca', key: 'ca.crt' },
      labels: { cluster: 'eu-1' },
    },
    custom: { name: 'own' },
  });
  expect(prometheus).toEqual({
    url: 'https://metrics.example:9090/base',
    headersSecret: 'tenant',
    bearerTokenSecret: { name: 'token', key: 'value' },
    caSecret: { name: 'ca', key: 'ca.crt' },
    labels: { cluster: 'eu-1' },
  });
  expect(customSource).toBe('own');
  expect(metrics({}).prometheus).toEqual({
    url: undefined,
    headersSecret: undefined,
    bearerTokenSecret: undefined,
    caSecret: undefined,
    labels: {},
  });
});

describe('updates', () => {
  test('steps and smallest change are shares', () => {
    expect(updates({ minChange: '5%', maxStep: { up: '100%', down: '25%' } })).toMatchObject({
      minChange: 0.05,
      maxStepUp: 1,
      maxStepDown: 0.25,
    });
    expect(updates({ maxStep: {} })).toMatchObject({ maxStepUp: undefined, maxStepDown: 0.5 });
  });

  test('limits', () => {
    const { limits } = updates({
      limitConfig: { policy: 'Headroom', cpuLimitMultiplier: 2, headroom: { cpu: '250m', memory: '64Mi' } },
    });
    expect(limits).toEqual({
      policy: 'Headroom',
      multiplier: { cpu: 2, memory: 1.1 },
      headroom: { cpu: 250, memory: 64 * 1024 * 1024 },
    });
  });

  test('windows are open when any of them is', () => {
    const { window } = updates({
      schedule: [
        { cron: '0 2 * * *', duration: '2h' },
        { cron: 'CRON_TZ=Europe/Berlin 0 12 * * 6', duration: '30m' },
      ],
    });
    const isOpen = (hour: number, minute = 0) => window?.isOpen(Date.UTC(2026, 0, 31, hour, minute));
    expect([isOpen(1), isOpen(2), isOpen(3, 59), isOpen(4), isOpen(11), isOpen(11, 30)]).toEqual([
      false,
      true,
      true,
      false,
      true,
      false,
    ]);
  });
});
