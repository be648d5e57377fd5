import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { spoiled } from '../lib/testing/spoiled.ts';
import { checkPolicySpec } from './optimization-policy-check.ts';
import { least, metrics, problemsOf } from './testing/policy-spec.ts';

const { cpu, memory } = least.resourceBounds;

describe('what OptiPod pins about validation', () => {
  test('a whole policy is valid', () => {
    expect(problemsOf({ weight: 200, reconciliationInterval: '5m', ...metrics({ safetyFactor: 10 }) })).toEqual([]);
  });

  test.each<[string, object, readonly string[]]>([
    ['CPU min above max', { resourceBounds: { cpu: { min: '4000m', max: '100m' }, memory } }, ['CPU min', 'max']],
    ['memory min above max', { resourceBounds: { cpu, memory: { min: '8Gi', max: '128Mi' } } }, ['memory min', 'max']],
    ['min of 0m', { resourceBounds: { cpu: { min: '0m', max: '1' }, memory } }, ['greater than zero']],
    ['max of 0', { resourceBounds: { cpu, memory: { min: '1Mi', max: 0 } } }, ['greater than zero']],
    ['a negative bound', { resourceBounds: { cpu: { min: '-1', max: '1' }, memory } }, ['greater than zero']],
    ['factor 0.5', metrics({ safetyFactor: 0.5 }), ['safety factor']],
    ['factor 0.99', metrics({ safetyFactor: 0.99 }), ['safety factor']],
    ['no selector', { selector: {} }, ['selector']],
    ['kinds are no selector', { selector: { workloadTypes: { include: ['Deployment'] } } }, ['selector']],
    ['a wrong kind', { selector: { namespaces: {}, workloadTypes: { include: ['Pod'] } } }, ['"Pod"', 'include[0]']],
    [
      'a kind in lower case',
      { selector: { namespaces: {}, workloadTypes: { exclude: ['deployment'] } } },
      ['exclude[0]'],
    ],
    ['another mode', { mode: 'Observe' }, ['"Observe"', 'Auto, Recommend, Disabled']],
    ['no mode', { mode: undefined }, ['spec.mode: is missing', 'Auto, Recommend, Disabled']],
    ['an empty mode', { mode: '' }, ['spec.mode']],
    ['weight 0', { weight: 0 }, ['spec.weight', 'at least 1']],
    ['weight 1001', { weight: 1001 }, ['spec.weight', 'at most 1000']],
    [
      'no provider',
      { metricsConfig: {} },
      ['metricsConfig.provider: is missing', 'prometheus, metrics-server, custom'],
    ],
  ])('%s is refused, in the first problem', (_, change, texts) => {
    const [first] = problemsOf(change);
    for (const text of texts) expect(first).toContain(text);
  });

  test.each<[string, object]>([
    ['empty but present selectors', { selector: { namespaceSelector: {} } }],
    [
      'all kinds excluded',
      { selector: { namespaces: {}, workloadTypes: { exclude: ['Deployment', 'StatefulSet', 'DaemonSet'] } } },
    ],
    ['include equals exclude', { selector: { namespaces: {}, workloadTypes: { include: ['Job'], exclude: ['Job'] } } }],
    ['the narrowest bounds', { resourceBounds: { cpu: { min: '1m', max: '1m' }, memory: { min: 1, max: 1 } } }],
    [
      'the widest bounds',
      { resourceBounds: { cpu: { min: '1m', max: '1000000m' }, memory: { min: '1Mi', max: '1000Gi' } } },
    ],
    ['P95', metrics({ percentile: 'P95' })],
    ['7d', metrics({ rollingWindow: '7d' })],
    [
      'what a typed Go client sends for unset durations',
      { ...metrics({ rollingWindow: '0s' }), reconciliationInterval: '0s' },
    ],
    ['fields of a later version', { later: { field: 1 } }],
  ])('%s is valid', (_, change) => {
    expect(problemsOf(change)).toEqual([]);
  });

  test('all 64 combinations of the three kinds are valid', () => {
    const subsets = (['Deployment', 'StatefulSet', 'DaemonSet'] as const).reduce<string[][]>(
      (sets, kind) => sets.flatMap((set) => [set, [...set, kind]]),
      [[]],
    );
    const combinations = subsets.flatMap((include) => subsets.map((exclude) => ({ include, exclude })));
    expect(combinations).toHaveLength(64);
    for (const workloadTypes of combinations)
      expect(problemsOf({ selector: { namespaces: {}, workloadTypes } })).toEqual([]);
  });

  test('the order is that of OptiPod, whatever the order of the fields', () => {
    const problems = problemsOf({
      weight: 0,
      ...metrics({ safetyFactor: 0.1, provider: 'x', minSamples: 0 }),
      resourceBounds: { memory: { min: '2Gi', max: '1Gi' }, cpu: { min: '2', max: '1' } },
      selector: {},
      mode: 'x',
    });
    const paths = problems.map((problem) => problem.slice(0, problem.indexOf(':')));
    expect(paths).toEqual([
      'spec.mode',
      'spec.selector',
      'spec.metricsConfig.provider',
      'spec.resourceBounds.cpu',
      'spec.resourceBounds.memory',
      'spec.metricsConfig.safetyFactor',
      'spec.weight',
      'spec.metricsConfig.minSamples',
    ]);
  });
});

