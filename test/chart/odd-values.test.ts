/** Values that are valid and unusual: the chart and what it installs understand them alike. */
import { describe, expect, test } from 'vitest';
import { at, findHelm, type Manifest, render, theOnly } from './render.ts';

const { programs, missing } = await findHelm();

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
