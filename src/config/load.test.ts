import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../lib/errors.ts';
import { leaseNamespaceOf, nodeProfilesOf } from './checks.ts';
import type { Environment } from './environment.ts';
import { type LoadedConfig, loadConfig, loadConfigFile } from './load.ts';
import type { Config } from './schema.ts';

const load = (text = '', env: Environment = {}): LoadedConfig => loadConfig({ text, fileName: 'config.yaml', env });
const configOf = (text = '', env: Environment = {}): Config => load(text, env).config;

function problemsOf(text: string, env: Environment = {}): readonly string[] {
  try {
    load(text, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

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

describe('messages of invalid values', () => {
  test.each([
    [
      'operator:\n  namespace: ""',
      'config.yaml:2: operator.namespace cannot be empty: ""; accepted: the name of a namespace',
    ],
    ['controllers:\n  maxConcurrentReconciles: 0', 'controllers.maxConcurrentReconciles must be positive: 0'],
    ['webhook:\n  port: 0', 'config.yaml:2: webhook.port must be positive when webhook is enabled'],
    ['webhook:\n  port: 70000', 'webhook.port must be at most 65535'],
    [
      'controllers:\n  workloadTiming:\n    cooldownPeriod: 0s',
      'config.yaml:3: controllers.workloadTiming.cooldownPeriod must be positive',
    ],
    [
      'controllers:\n  workloadTiming:\n    disruptionRetryInterval: -1m',
      'controllers.workloadTiming.disruptionRetryInterval must be positive',
    ],
    [
      'controllers:\n  workloadTiming:\n    disruptionWindowPollInterval: "0"',
      'controllers.workloadTiming.disruptionWindowPollInterval must be positive',
    ],
    [
      'operator:\n  disruptionWindow:\n    schedule: 0 2 * * *',
      'operator.disruptionWindow: schedule and duration must be specified together',
    ],
    [
      'operator:\n  disruptionWindow:\n    schedule: 0 2 * *\n    duration: 1h',
      'config.yaml:3: operator.disruptionWindow: schedule is not valid: "0 2 * *"',
    ],
    [
      'operator:\n  disruptionWindow:\n    schedule: 0 2 * * *\n    duration: 0s',
      'config.yaml:4: operator.disruptionWindow: duration is not valid: "0s"',
    ],
    ['controllers:\n  reconcileInterval: 60', 'controllers.reconcileInterval is not a duration with a unit: 60'],
    ['operator:\n  readOnlyMode: "yes"', 'operator.readOnlyMode is not a truth value: "yes"'],
    ['placement:\n  rounding: up', 'placement.rounding is not known: "up"; accepted: one of ceil, floor'],
    ['placement:\n  fallback:\n    after: 10s', 'placement.fallback.after must be at least 30s'],
    ['placement:\n  fallback:\n    after: 1h', 'placement.fallback.after must be at most 30m'],
    ['placement:\n  fallback:\n    maxPercent: 101', 'placement.fallback.maxPercent must be at most 100'],
    ['placement:\n  surge: true', 'placement.surge: true is not supported; accepted: false'],
    [
      'placement:\n  defaults:\n    spotPercentage: 150',
      'placement.defaults.spotPercentage is not valid: 150; accepted: a whole number from 0 to 100',
    ],
    ['placement:\n  defaults:\n    minOnDemand: many', 'placement.defaults.minOnDemand is not valid: "many"'],
    [
      'placement:\n  moveBackoff:\n    initial: 2h',
      'placement.moveBackoff.max must be at least placement.moveBackoff.initial (2h)',
    ],
    [
      'observability:\n  metrics:\n    bindAddress: "8080"',
      'observability.metrics.bindAddress is not an address with a port: "8080"',
    ],
    [
      'observability:\n  metrics:\n    bindAddress: :99999',
      'observability.metrics.bindAddress is not an address with a port',
    ],
    [
      'observability:\n  metrics:\n    bindAddress: :9443',
      'observability.metrics.bindAddress takes port 9443, which webhook.port takes already',
    ],
    [
      'operator:\n  leaderElection:\n    renewDeadline: 15s',
      'operator.leaderElection.renewDeadline must be shorter than leaseDuration: 15s is not below 15s',
    ],
    [
      'operator:\n  leaderElection:\n    retryPeriod: 11s',
      'operator.leaderElection.retryPeriod must be shorter than renewDeadline',
    ],
    ['operator: 5', 'config.yaml:1: operator must hold keys with values, not 5'],
    ['webhook:\n  certificates: [self]', 'webhook.certificates is not text: ["self"]'],
  ])('case 13: %j', (text, message) => {
    expect(problemsOf(text)).toEqual([expect.stringContaining(message)]);
  });

  test('case 14: a reconcileInterval of 0 or below 5s is refused', () => {
    expect(problemsOf('controllers:\n  reconcileInterval: 0s')).toEqual([
      expect.stringContaining('reconcileInterval must be positive: "0s"'),
    ]);
    expect(problemsOf('controllers:\n  reconcileInterval: 4.9s')).toEqual([
      expect.stringContaining('must be at least 5s: "4.9s"'),
    ]);
    expect(configOf('controllers:\n  reconcileInterval: 5s').controllers.reconcileInterval).toBe(5000);
  });

  test.each([
    ['30s', 30_000],
    ['2m', 120_000],
    ['20m', 1_200_000],
    ['30m', 1_800_000],
  ])(
    'bug 28: a pod may wait %s for spot: nodes take seconds with one autoscaler, 20 minutes with another',
    (text, millis) => {
      expect(configOf(`placement:\n  fallback:\n    after: ${text}`).placement.fallback.after).toBe(millis);
    },
  );

  test.each(['29s', '30m1s'])('bug 28: but not %s', (text) => {
    expect(problemsOf(`placement:\n  fallback:\n    after: ${text}`)).toHaveLength(1);
  });

  test('namespaces and owners: what cannot be honoured together is refused', () => {
    const selector = 'controllers:\n  namespaceSelector: { matchLabels: { a: b } }\n';
    expect(problemsOf(`${selector}  watchNamespaces: [shop]`)).toEqual([
      expect.stringMatching(
        /^config\.yaml:2: controllers\.namespaceSelector does not go with controllers\.watchNamespaces/,
      ),
    ]);
    expect(problemsOf('controllers:\n  watchNamespaces: [shop, ""]')).toEqual([
      expect.stringContaining('has an empty entry'),
    ]);
    expect(problemsOf('placement:\n  owners: [{ apiVersion: example.com/v1, kind: Deployment }]')).toEqual([
      expect.stringContaining('example.com/v1 Deployment cannot be added, there is a kind of this name already'),
    ]);
    expect(problemsOf('placement:\n  owners: [{ apiVersion: v1, kind: Rollout }]')).toEqual([
      expect.stringContaining('is no group/version'),
    ]);
    expect(configOf('placement:\n  owners: []').placement.owners).toEqual([]);
  });

  test('namespaces come from the environment too', () => {
    const env = { SPOTALIS_CONTROLLERS_WATCH_NAMESPACES: 'shop, mail' };
    expect(loadConfig({ text: '', fileName: 'x', env }).config.controllers.watchNamespaces).toEqual(['shop', 'mail']);
  });

  test('a port of 0 is fine where the webhook is off', () => {
    expect(problemsOf('webhook:\n  enabled: false\n  port: 0')).toEqual([]);
  });

  test('all problems are told, of the file and of the environment', () => {
    const text = 'operator:\n  namespace: ""\nwebhook:\n  port: x\nplacement:\n  maxPerPool: 0\n';
    expect(problemsOf(text, { SPOTALIS_METRICS_ENABLED: '?' })).toHaveLength(4);
  });

  test('a contradiction made by variables names the variable', () => {
    expect(problemsOf('', { SPOTALIS_OPERATOR_DISRUPTION_WINDOW_DURATION: '1h' })).toEqual([
      'SPOTALIS_OPERATOR_DISRUPTION_WINDOW_DURATION: operator.disruptionWindow: schedule and duration must be specified together',
    ]);
  });

  test('case 14: the error is a ConfigError, on which the process ends with exit code 1', () => {
    expect(() => load('webhook:\n  port: x')).toThrow(expect.objectContaining({ code: 'INVALID_CONFIGURATION' }));
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
      /^failed to load config from file \/nowhere\/config\.yaml: ENOENT/,
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

describe('the shape of the first design', () => {
  const design = `
controller:
  resyncPeriod: 45s
  workers: 7
  leaderElection:
    enabled: false
    namespace: lease-ns
  namespaceSelector:
    matchLabels:
      spotalis.io/enabled: "true"
webhook:
  port: 9443
  certDir: /certs
nodeLabels:
  spot: karpenter.sh/capacity-type=spot
  onDemand: karpenter.sh/capacity-type=on-demand
logging:
  level: debug
  format: text
metrics:
  enabled: true
  port: 9090
`;

  test('is understood, without warnings', () => {
    const { config, warnings } = load(design);
    expect(warnings).toEqual([]);
    expect(config.controllers).toMatchObject({
      reconcileInterval: 45_000,
      maxConcurrentReconciles: 7,
      namespaceSelector: { matchLabels: { 'spotalis.io/enabled': 'true' } },
      nodeClassifier: {
        spotLabels: [{ matchLabels: { 'karpenter.sh/capacity-type': 'spot' } }],
        onDemandLabels: [{ matchLabels: { 'karpenter.sh/capacity-type': 'on-demand' } }],
      },
    });
    expect(config.operator.leaderElection).toMatchObject({ enabled: false, namespace: 'lease-ns' });
    expect(config.observability).toMatchObject({
      logging: { level: 'debug', format: 'text' },
      metrics: { bindAddress: { port: 9090 } },
    });
    expect(nodeProfilesOf(config)).toEqual([]);
  });

  test('zero workers mean the default', () => {
    expect(configOf('controller:\n  workers: 0').controllers.maxConcurrentReconciles).toBe(5);
  });

  test('messages name what was written and what it means', () => {
    expect(problemsOf('controller:\n  resyncPeriod: 1s')).toEqual([
      expect.stringContaining(
        'config.yaml:2: controller.resyncPeriod (controllers.reconcileInterval) must be at least 5s: "1s"',
      ),
    ]);
    expect(problemsOf('nodeLabels:\n  spot: capacity')).toEqual([
      expect.stringContaining('nodeLabels.spot (controllers.nodeClassifier.spotLabels) is not a list'),
    ]);
  });

  test('the key itself beats its other spelling, with a warning', () => {
    const { config, warnings } = load('logging:\n  level: debug\nobservability:\n  logging:\n    level: error\n');
    expect(config.observability.logging.level).toBe('error');
    expect(warnings).toEqual([
      expect.stringContaining('config.yaml:2: logging.level is ignored, because observability.logging.level is set'),
    ]);
  });
});

describe('node classes', () => {
  test('case 14: matchLabels and matchExpressions are read from YAML', () => {
    const config = configOf(`
controllers:
  nodeClassifier:
    spotLabels:
      - matchLabels: { eks.amazonaws.com/capacityType: SPOT }
      - matchExpressions:
          - { key: cloud.google.com/gke-spot, operator: Exists }
    onDemandLabels:
      - matchExpressions:
          - key: eks.amazonaws.com/capacityType
            operator: NotIn
            values: [SPOT]
`);
    expect(config.controllers.nodeClassifier).toMatchObject({
      spotLabels: [
        { matchLabels: { 'eks.amazonaws.com/capacityType': 'SPOT' } },
        { matchExpressions: [{ key: 'cloud.google.com/gke-spot', operator: 'Exists' }] },
      ],
      onDemandLabels: [
        { matchExpressions: [{ key: 'eks.amazonaws.com/capacityType', operator: 'NotIn', values: ['SPOT'] }] },
      ],
    });
    expect(nodeProfilesOf(config)).toEqual([]);
  });

  const classifier = (yaml: string): string => `controllers:\n  nodeClassifier:\n    ${yaml}\n`;

  test.each([
    ['spotLabels: [{}]', 'spotLabels[0] has an empty selector, which would match every node'],
    ['spotLabels: [{matchLabels: {}}]', 'spotLabels[0] has an empty selector'],
    ['spotLabels: [{matchLabels: {spot: true}}]', 'spotLabels[0].matchLabels.spot must be text in quotes'],
    ['spotLabels: [{matchLabels: {"a b": x}}]', '"a b" is not a label key'],
    ['spotLabels: [{matchlabels: {a: b}}]', 'matchlabels'],
    ['spotLabels: [{matchExpressions: [{key: a, operator: Near}]}]', 'operator "Near" of "a" is none of In'],
    ['onDemandLabels: [{matchLabels: {a: b}}]', 'controllers.nodeClassifier has no rule for spot nodes'],
    ['spotLabels: [{matchLabels: {a: b}}]', 'controllers.nodeClassifier has no rule for on-demand nodes'],
    ['profiles: []', 'controllers.nodeClassifier has no rule for spot nodes'],
    [
      'profiles: [azure]',
      'profiles[0] has an entry that is not known: ["azure"]; accepted: a list of karpenter, eks, gke, aks, castai',
    ],
    ['profiles: gke', 'profiles is not a list'],
  ])('%s is refused', (yaml, message) => {
    expect(problemsOf(classifier(yaml)).join('\n')).toContain(message);
  });

  test.each([
    ['profiles: [gke, karpenter]', ['gke', 'karpenter']],
    ['{ spotLabels: [{matchLabels: {a: b}}], absenceMeansOnDemand: true }', []],
    ['{ profiles: [eks], spotLabels: [{matchLabels: {a: b}}] }', ['eks']],
  ])('%s is accepted', (yaml, profiles) => {
    expect(
      nodeProfilesOf(configOf(`controllers:\n  nodeClassifier: ${yaml.startsWith('{') ? yaml : `\n    ${yaml}`}\n`)),
    ).toEqual(profiles);
  });
});
