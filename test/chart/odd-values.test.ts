/** Values that are valid and unusual: the chart and what it installs understand them alike. */
import { describe, expect, test } from 'vitest';
import { configAliases } from '../../src/config/aliases.ts';
import { loadConfig } from '../../src/config/load.ts';
import { at, configTextOf, findHelm, type Manifest, render, theOnly } from './render.ts';

const { programs, missing } = await findHelm();

/** Keys of the configuration by which the chart goes itself: ports, probes, rights, how pods are replaced. */
const READ_BY_CHART =
  /^(?:operator\.leaderElection\.(?:enabled|id|namespace)|observability\.(?:metrics|health)\.(?:enabled|bindAddress))$/;

const samples: Readonly<Record<string, unknown>> = {
  enabled: false,
  id: 'own-lease',
  namespace: 'leases',
  bindAddress: ':9090',
};
const spellings = configAliases
  .filter(({ to }) => READ_BY_CHART.test(to))
  .map(({ from, to }): [string, string, unknown] => {
    const value = samples[to.split('.').at(-1) ?? ''];
    return [from, to, from.endsWith('.port') ? 9090 : value];
  });

const configWith = (path: string, value: unknown): unknown =>
  path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
const renderWith = (config: unknown): readonly Manifest[] => render(programs, { inline: { replicaCount: 1, config } });
const loaded = (objects: readonly Manifest[]) =>
  loadConfig({ text: configTextOf(objects), fileName: 'config.yaml', env: {} });
/** The configuration itself is compared as it is understood. */
const besides = (objects: readonly Manifest[]): string =>
  JSON.stringify(objects.filter(({ metadata }) => metadata?.name !== 'stowage-config')).replace(
    /"checksum\/config":"\w+"/g,
    '',
  );

describe.skipIf(missing !== undefined)('keys of the configuration in another spelling', () => {
  test('there are some by which the chart goes', () => {
    expect(spellings.length).toBeGreaterThan(10);
  });

  test.each(spellings)('%s is %s to the chart as well', (from, to, value) => {
    const [other, own] = [configWith(from, value), configWith(to, samples[to.split('.').at(-1) ?? ''])].map(renderWith);
    if (other === undefined || own === undefined) throw new Error('nothing is rendered');
    expect(besides(other)).toBe(besides(own));
    expect(loaded(other)).toEqual(loaded(own));
    expect(loaded(other).warnings).toEqual([]);
    expect(besides(own)).not.toBe(besides(renderWith({})));
  });

  test.each([
    ['metrics-bind-address', '0', 'observability.metrics.enabled', false],
    ['health.bindAddress', 0, 'observability.health.enabled', false],
    ['leader-election', 'no', 'operator.leaderElection.enabled', false],
    ['leaderElection', 'true', 'operator.leaderElection.enabled', true],
  ])('%s: %j is %s: %j', (from, value, to, meant) => {
    const [other, own] = [renderWith(configWith(from, value)), renderWith(configWith(to, meant))];
    expect(besides(other)).toBe(besides(own));
    expect(loaded(other)).toEqual(loaded(own));
  });

  test('what is written in both ways counts as the operator has it, which tells so', () => {
    const config = { metrics: { port: 9090 }, observability: { metrics: { bindAddress: ':9091' } } };
    const objects = renderWith(config);
    const ports = at(theOnly(objects, 'Deployment'), 'spec.template.spec.containers.0.ports');
    expect(ports).toContainEqual({ name: 'metrics', containerPort: 9091 });
    expect(loaded(objects).config.observability.metrics.bindAddress.port).toBe(9091);
    expect(loaded(objects).warnings).toEqual([expect.stringContaining('metrics.port is ignored')]);
  });
});

describe.skipIf(missing !== undefined)('what else may be said', () => {
  test('where nothing is served there is no Service, which could not be made without a port', () => {
    const off = { enabled: false };
    const inline = {
      engines: { placement: false, allocation: true },
      config: { observability: { metrics: off, health: off } },
    };
    const servicesOf = (objects: readonly Manifest[]) => objects.filter(({ kind }) => kind === 'Service');
    expect(servicesOf(render(programs, { inline }))).toEqual([]);
    expect(servicesOf(render(programs, { inline: { ...inline, engines: { placement: true } } }))).toHaveLength(1);
  });

  test('the certificate that metrics are served with is for who forwards a port, too, where the authority is the release’s', () => {
    const namesWith = (certManager: object, tls: boolean): unknown => {
      const config = { observability: { metrics: { tls } } };
      const objects = render(programs, {
        inline: { webhook: { certManager: { enabled: true, ...certManager } }, config },
      });
      return at(theOnly(objects, 'Certificate', 'stowage-webhook'), 'spec.dnsNames');
    };
    expect(namesWith({}, true)).toContain('localhost');
    expect(namesWith({}, false)).not.toContain('localhost');
    expect(namesWith({ issuerRef: { name: 'company' } }, true)).not.toContain('localhost');
  });

  test('a namespace that is listed twice has one Role', () => {
    const set = [
      'rbac.scope=namespace',
      'webhook.certManager.enabled=true',
      'config.controllers.watchNamespaces={shop,mail,shop}',
    ];
    const names = render(programs, { set }).map(
      ({ kind, metadata }) => `${kind} ${metadata?.namespace} ${metadata?.name}`,
    );
    expect(names).toEqual([...new Set(names)]);
    expect(names).toContain('Role shop stowage');
  });

  test('where egress is limited a replica still reaches the one that leads, where there is a webhook', () => {
    const egress = [{ to: [{ ipBlock: { cidr: '10.0.0.1/32' } }] }];
    const rulesWith = (webhook: object): unknown[] => {
      const policy = theOnly(render(programs, { inline: { networkPolicy: { egress }, webhook } }), 'NetworkPolicy');
      const podSelector = at(policy, 'spec.podSelector');
      const rules = [at(policy, 'spec.egress')].flat();
      const [dns, ...others] = rules;
      expect(at(dns, 'ports.0.port')).toBe(53);
      expect(others.at(-1)).toEqual(egress[0]);
      return others.slice(0, -1).map((rule) => [at(rule, 'ports'), at(rule, 'to.0.podSelector'), podSelector]);
    };
    const selector = {
      matchLabels: {
        'app.kubernetes.io/name': 'stowage',
        'app.kubernetes.io/instance': 'stowage',
        'app.kubernetes.io/component': 'operator',
      },
    };
    expect(rulesWith({ port: 9444 })).toEqual([[[{ port: 9444 }], selector, selector]]);
    expect(rulesWith({ enabled: false })).toEqual([]);
  });
});
