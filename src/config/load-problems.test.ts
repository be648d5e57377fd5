import { describe, expect, test } from 'vitest';
import { loadConfig } from './load.ts';
import { configOf, load, problemsOf } from './testing/load-text.ts';

describe('a file that is not meant to be one', () => {
  test('tells the first mistakes of its grammar, and how many more there are', () => {
    const problems = problemsOf('a: b: c\n'.repeat(50));
    expect(problems).toHaveLength(6);
    expect(problems[0]).toBe(
      'failed to parse YAML config file config.yaml:1: Nested mappings are not allowed in compact mappings',
    );
    expect(problems[5]).toMatch(/: \d+ more mistakes are not listed$/);
  });

  test('nested deeper than can be read is said to be so', () => {
    expect(problemsOf('['.repeat(20_000))[0]).toBe(
      'failed to parse YAML config file config.yaml:1: nested too deep to be read',
    );
  });

  test.each([
    [2 ** 20 + 1, '1.1'],
    [1.2 * 2 ** 20, '1.2'],
    [3 * 2 ** 20, '3'],
  ])('of %i characters, which is more than 1 MiB, is not parsed', (length, told) => {
    expect(problemsOf(`# ${'x'.repeat(length - 2)}`)).toEqual([
      `config.yaml is no YAML config file: it has ${told} MiB, and 1 MiB is what a ConfigMap can hold`,
    ]);
  });

  test('of just 1 MiB is', () => {
    expect(() => load(`# ${'x'.repeat(2 ** 20 - 2)}`)).not.toThrow();
  });

  test('long values are cut in messages', () => {
    const [problem = ''] = problemsOf(`web:\n  allowedHosts: ${'a'.repeat(5_000)}`);
    expect(problem).toMatch(/^config\.yaml:2: web\.allowedHosts .*\(5000 characters\)/);
    expect(problem.length).toBeLessThan(600);
    expect(problemsOf('', { SPOTALIS_WEBHOOK_PORT: '9'.repeat(5_000) })[0]?.length).toBeLessThan(600);
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
      'webhook:\n  enabled: false\nobservability:\n  metrics:\n    tls: true',
      'observability.metrics.tls needs webhook.enabled: it is the certificate of the webhook that is served',
    ],
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
      'operator.leaderElection.retryPeriod times 1.2 must be shorter than renewDeadline: 13.2s is not below 10s',
    ],
    [
      'operator:\n  leaderElection:\n    retryPeriod: 9s',
      'config.yaml:3: operator.leaderElection.retryPeriod times 1.2 must be shorter than renewDeadline: 10.8s is not below 10s',
    ],
    [
      'operator:\n  leaderElection:\n    leaseDuration: 15500ms',
      'config.yaml:3: operator.leaderElection.leaseDuration must be whole seconds: 15.5s',
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

  // What can never match anything would pass for a setting.
  test.each([
    ['operator:\n  namespace: Spotalis_System', 'operator.namespace is not the name of a namespace: "Spotalis_System"'],
    [
      'operator:\n  leaderElection:\n    namespace: a/b',
      'leaderElection.namespace is not the name of a namespace: "a/b"',
    ],
    ['controllers:\n  watchNamespaces: [Shop]', 'watchNamespaces[0] is not the name of a namespace: ["Shop"]'],
    ['allocation:\n  excludedNamespaces: [kube-*]', 'excludedNamespaces[0] is not the name of a namespace'],
    ['rightsizing:\n  allowedPolicyNamespaces: ["*", team-*]', 'allowedPolicyNamespaces[1] is neither'],
    ['rightsizing:\n  prometheus:\n    url: prometheus:9090', 'prometheus.url is not an http or https URL'],
    ['rightsizing:\n  prometheus:\n    url: http://me:secret@prometheus', 'without user and fragment'],
    ['rightsizing:\n  prometheus:\n    allowedUrls: ["*.example.org"]', 'allowedUrls[0] is not an http or https URL'],
    [
      'rightsizing:\n  prometheus:\n    allowedUrls: ["https://p*.example.org"]',
      'allowedUrls[0] is not an http or https URL',
    ],
    ['rightsizing:\n  custom: [{ name: a, url: nowhere }]', 'custom[0].url is not an http or https URL'],
    ['web:\n  allowedHosts: ["stowage.example.org:8083"]', 'allowedHosts[0] is not a host name'],
    ['web:\n  allowedHosts: ["https://stowage.example.org"]', 'allowedHosts[0] is not a host name'],
  ])('%j is refused', (text, message) => {
    expect(problemsOf(text)).toEqual([expect.stringContaining(message)]);
  });

  test.each([
    ['a password', 'secret'],
    ['one that is longer than what is quoted', `secret${'x'.repeat(400)}`],
  ])('a URL with %s is refused without telling it', (_, password) => {
    const [problem] = problemsOf(`rightsizing:\n  prometheus:\n    url: http://me:${password}@prometheus`);
    expect(problem).toContain('"http://...@prometheus"');
    expect(problem).not.toContain('secret');
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
