import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { settingTable } from './setting-table.ts';
import { defaultAgentSettings, readSettings } from './settings.ts';

/** As MBCAS ships it. */
const shipped = {
  samplingInterval: '1s',
  writeInterval: '10s',
  minChangePercent: '5.0',
  systemReservePercent: '10',
  baselineCPUPerPod: '100m',
  startupGracePeriod: '45s',
  sloTargetLatencyMs: '0',
  prometheusURL: '',
  fastLoopInterval: '2s',
  slowLoopInterval: '15s',
  p99ThresholdMultiplier: '1.2',
  throttlingThreshold: '0.1',
  fastStepSizeMin: '0.20',
  fastStepSizeMax: '0.40',
  allocationMechanism: 'nash',
  enableKalmanPrediction: 'true',
  enableBatchReconciliation: 'true',
  enablePriceResponse: 'true',
  enableAgentBasedModeling: 'true',
  coalitionGroupingAnnotation: 'mbcas.io/coalition',
  totalClusterCPUCapacityMilli: '4000',
};

/** All that it read, and four that its manifests set and it never read. */
const mbcasVariables = [
  'SAMPLING_INTERVAL',
  'WRITE_INTERVAL',
  'MIN_CHANGE_PERCENT',
  'SYSTEM_RESERVE_PERCENT',
  'BASELINE_CPU_PER_POD',
  'STARTUP_GRACE_PERIOD',
  'SLO_TARGET_LATENCY_MS',
  'PROMETHEUS_URL',
  'FAST_LOOP_INTERVAL',
  'SLOW_LOOP_INTERVAL',
  'P99_THRESHOLD_MULTIPLIER',
  'THROTTLING_THRESHOLD',
  'FAST_STEP_SIZE_MIN',
  'FAST_STEP_SIZE_MAX',
  'ALLOCATION_MECHANISM',
  'ENABLE_KALMAN_PREDICTION',
  'ENABLE_BATCH_RECONCILIATION',
  'ENABLE_PRICE_RESPONSE',
  'ENABLE_AGENT_BASED_MODELING',
  'COALITION_GROUPING_ANNOTATION',
  'AGENT_LEARNING_RATE',
  'AGENT_DISCOUNT_FACTOR',
  'AGENT_EXPLORATION_RATE',
  'AGENT_MEMORY_SIZE',
  'MAX_COALITION_SIZE',
  'MAX_HISTORY_SIZE',
  'MIN_USAGE_MICROSECONDS',
  'MAX_DEMAND_MULTIPLIER',
  'ABSOLUTE_MIN_ALLOCATION',
  'NEED_HEADROOM_FACTOR',
  'WANT_HEADROOM_FACTOR',
  'COST_EFFICIENCY_MODE',
  'ALPHA_DOWN',
  'ALPHA_UP',
  'IDLE_DECAY_RATE',
  'TARGET_THROTTLING',
];

describe('the ConfigMap of MBCAS', () => {
  test('is taken as it is shipped, and what does nothing here is said', () => {
    const { settings, problems, notes } = readSettings({ configMap: shipped, env: {} });
    expect(problems).toEqual([]);
    expect(settings.rules).toMatchObject({ margin: 0.1, baseline: 100, startupGraceMillis: 45_000 });
    expect(settings.rules.write).toMatchObject({ minShare: 0.05, spacingUpMillis: 10_000, spacingDownMillis: 20_000 });
    expect(settings.prometheus).toBeUndefined();
    expect(notes).toContain(
      'totalClusterCPUCapacityMilli has no effect: capacity is the node’s allocatable CPU less what others hold',
    );
  });

  test('mbcas bug 5: a constant for the cluster does not become the capacity of a node', () => {
    const { settings } = readSettings({ configMap: { totalClusterCPUCapacityMilli: '4000' }, env: {} });
    expect(settings).toEqual(defaultAgentSettings);
  });

  test('a bad value is told, its default kept, and those after it are read', () => {
    const configMap = { samplingInterval: 'soon', minChangePercent: '400', baselineCPUPerPod: '250m' };
    const { settings, problems } = readSettings({ configMap, env: {} });
    expect(problems).toEqual([
      'samplingInterval: "soon" is not valid and ignored; accepted: a duration such as 500ms, 10s or 1m30s, from 200 ms to 60 s',
      'minChangePercent: "400" is not valid and ignored; accepted: a number from 0 to 100',
    ]);
    expect(settings).toEqual({ ...defaultAgentSettings, rules: { ...defaultAgentSettings.rules, baseline: 250 } });
  });

  test('a key nobody knows is told', () => {
    expect(readSettings({ configMap: { samplingIntervall: '2s' }, env: {} }).problems).toEqual([
      'samplingIntervall: there is no such setting; it is ignored',
    ]);
  });
});

