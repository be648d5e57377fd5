/** How the chart has the API server call the webhook. */
import { describe, expect, test } from 'vitest';
import { containersOf } from './pod-specs.ts';
import { at, CHART, findHelm, render, theOnly } from './render.ts';

const { programs, missing } = await findHelm();

describe.skipIf(missing !== undefined)('the webhook of the chart', () => {
  const hookOf = (values: string) =>
    at(
      theOnly(render(programs, { values: [`${CHART}/ci/${values}.yaml`] }), 'MutatingWebhookConfiguration'),
      'webhooks.0',
    );

  test('lets pods in when it does not answer, waits two seconds, and is never asked about its own namespace', () => {
    expect(hookOf('default')).toMatchObject({
      failurePolicy: 'Ignore',
      timeoutSeconds: 2,
      sideEffects: 'NoneOnDryRun',
      namespaceSelector: {
        matchExpressions: [
          { key: 'spotalis.io/enabled', operator: 'In', values: ['true'] },
          { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['spotalis-system', 'kube-system'] },
        ],
      },
    });
  });

  test('asks in the watched namespaces, whatever their labels, with Roles only', () => {
    expect(at(hookOf('namespaced'), 'namespaceSelector.matchExpressions.0')).toEqual({
      key: 'kubernetes.io/metadata.name',
      operator: 'In',
      values: ['shop', 'mail'],
    });
  });

  test('with rightsizing is asked about new pods everywhere, and about each once', () => {
    const selectorsOf = (...set: readonly string[]) => {
      const hooks = at(theOnly(render(programs, { set }), 'MutatingWebhookConfiguration'), 'webhooks');
      return (Array.isArray(hooks) ? hooks : []).map((hook) => [
        at(hook, 'name'),
        at(hook, 'namespaceSelector.matchExpressions.0.operator'),
        at(hook, 'namespaceSelector.matchLabels'),
      ]);
    };
    expect(selectorsOf()).toEqual([['pod.spotalis.io', 'In', undefined]]);
    expect(selectorsOf('engines.rightsizing=true', 'rightsizing.namespaceLabels.optimize=yes')).toEqual([
      ['pod.spotalis.io', 'In', undefined],
      ['sizes.optipod.io', 'NotIn', { optimize: 'yes' }],
    ]);
    expect(selectorsOf('engines.placement=false', 'engines.rightsizing=true')).toEqual([
      ['sizes.optipod.io', 'NotIn', undefined],
    ]);
    const scoped = ['rbac.scope=namespace', 'config.controllers.watchNamespaces={shop}'];
    const certificates = 'webhook.tls.existingSecret=x';
    expect(selectorsOf(...scoped, certificates, 'engines.rightsizing=true')).toEqual([
      ['pod.spotalis.io', 'In', undefined],
    ]);
    expect(selectorsOf(...scoped, certificates, 'engines.rightsizing=true', 'engines.placement=false')).toEqual([
      ['sizes.optipod.io', 'In', undefined],
    ]);
  });

  test('Fail is for enabled namespaces and policies: pods elsewhere, a network among them, never wait for the operator', () => {
    const policiesOf = (...set: readonly string[]) => {
      const objects = render(programs, { set: ['webhook.failurePolicy=Fail', ...set] });
      const configurations = objects.filter(({ kind }) => kind?.endsWith('WebhookConfiguration'));
      const hooks = configurations.flatMap((configuration) => at(configuration, 'webhooks'));
      return Object.fromEntries(hooks.map((hook) => [at(hook, 'name'), at(hook, 'failurePolicy')]));
    };
    expect(policiesOf('engines.rightsizing=true')).toEqual({
      'pod.spotalis.io': 'Fail',
      'sizes.optipod.io': 'Ignore',
      'policies.optipod.io': 'Fail',
    });
    expect(policiesOf('engines.rightsizing=true', 'engines.placement=false')).toEqual({
      'sizes.optipod.io': 'Ignore',
      'policies.optipod.io': 'Fail',
    });
  });

  test('gets its authority from cert-manager, from the values, or from the operator', () => {
    const annotationsOf = (values: string) =>
      theOnly(render(programs, { values: [`${CHART}/ci/${values}.yaml`] }), 'MutatingWebhookConfiguration').metadata
        ?.annotations;
    expect(annotationsOf('cert-manager')).toEqual({
      'cert-manager.io/inject-ca-from': 'spotalis-system/stowage-webhook',
    });
    expect(at(hookOf('existing-secret'), 'clientConfig.caBundle')).toMatch(/^LS0t/);
    expect(at(hookOf('default'), 'clientConfig.caBundle')).toBeUndefined();
  });

  test('with cert-manager it is signed by an authority that stays, with its key, when it is renewed', () => {
    const objects = render(programs, { values: [`${CHART}/ci/cert-manager.yaml`] });
    const specOf = (kind: string, name: string) => theOnly(objects, kind, name)['spec'];
    const leaf = specOf('Certificate', 'stowage-webhook');
    const authority = specOf('Certificate', 'stowage-webhook-ca');
    expect(at(leaf, 'issuerRef')).toEqual({ kind: 'Issuer', name: 'stowage-webhook-ca' });
    expect(specOf('Issuer', 'stowage-webhook-ca')).toEqual({ ca: { secretName: at(authority, 'secretName') } });
    expect(authority).toMatchObject({
      isCA: true,
      privateKey: { rotationPolicy: 'Never' },
      issuerRef: { kind: 'Issuer', name: 'stowage-selfsigned' },
    });
    expect(specOf('Issuer', 'stowage-selfsigned')).toEqual({ selfSigned: {} });
    const hours = (spec: unknown): number => Number.parseInt(String(at(spec, 'duration')), 10);
    expect(hours(authority)).toBeGreaterThan(10 * hours(leaf));

    const own = render(programs, { values: [`${CHART}/ci/cert-manager-issuer.yaml`] });
    expect(own.filter(({ kind }) => kind === 'Issuer')).toEqual([]);
    expect(at(theOnly(own, 'Certificate'), 'spec.issuerRef')).toEqual({ kind: 'ClusterIssuer', name: 'company' });
  });

  test('leads to the Service, whose port leads to the container', () => {
    const objects = render(programs, { values: [`${CHART}/ci/everything-set.yaml`] });
    const service = theOnly(objects, 'Service');
    expect(at(theOnly(objects, 'MutatingWebhookConfiguration'), 'webhooks.0.clientConfig.service')).toEqual({
      name: service.metadata?.name,
      namespace: service.metadata?.namespace,
      path: '/mutate',
      port: 443,
    });
    expect(at(service, 'spec.ports')).toContainEqual({ name: 'webhook', port: 443, targetPort: 'webhook' });
    const [container] = containersOf(theOnly(objects, 'Deployment'));
    expect(at(container, 'ports')).toEqual([
      { name: 'metrics', containerPort: 18080 },
      { name: 'health', containerPort: 18081 },
      { name: 'webhook', containerPort: 10250 },
    ]);
  });
});
