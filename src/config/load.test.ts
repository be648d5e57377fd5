import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { leaseNamespaceOf, nodeProfilesOf } from './checks.ts';
import { loadConfigFile } from './load.ts';
import { configOf, load, problemsOf } from './testing/load-text.ts';

describe('defaults', () => {
  test('case 13: an empty file and no file give the defaults', () => {
    const expected = {
      operator: {
        namespace: 'spotalis-system',
        readOnlyMode: false,
        leaderElection: {
          enabled: true,
          id: 'spotalis-controller-leader',
          leaseDuration: 15_000,
          renewDeadline: 10_000,
          retryPeriod: 2000,
        },
        disruptionWindow: { schedule: '', duration: '' },
      },
      engines: { placement: true, rightsizing: false, allocation: false },
      controllers: {
        maxConcurrentReconciles: 5,
        reconcileInterval: 30_000,
        namespaceSelector: undefined,
        nodeClassifier: { profiles: undefined, spotLabels: [], onDemandLabels: [] },
        workloadTiming: {
          cooldownPeriod: 10_000,
          disruptionRetryInterval: 60_000,
          disruptionWindowPollInterval: 600_000,
        },
      },
      placement: {
        rounding: 'ceil',
        basis: 'total',
        defaults: { spotPercentage: '0', minOnDemand: '0' },
        mutations: { tolerations: true, affinity: true },
        allowSingleReplica: false,
        surge: false,
        coordination: 'leader',
        fallback: { after: 300_000 },
      },
      webhook: { enabled: true, port: 9443, certDir: '/tmp/k8s-webhook-server/serving-certs', certificates: 'files' },
      observability: {
        metrics: { enabled: true, bindAddress: { host: undefined, port: 8080 } },
        health: { enabled: true, bindAddress: { host: undefined, port: 8081 } },
        logging: { level: 'info', format: 'json' },
      },
    };
    for (const text of ['', '# nothing\n', '{}', 'operator:\n', '---\n']) {
      const { config, warnings } = load(text);
      expect(config).toMatchObject(expected);
      expect(warnings).toEqual([]);
    }
    expect(nodeProfilesOf(configOf())).toEqual(['karpenter']);
    expect(leaseNamespaceOf(configOf())).toBe('spotalis-system');
  });

  test('case 13: a file with some keys leaves the others at their defaults', () => {
    const config = configOf(
      'controllers:\n  reconcileInterval: 1m30s\nobservability:\n  logging:\n    level: WARNING\n    format: console\n',
    );
    expect(config.controllers.reconcileInterval).toBe(90_000);
    expect(config.controllers.maxConcurrentReconciles).toBe(5);
    expect(config.observability.logging).toEqual({ level: 'warn', format: 'text' });
    expect(config.operator.namespace).toBe('spotalis-system');
  });

  test('a shorter lease, the only of its times that Spotalis knows, shortens the others that are left out', () => {
    const election = (keys: string, env = {}) =>
      configOf(`operator:\n  leaderElection: { ${keys} }\n`, env).operator.leaderElection;
    const leaseDuration = 6000;
    expect(election('leaseDuration: 6s')).toMatchObject({ leaseDuration, renewDeadline: 4000, retryPeriod: 800 });
    expect(election('', { SPOTALIS_LEADER_ELECTION_LEASE_DURATION: '6s' })).toMatchObject({ renewDeadline: 4000 });
    expect(election('leaseDuration: 6s, renewDeadline: 5s')).toMatchObject({ renewDeadline: 5000, retryPeriod: 800 });
    expect(election('leaseDuration: 1m')).toMatchObject({ renewDeadline: 10_000, retryPeriod: 2000 });
    expect(problemsOf('operator:\n  leaderElection: { leaseDuration: soon }')).toEqual([
      expect.stringContaining('leaseDuration is not a duration: "soon"'),
    ]);
  });
});

