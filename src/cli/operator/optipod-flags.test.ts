import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../config/load.ts';
import { optipodFlags, withOptipodFlags } from './optipod-flags.ts';

const configOf = (given: Record<string, unknown>) => {
  const { env, warnings } = withOptipodFlags({}, given);
  const { config } = loadConfig({ text: '', fileName: 'flags', env });
  return { config, warnings };
};

describe('the flags of OptiPod', () => {
  test.each<[string, Record<string, unknown>, (config: ReturnType<typeof configOf>['config']) => unknown, unknown]>([
    ['--dry-run', { dryRun: true }, ({ rightsizing }) => rightsizing.dryRun, true],
    ['--dry-run=false', { dryRun: 'false' }, ({ rightsizing }) => rightsizing.dryRun, false],
    [
      '--metrics-provider=prometheus',
      { metricsProvider: 'prometheus' },
      ({ rightsizing }) => rightsizing.provider,
      'prometheus',
    ],
    ['--metrics-provider=custom', { metricsProvider: 'custom' }, ({ rightsizing }) => rightsizing.provider, 'none'],
    [
      '--prometheus-url',
      { prometheusUrl: 'http://prometheus-k8s.monitoring.svc:9090' },
      ({ rightsizing }) => rightsizing.prometheus.url,
      'http://prometheus-k8s.monitoring.svc:9090',
    ],
    ['--leader-elect=true', { leaderElect: 'true' }, ({ operator }) => operator.leaderElection.enabled, true],
    [
      '--enable-leader-election',
      { enableLeaderElection: true },
      ({ operator }) => operator.leaderElection.enabled,
      true,
    ],
    ['--leader-elect=false', { leaderElect: 'false' }, ({ operator }) => operator.leaderElection.enabled, false],
    [
      '--reconciliation-interval=1m',
      { reconciliationInterval: '1m' },
      ({ rightsizing }) => rightsizing.reconcileInterval,
      60_000,
    ],
    [
      '--metrics-sample-interval=15',
      { metricsSampleInterval: '15' },
      ({ rightsizing }) => rightsizing.sampleInterval,
      15_000,
    ],
    [
      '--metrics-sample-interval=0',
      { metricsSampleInterval: '0' },
      ({ rightsizing }) => rightsizing.sampleInterval,
      30_000,
    ],
    [
      '--metrics-bind-address=:8443',
      { metricsBindAddress: ':8443' },
      ({ observability }) => observability.metrics.bindAddress.port,
      8443,
    ],
    ['--metrics-bind-address=0', { metricsBindAddress: '0' }, (c) => c.observability.metrics.enabled, false],
    ['--metrics-addr=:8082', { metricsAddr: ':8082' }, (c) => c.observability.metrics.bindAddress.port, 8082],
    [
      '--health-probe-bind-address=:9081',
      { healthProbeBindAddress: ':9081' },
      (c) => c.observability.health.bindAddress.port,
      9081,
    ],
    ['--zap-log-level=2', { zapLogLevel: '2' }, (c) => c.observability.logging.level, 'debug'],
    ['--zap-log-level=panic', { zapLogLevel: 'panic' }, (c) => c.observability.logging.level, 'fatal'],
    ['--zap-encoder=console', { zapEncoder: 'console' }, (c) => c.observability.logging.format, 'text'],
  ])('%s', (_, given, read, expected) => {
    const { config, warnings } = configOf(given);
    expect(read(config)).toBe(expected);
    expect(warnings).toEqual([]);
  });

  test.each([
    ['dry-run', 'dryRun', ['true', 'false', '1', '0', 'True', 'FALSE']],
    ['leader-election', 'leaderElect', ['true', 'false', '1', '0', 'True', 'FALSE']],
    ['metrics-provider', 'metricsProvider', ['prometheus', 'metrics-server', 'custom']],
    ['prometheus-url', 'prometheusUrl', ['http://prometheus:9090']],
    ['reconciliation-interval', 'reconciliationInterval', ['1m']],
    ['metrics-bind-address', 'metricsBindAddress', ['0', ':9090', '127.0.0.1:9090']],
    ['health-probe-bind-address', 'healthProbeBindAddress', ['0', ':9090', '127.0.0.1:9090']],
  ])('%s of the ConfigMap means what the flag does', (key, flag, texts) => {
    for (const text of texts) {
      const { config } = loadConfig({ text: `${key}: "${text}"`, fileName: 'config.yaml', env: {} });
      expect(config).toEqual(configOf({ [flag]: text }).config);
    }
  });

  test('what has no effect says why', () => {
    const { warnings } = configOf({ metricsMaxSamples: '10', metricsSecure: true });
    expect(warnings).toEqual([
      '--metrics-max-samples has no effect: samples are taken all the time and remembered, not gathered anew for each look',
      '--metrics-secure has no effect: observability.metrics.tls and authentication say it',
    ]);
  });

  test('a flag beats a variable', () => {
    const { env } = withOptipodFlags({ SPOTALIS_RIGHTSIZING_DRY_RUN: 'false' }, { dryRun: true });
    expect(env['SPOTALIS_RIGHTSIZING_DRY_RUN']).toBe('true');
  });

  test('each either means something or says why not', () => {
    for (const { toVariables, why } of optipodFlags) expect([toVariables, why].filter(Boolean)).toHaveLength(1);
  });
});