describe('problems', () => {
  test.each<[object, string]>([
    [
      { selector: { namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'Like' }] } } },
      'spec.selector.namespaceSelector: operator "Like" of "a" is none of In, NotIn, Exists, DoesNotExist',
    ],
    [
      { selector: { workloadSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } } },
      'spec.selector.workloadSelector: operator In of "a" needs at least one value',
    ],
    [
      { selector: { workloadSelector: { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x'] }] } } },
      'spec.selector.workloadSelector: operator Exists of "a" takes no values',
    ],
    [
      { selector: { workloadSelector: { matchLabels: { '': 'x' } } } },
      'spec.selector.workloadSelector: "" is not a label key',
    ],
    [
      { resourceBounds: { cpu: { min: 'lots', max: '1' }, memory } },
      'spec.resourceBounds.cpu.min: "lots" is not a quantity; accepted: a quantity such as 500m, 2, 512Mi or 8Gi',
    ],
    [
      { resourceBounds: { cpu: { max: '1' }, memory } },
      'spec.resourceBounds.cpu.min: is missing; accepted: a quantity such as 500m, 2, 512Mi or 8Gi',
    ],
    [
      metrics({ rollingWindow: 24 }),
      'spec.metricsConfig.rollingWindow: 24 is not a duration; accepted: a duration such as 30s, 5m, 24h, 1h30m, 7d or 2w (units w, d, h, m, s, ms, us, ns)',
    ],
    [metrics({ rollingWindow: '99999999w' }), 'spec.metricsConfig.rollingWindow: "99999999w" is not a duration'],
    [
      { updateStrategy: { minChange: '10' } },
      'spec.updateStrategy.minChange: "10" is not a share; accepted: a percentage such as 10% or 2.5%',
    ],
    [
      { updateStrategy: { allowRecreate: 'yes' } },
      'spec.updateStrategy.allowRecreate: "yes" is not valid; accepted: true or false',
    ],
    [{ updateStrategy: undefined }, 'spec.updateStrategy: is missing; accepted: an object'],
    [
      { updateStrategy: { limitConfig: { cpuLimitMultiplier: 0.5 } } },
      'spec.updateStrategy.limitConfig.cpuLimitMultiplier: 0.5 is not valid; accepted: at least 1',
    ],
    [
      { updateStrategy: { limitConfig: { memoryLimitMultiplier: 15 } } },
      'memoryLimitMultiplier: 15 is not valid; accepted: at most 10',
    ],
    [
      { updateStrategy: { limitConfig: { policy: 'Headroom' } } },
      'spec.updateStrategy.limitConfig: policy Headroom needs headroom',
    ],
    [
      { updateStrategy: { schedule: [{ cron: 'daily', duration: '4h' }] } },
      'spec.updateStrategy.schedule[0].cron: "daily" is not valid',
    ],
    [
      { updateStrategy: { schedule: [{ cron: '0 2 * * *', duration: '0s' }] } },
      'spec.updateStrategy.schedule[0].duration: "0s" is not valid',
    ],
    [
      { updateStrategy: { schedule: [{ cron: '0 2 * * *;0 4 * * *', duration: '1h' }] } },
      'schedule[0]: is not valid; accepted: one cron schedule',
    ],
    [
      metrics({ prometheus: { url: 'prometheus:9090' } }),
      'spec.metricsConfig.prometheus.url: "prometheus:9090" is not an http or https URL',
    ],
    [
      metrics({ custom: { name: '' } }),
      'spec.metricsConfig.custom.name: "" is not valid; accepted: a text of at least 1 characters',
    ],
    [metrics({ custom: { name: 'x'.repeat(300) } }), 'is not valid; accepted: at most 253 characters'],
    [metrics({ rollingWindow: `${'1'.repeat(80)}h` }), '… is not a duration; accepted: '],
  ])('%j', (change, expected) => {
    expect(problemsOf(change)).toEqual(expect.arrayContaining([expect.stringContaining(expected)]));
  });

  test.each([undefined, null, 3, 'x', []])('a spec that is %j', (spec) => {
    expect(checkPolicySpec(spec)).toEqual({
      ok: false,
      problems: [expect.stringMatching(/^spec: .*accepted: an object$/)],
    });
  });

  test('the highest factor of the organisation holds for every factor', () => {
    const limits = { maxSafetyFactor: 1.5 };
    expect(problemsOf(metrics({ safetyFactor: 1.5 }), limits)).toEqual([]);
    expect(problemsOf(metrics({ safetyFactors: { cpu: 2, memory: 3 } }), limits)).toEqual([
      expect.stringMatching(/^spec\.metricsConfig\.safetyFactors\.cpu: the safety factor 2 is above .* 1 to 1\.5/),
      expect.stringMatching(/^spec\.metricsConfig\.safetyFactors\.memory: the safety factor 3/),
    ]);
  });
});