describe('environment', () => {
  test('case 13: a variable beats the file, an empty one does not', () => {
    const text = 'operator:\n  namespace: from-file\n';
    expect(configOf(text, { SPOTALIS_OPERATOR_NAMESPACE: 'from-env' }).operator.namespace).toBe('from-env');
    expect(configOf(text, { SPOTALIS_OPERATOR_NAMESPACE: '' }).operator.namespace).toBe('from-file');
    expect(configOf(text, { NAMESPACE: 'other', READ_ONLY_MODE: 'true' }).operator).toMatchObject({
      namespace: 'from-file',
      readOnlyMode: false,
    });
  });

  test.each([
    ['true', true],
    ['1', true],
    ['YES', true],
    ['on', true],
    ['False', false],
    ['0', false],
    ['no', false],
    ['OFF', false],
  ])('case 13: the truth value %j is %s', (word, value) => {
    expect(configOf('', { SPOTALIS_OPERATOR_READ_ONLY_MODE: word }).operator.readOnlyMode).toBe(value);
  });

  test('case 13: every variable of Spotalis reaches its key', () => {
    const { config, warnings } = load('', {
      SPOTALIS_OPERATOR_NAMESPACE: 'ops',
      SPOTALIS_OPERATOR_READ_ONLY_MODE: 'true',
      SPOTALIS_LEADER_ELECTION_ENABLED: 'false',
      SPOTALIS_LEADER_ELECTION_ID: 'lease',
      SPOTALIS_LEADER_ELECTION_LEASE_DURATION: '20s',
      SPOTALIS_CONTROLLERS_MAX_CONCURRENT_RECONCILES: '7',
      SPOTALIS_CONTROLLERS_RECONCILE_INTERVAL: '6s',
      SPOTALIS_CONTROLLERS_WORKLOAD_COOLDOWN_PERIOD: '7s',
      SPOTALIS_CONTROLLERS_WORKLOAD_DISRUPTION_RETRY_INTERVAL: '8s',
      SPOTALIS_CONTROLLERS_WORKLOAD_DISRUPTION_WINDOW_POLL_INTERVAL: '9s',
      SPOTALIS_WEBHOOK_ENABLED: 'false',
      SPOTALIS_WEBHOOK_PORT: '1',
      SPOTALIS_WEBHOOK_CERT_DIR: '/certs',
      SPOTALIS_METRICS_ENABLED: 'false',
      SPOTALIS_METRICS_BIND_ADDRESS: ':2',
      SPOTALIS_LOGGING_LEVEL: 'warning',
      SPOTALIS_LOGGING_FORMAT: 'console',
      SPOTALIS_HEALTH_ENABLED: 'false',
      SPOTALIS_HEALTH_BIND_ADDRESS: ':3',
    });
    expect(warnings).toEqual([]);
    expect(config).toMatchObject({
      operator: {
        namespace: 'ops',
        readOnlyMode: true,
        leaderElection: { enabled: false, id: 'lease', leaseDuration: 20_000 },
      },
      controllers: {
        maxConcurrentReconciles: 7,
        reconcileInterval: 6000,
        workloadTiming: {
          cooldownPeriod: 7000,
          disruptionRetryInterval: 8000,
          disruptionWindowPollInterval: 9000,
        },
      },
      webhook: { enabled: false, port: 1, certDir: '/certs' },
      observability: {
        metrics: { enabled: false, bindAddress: { port: 2 } },
        logging: { level: 'warn', format: 'text' },
        health: { enabled: false, bindAddress: { port: 3 } },
      },
    });
  });

  test.each([
    [
      'SPOTALIS_OPERATOR_READ_ONLY_MODE',
      'maybe',
      /SPOTALIS_OPERATOR_READ_ONLY_MODE is not valid: "maybe"; accepted: true or false/,
    ],
    ['SPOTALIS_WEBHOOK_PORT', '9443a', /SPOTALIS_WEBHOOK_PORT is not valid: "9443a"; accepted: a whole number/],
    ['SPOTALIS_WEBHOOK_PORT', '99999', /SPOTALIS_WEBHOOK_PORT: webhook\.port must be at most 65535: 99999/],
    [
      'SPOTALIS_CONTROLLERS_RECONCILE_INTERVAL',
      '60',
      /SPOTALIS_CONTROLLERS_RECONCILE_INTERVAL: controllers\.reconcileInterval is not a duration: "60"/,
    ],
    [
      'SPOTALIS_LOGGING_LEVEL',
      'loud',
      /SPOTALIS_LOGGING_LEVEL: observability\.logging\.level is not known: "loud"; accepted: one of debug/,
    ],
  ])(
    'case 13: an invalid variable is an error that names it (unlike Spotalis, which ignores it): %s=%s',
    (variable, value, message) => {
      expect(problemsOf('', { [variable]: value })).toEqual([expect.stringMatching(message)]);
    },
  );

  test('numbers, durations, words and lists', () => {
    const config = configOf('', {
      SPOTALIS_WEBHOOK_PORT: '10250',
      SPOTALIS_LEADER_ELECTION_LEASE_DURATION: '30s',
      SPOTALIS_PLACEMENT_ROUNDING: 'floor',
      SPOTALIS_CONTROLLERS_NODE_CLASSIFIER_PROFILES: 'karpenter, gke',
      SPOTALIS_METRICS_BIND_ADDRESS: '[::1]:9090',
      SPOTALIS_PLACEMENT_DEFAULTS_SPOT_PERCENTAGE: '70%',
    });
    expect(config.webhook.port).toBe(10_250);
    expect(config.operator.leaderElection.leaseDuration).toBe(30_000);
    expect(config.placement.rounding).toBe('floor');
    expect(nodeProfilesOf(config)).toEqual(['karpenter', 'gke']);
    expect(config.observability.metrics.bindAddress).toEqual({ host: '::1', port: 9090 });
    expect(config.placement.defaults.spotPercentage).toBe('70%');
  });

  test('variables Kubernetes adds for Services are nobody’s configuration', () => {
    const { config, warnings } = load('', {
      SPOTALIS_WEBHOOK_PORT: 'tcp://10.96.0.1:443',
      SPOTALIS_WEBHOOK_SERVICE_HOST: '10.96.0.1',
      SPOTALIS_WEBHOOK_SERVICE_PORT: '443',
      SPOTALIS_WEBHOOK_SERVICE_PORT_HTTPS: '443',
      SPOTALIS_WEBHOOK_PORT_443_TCP: 'tcp://10.96.0.1:443',
      SPOTALIS_WEBHOOK_PORT_443_TCP_ADDR: '10.96.0.1',
    });
    expect(config.webhook.port).toBe(9443);
    expect(warnings).toEqual([]);
  });

  test('an unknown variable of the prefix is a warning', () => {
    expect(load('', { SPOTALIS_LOG_LEVEL: 'debug', PATH: '/bin' }).warnings).toEqual([
      expect.stringContaining('SPOTALIS_LOG_LEVEL'),
    ]);
  });
});

