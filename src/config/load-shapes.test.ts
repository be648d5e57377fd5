import { describe, expect, test } from 'vitest';
import { nodeProfilesOf } from './checks.ts';
import { configOf, load, problemsOf } from './testing/load-text.ts';

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
      'config.yaml:2: nodeLabels.spot (controllers.nodeClassifier.spotLabels) is not a label and its value: "capacity"; accepted: key=value, such as karpenter.sh/capacity-type=spot, or a list as of the key itself',
    ]);
    expect(problemsOf('nodeLabels:\n  onDemand: 7')).toEqual([
      expect.stringContaining('nodeLabels.onDemand (controllers.nodeClassifier.onDemandLabels) is not a list: 7'),
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

describe('OptiPod’s file', () => {
  test.each([
    [
      'of its design',
      'dryRun: true\nmetricsProvider: prometheus\nprometheusURL: http://p:9090\nleaderElection: true\nreconciliationInterval: 5m',
    ],
    [
      'as shipped',
      'dry-run: "true"\nmetrics-provider: prometheus\nprometheus-url: http://p:9090\nleader-election: "true"\nreconciliation-interval: 5m',
    ],
  ])('%s is understood, without warnings', (_, text) => {
    const { config, warnings } = load(text);
    expect(warnings).toEqual([]);
    expect(config.rightsizing).toMatchObject({
      dryRun: true,
      provider: 'prometheus',
      prometheus: { url: 'http://p:9090' },
      reconcileInterval: 300_000,
    });
    expect(config.operator.leaderElection.enabled).toBe(true);
  });

  test.each(['metrics', 'health'])('the address 0 switches the server of %s off, wherever it is written', (name) => {
    const variable = `SPOTALIS_${name.toUpperCase()}_BIND_ADDRESS`;
    const flat = name === 'metrics' ? 'metrics-bind-address' : 'health-probe-bind-address';
    const texts = [`${flat}: "0"`, `${flat}: 0`, `${name}:\n  bindAddress: "0"`];
    const nested = `observability:\n  ${name}:\n    bindAddress: "0"`;
    const others = [nested, `${nested}\n    enabled: true`, `observability:\n  ${name}:\n    enabled: false`];
    const [off, ...more] = [...texts, ...others].map((text) => configOf(text));
    expect(off?.observability).toMatchObject({ [name]: { enabled: false } });
    for (const config of [...more, configOf('', { [variable]: '0' })]) expect(config).toEqual(off);
  });

  test('the dashboard as well; a number other than 0 is no address', () => {
    expect(configOf('web:\n  bindAddress: "0"').web.enabled).toBe(false);
    expect(problemsOf('metrics-bind-address: 8080')).toEqual([
      expect.stringContaining('metrics-bind-address (observability.metrics.bindAddress) is not text: 8080'),
    ]);
  });

  test('its custom provider names no source, so there is none to fall back to; what it did not know is refused', () => {
    expect(configOf('metricsProvider: custom').rightsizing.provider).toBe('none');
    expect(problemsOf('metrics-provider: datadog')).toEqual([
      expect.stringContaining('metrics-provider (rightsizing.provider) is not known: "datadog"'),
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

  test('what has nothing in it is as if it were not there: a selector, a part of one, and values', () => {
    const { namespaceSelector, nodeClassifier } = configOf(`
controllers:
  namespaceSelector:
    matchLabels:
    matchExpressions:
  nodeClassifier:
    spotLabels:
      - matchLabels:
        matchExpressions:
          - key: cloud.google.com/gke-spot
            operator: Exists
            values:
    onDemandLabels:
    absenceMeansOnDemand: true
`).controllers;
    expect(namespaceSelector).toStrictEqual({});
    expect(nodeClassifier.spotLabels).toStrictEqual([
      { matchExpressions: [{ key: 'cloud.google.com/gke-spot', operator: 'Exists' }] },
    ]);
    expect(nodeClassifier.onDemandLabels).toEqual([]);
    expect(configOf('controllers:\n  namespaceSelector:\n').controllers.namespaceSelector).toBeUndefined();
  });

  const classifier = (yaml: string): string => `controllers:\n  nodeClassifier:\n    ${yaml}\n`;

  test.each([
    ['spotLabels: [{}]', 'spotLabels[0] has an empty selector, which would match every node'],
    ['spotLabels: [{matchLabels: {}}]', 'spotLabels[0] has an empty selector'],
    ['spotLabels: [{matchLabels: , matchExpressions: }]', 'spotLabels[0] has an empty selector'],
    ['spotLabels: [{matchLabels: {a: }}]', 'spotLabels[0].matchLabels.a must be text in quotes'],
    ['spotLabels: [{matchLabels: a}]', 'spotLabels[0].matchLabels must hold labels with values'],
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