describe('the environment', () => {
  test('beats the ConfigMap', () => {
    const env = { MBCAS_SYSTEM_RESERVE_PERCENT: '20', MBCAS_PROMETHEUS_URL: 'http://prometheus:9090' };
    const { settings } = readSettings({ configMap: { systemReservePercent: '10' }, env });
    expect(settings.rules.margin).toBe(0.2);
    expect(settings.prometheus?.host).toBe('prometheus:9090');
  });

  test('a bad variable leaves what the ConfigMap says', () => {
    const { settings, problems } = readSettings({
      configMap: { systemReservePercent: '12' },
      env: { MBCAS_SYSTEM_RESERVE_PERCENT: 'much' },
    });
    expect([settings.rules.margin, problems.length]).toEqual([0.12, 1]);
  });

  test('an empty variable is one that was not set', () => {
    expect(readSettings({ env: { MBCAS_SAMPLING_INTERVAL: '' } }).problems).toEqual([]);
  });

  test('has the names of MBCAS', () => {
    const variables = settingTable.map(({ env }) => env);
    expect(mbcasVariables.map((name) => `MBCAS_${name}`).filter((name) => !variables.includes(name))).toEqual([]);
    expect(new Set(variables).size).toBe(variables.length);
  });
});

test.each([
  ['allocation.apply', 'limits', { apply: 'limits' }],
  ['allocation.ceilings', 'none', { ceilings: 'none' }],
  ['allocation.managementMode', 'optOut', { managementMode: 'optOut' }],
  ['allocation.quantum', '10', { quantum: 10 }],
  ['allocation.excludedNamespaces', 'kube-system, infra', { excludedNamespaces: ['kube-system', 'infra'] }],
  [
    'allocation.priorityCurve',
    'anchors',
    { weight: { ...defaultAgentSettings.rules.weight, priorityCurve: 'anchors' } },
  ],
  [
    'allocation.trustedNamespaces',
    'payments',
    { weight: { ...defaultAgentSettings.rules.weight, trustedNamespaces: ['payments'] } },
  ],
  ['allocation.tenantAnnotations', 'bounded', { tenantAnnotations: 'bounded' }],
])('Stowage’s own: %s %s', (key, text, changed) => {
  const { settings, problems } = readSettings({ configMap: { [key]: text }, env: {} });
  expect([settings.rules, problems]).toEqual([{ ...defaultAgentSettings.rules, ...changed }, []]);
});

test('values that do not fit together are told, and the nearest that does is used', () => {
  const { settings, problems } = readSettings({
    configMap: { samplingInterval: '5s', fastLoopInterval: '2s' },
    env: {},
  });
  expect(settings.tickMillis).toBe(5000);
  expect(problems[0]).toMatch(/^fastLoopInterval: 2000 ms is shorter than samplingInterval/);
});

test.each([
  [{ 'allocation.staleAfter': '30s' }, 10_000, 1],
  [{ 'allocation.staleAfter': '90s' }, 30_000, 0],
  [{ 'allocation.staleAfter': '10m', 'allocation.renewInterval': '3m' }, 180_000, 0],
  [{ 'allocation.renewInterval': '3m' }, 40_000, 1],
])('an agent is heard three times before the operator takes it for gone: %o', (configMap, renewMillis, told) => {
  const { settings, problems } = readSettings({ configMap, env: {} });
  expect([settings.renewMillis, problems.length]).toEqual([renewMillis, told]);
});

test.each([
  [{ fastLoopInterval: '60s' }, { tickMillis: 40_000, renewMillis: 40_000 }, 'fastLoopInterval: 60000 ms is too long'],
  [
    { samplingInterval: '20s', 'allocation.staleAfter': '30s' },
    { samplingMillis: 10_000, tickMillis: 10_000, renewMillis: 10_000 },
    'samplingInterval: 20000 ms is too long for allocation.staleAfter, 30000 ms; 10000 ms is used instead',
  ],
])('signs of life are given at ticks, so these come as often: %o', (configMap, wanted, told) => {
  const { settings, problems } = readSettings({ configMap, env: {} });
  expect(settings).toMatchObject(wanted);
  expect(problems[0]).toContain(told);
});

test('no text breaks a setting: it is accepted, or told with what would be', () => {
  fc.assert(
    fc.property(fc.constantFrom(...settingTable), fc.oneof(fc.string(), fc.double().map(String)), (row, text) => {
      const name = row.key ?? row.env ?? '';
      const source = row.key === undefined ? { env: { [name]: text } } : { configMap: { [name]: text }, env: {} };
      const { settings, problems } = readSettings(source);
      for (const problem of problems) expect(problem).toContain(name.split('.').at(-1) ?? name);
      expect(settings.samplingMillis).toBeGreaterThan(0);
      expect(settings.tickMillis).toBeGreaterThanOrEqual(settings.samplingMillis);
    }),
  );
});