describe('YAML', () => {
  test.each([
    ['a: [1', /^failed to parse YAML config file config\.yaml:1: /],
    ['a: 1\na: 2', /^failed to parse YAML config file config\.yaml:2: .*unique/],
    ['- a\n- b', /^failed to parse YAML config file config\.yaml:1: the file must hold keys/],
    ['just text', /the file must hold keys/],
    ['a: 1\n---\nb: 2', /config\.yaml:2/],
    ['a: *nowhere', /failed to parse YAML config file config\.yaml/],
    ['\ta: 1', /failed to parse YAML config file config\.yaml:1/],
  ])('%j is refused with its line', (text, message) => {
    expect(problemsOf(text)[0]).toMatch(message);
  });

  test('anchors work', () => {
    const config = configOf(
      'operator: &o\n  readOnlyMode: true\n  namespace: ns\ncontrollers:\n  reconcileInterval: &t 10s\n  workloadTiming:\n    cooldownPeriod: *t\n',
    );
    expect(config.controllers.workloadTiming.cooldownPeriod).toBe(10_000);
    expect(config.operator).toMatchObject({ readOnlyMode: true, namespace: 'ns' });
  });

  test('a file that cannot be read says so', () => {
    expect(() => loadConfigFile('/nowhere/config.yaml', {})).toThrow(
      /^failed to load config from file \/nowhere\/config\.yaml: there is no such file; name another with --config$/,
    );
    expect(loadConfigFile(undefined, {}).config.webhook.port).toBe(9443);
  });

  test('a file is read and named in messages', () => {
    const directory = mkdtempSync(join(tmpdir(), 'config-'));
    try {
      const path = join(directory, 'config.yaml');
      writeFileSync(path, 'webhook:\n  port: 1234\n');
      expect(loadConfigFile(path, {}).config.webhook.port).toBe(1234);
      writeFileSync(path, 'webhook:\n  port: -5\n');
      expect(() => loadConfigFile(path, {})).toThrow(`${path}:2: webhook.port must be at least 0: -5`);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

describe('keys that do nothing', () => {
  test('case 14: keys of the Helm chart without effect are accepted with a warning', () => {
    const text = [
      'controllers:',
      '  rateLimit: { qps: 20, burst: 40 }',
      '  watchNamespaces: []',
      'webhook: { certName: tls.crt, keyName: tls.key }',
      'operator: { leaderElection: { namespace: leases } }',
      'observability:',
      '  logging: { output: stdout, addCaller: true, development: false }',
      '  metrics: { path: /metrics }',
      '  health: { path: /healthz }',
    ].join('\n');
    const { config, warnings } = load(text);
    expect(warnings).toHaveLength(7);
    expect(warnings[0]).toBe('config.yaml:4: webhook.certName has no effect: the file is tls.crt');
    expect(config.controllers.watchNamespaces).toEqual([]);
    expect(config.controllers.rateLimit).toEqual({ qps: 20, burst: 40 });
    expect(leaseNamespaceOf(config)).toBe('leases');
  });

  test('an unknown key is a warning with its path and line', () => {
    expect(load('operator:\n  readonly: true\nextra:\n  a: 1\n').warnings).toEqual([
      'config.yaml:2: operator.readonly is not a key of the configuration; it is ignored',
      'config.yaml:3: extra is not a key of the configuration; it is ignored',
    ]);
  });

  test('names every object has are no keys', () => {
    expect(load('toString: 1\nconstructor:\n  prototype: 2\n__proto__:\n  readOnlyMode: true\n').warnings).toHaveLength(
      3,
    );
  });
});