describe('for any policy', () => {
  // Feature: k8s-workload-rightsizing, Property 15: Policy validation
  test('Property 15: whatever is missing or malformed is refused with a message that names the field and what is accepted', () => {
    const required = ['mode', 'selector', 'metricsConfig', 'resourceBounds', 'updateStrategy'] as const;
    const junk = fc.oneof(fc.constant(undefined), fc.constant(null), fc.integer(), fc.boolean(), fc.constant('junk'));
    fc.assert(
      fc.property(fc.constantFrom(...required), junk, (field, value) => {
        const [first] = problemsOf({ [field]: value });
        expect(first).toMatch(new RegExp(`^spec\\.${field}: .*; accepted: .+$`));
      }),
      { numRuns: 200 },
    );
  });

  test('Property 15: bounds are valid exactly when both are above zero and in order', () => {
    const amount = fc.integer({ min: -2, max: 5000 });
    fc.assert(
      fc.property(amount, amount, fc.boolean(), (min, max, isCpu) => {
        const bounds = isCpu ? { min: `${min}m`, max: `${max}m` } : { min: `${min}Mi`, max: `${max}Mi` };
        const resourceBounds = isCpu ? { cpu: bounds, memory } : { cpu, memory: bounds };
        expect(problemsOf({ resourceBounds }).length === 0).toBe(min > 0 && max > 0 && min <= max);
      }),
      { numRuns: 300 },
    );
  });

  test('Property 15: a factor is valid exactly from 1 on', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 3, noNaN: true }), (safetyFactor) => {
        expect(problemsOf(metrics({ safetyFactor })).length === 0).toBe(safetyFactor >= 1);
      }),
      { numRuns: 200 },
    );
  });

  test('nothing makes the check throw', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(...Object.keys(least)), (value, field) => {
        expect(typeof checkPolicySpec(value).ok).toBe('boolean');
        expect(typeof checkPolicySpec({ ...least, [field]: value }).ok).toBe('boolean');
      }),
      { numRuns: 500 },
    );
  });

  test('a policy with one spoiled place is read, or told what is wrong with it', () => {
    const schedule = [{ start: '0 2 * * *', duration: '4h' }];
    const limits = { updateRequestsOnly: false, limitConfig: { policy: 'Headroom', headroom: { cpu: '100m' } } };
    const whole = { ...least, ...metrics({ percentile: 'P95' }), updateStrategy: { ...limits, schedule } };
    fc.assert(
      fc.property(spoiled(whole), (spec) => {
        const checked = checkPolicySpec(spec);
        if (!checked.ok) for (const problem of checked.problems) expect(problem).toMatch(/^spec.*: .+/);
      }),
      { numRuns: 500 },
    );
  });

  test.each([2 ** 53, 1e21])('an amount of %d is told, not thrown', (max) => {
    expect(problemsOf({ resourceBounds: { cpu: { min: '10m', max }, memory } })).toEqual([
      `spec.resourceBounds.cpu.max: ${max} is not a quantity; accepted: a quantity such as 500m, 2, 512Mi or 8Gi`,
    ]);
  });
});
