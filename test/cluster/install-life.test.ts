/** What becomes of an installation on the real control plane: newer definitions, a stop at night, a webhook that is gone, a namespace that is deleted. */
import { describe, expect, inject, test } from 'vitest';
import { type CustomResourceDefinition, customResourceDefinition } from '../../src/api/crd/crd.ts';
import { crdDescriptions } from '../../src/api/crd/crds.ts';
import { APPLY_DEFINITIONS } from '../../src/api/pruned-field.ts';
import { resources } from '../../src/api/resources.ts';
import { NAMESPACE, RELEASE } from '../chart/installation.ts';
import { findHelm } from '../chart/render.ts';
import { FAST, FULL_NAME, useInstalledChart } from './installed-chart.ts';
import { parseMetrics, sumOf } from './metrics-text.ts';
import { useRealCluster } from './real-cluster.ts';
import { deploy, managedNamespace, podsOf, policy, scale, untilSides } from './workloads.ts';

const { programs, missing } = await findHelm();
const { own } = inject('cluster');
const OWN_LABELS = `app.kubernetes.io/name=stowage,app.kubernetes.io/instance=${RELEASE}`;
const WEBHOOKS = 'mutatingwebhookconfigurations,validatingwebhookconfigurations';

/** As an earlier version may have had it: without columns, and without a category. */
function older(definition: CustomResourceDefinition): CustomResourceDefinition {
  const { categories: _, ...names } = definition.spec.names;
  const versions = definition.spec.versions.map((version) => ({ ...version, additionalPrinterColumns: [] }));
  return { ...definition, spec: { ...definition.spec, names, versions } };
}

describe.skipIf(missing !== undefined || own === undefined)('an installation', () => {
  const cluster = useRealCluster();
  const { installation, operator, install, bundle } = useInstalledChart(programs, cluster);
  const kubectl = (args: readonly string[], input?: string): string => installation().kubectl(args, input);
  /** Those of our webhooks that the API server could not call, as it counts them itself. */
  const countOf = (name: string, labels: Readonly<Record<string, string>>): number =>
    sumOf(parseMetrics(kubectl(['get', '--raw', '/metrics'])), name, labels);

  test('definitions that helm installed are brought up to date by the documented command, and not without taking them over', async () => {
    await install('all-engines');
    const definitions = crdDescriptions.map(customResourceDefinition);
    const documents = (all: readonly CustomResourceDefinition[]): string =>
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: all });
    kubectl(
      ['apply', '--server-side', '--force-conflicts', '--field-manager=helm', '-f', '-'],
      documents(definitions.map(older)),
    );
    const [, command = ''] = APPLY_DEFINITIONS.split(' | kubectl ');
    const args = command.split(' ');
    const withoutForce = args.filter((word) => word !== '--force-conflicts');
    expect(() => kubectl(withoutForce, documents(definitions))).toThrow(/conflicts? with "helm"/);
    kubectl(args, documents(definitions));
    // Now they are whoever applies them.
    kubectl(withoutForce, documents(definitions));
    const namespace = await cluster().namespace();
    for (const group of ['optipod.io', 'optipod.optipod.io']) {
      const object = {
        apiVersion: `${group}/v1alpha1`,
        kind: 'OptimizationPolicy',
        metadata: { name: 'sizes', namespace },
        spec: {
          mode: 'Disabled',
          selector: { namespaces: { allow: [namespace] } },
          metricsConfig: { provider: 'metrics-server' },
          resourceBounds: { cpu: { min: '10m', max: '1' }, memory: { min: '16Mi', max: '1Gi' } },
          updateStrategy: {},
        },
      };
      kubectl(['apply', '--server-side', '-f', '-'], JSON.stringify(object));
    }
    await cluster().eventually(async () => {
      expect(kubectl(['-n', namespace, 'get', 'optpols', '-o', 'name']).trim().split('\n').sort()).toEqual([
        'optimizationpolicy.optipod.io/sizes',
        'optimizationpolicy.optipod.optipod.io/sizes',
      ]);
    });
    kubectl(['-n', namespace, 'delete', 'optpols', '--all']);
  });

  test('an engine that is switched off again takes its entry out of the webhook configuration, into which the operator wrote', async () => {
    const names = async (): Promise<string[]> => {
      const found = await cluster().api.get(resources.mutatingWebhookConfigurations, `${FULL_NAME}-mutating-webhook`);
      return (found.webhooks ?? []).map(({ name }) => name);
    };
    await install('all-engines');
    const authority = await bundle();
    expect(authority).not.toBe('');
    expect(await names()).toEqual(['pod.spotalis.io', 'sizes.optipod.io']);
    await install('default');
    expect(await names()).toEqual(['pod.spotalis.io']);
    expect(await bundle()).toBe(authority);
    await install('rightsizing', 'engines.placement=false');
    expect(await names()).toEqual(['sizes.optipod.io']);
    expect(await bundle()).toBe(authority);
  });

  test('stopped by scaling to 0 it comes back by an upgrade', async () => {
    await install('default');
    await operator().stop();
    kubectl(['-n', NAMESPACE, 'scale', `deploy/${FULL_NAME}`, '--replicas=0']);
    installation().upgrade({
      values: ['charts/stowage/ci/default.yaml'],
      set: [FAST, 'config.operator.readOnlyMode=true'],
    });
    const { spec } = await cluster().api.get(resources.deployments, FULL_NAME, { namespace: NAMESPACE });
    expect(spec?.replicas).toBe(2);
  });

  test('failurePolicy Fail: without the operator no pod of its namespaces starts, the API server counts it, and the way out works', async () => {
    await install('default', 'webhook.failurePolicy=Fail');
    const namespace = await managedNamespace(cluster());
    await deploy(cluster(), namespace, 2, policy(50, 0));
    await untilSides(cluster(), namespace, 1, 1);
    await operator().stop();
    const labels = { name: 'pod.spotalis.io', error_type: 'calling_webhook_error', type: 'admit', operation: 'CREATE' };
    const before = countOf('apiserver_admission_webhook_rejection_count', labels);
    await scale(cluster(), 'deployments', namespace, 'web', 4);
    await cluster().eventually(async () =>
      expect(countOf('apiserver_admission_webhook_rejection_count', labels)).toBeGreaterThan(before + 1),
    );
    expect(await podsOf(cluster(), namespace)).toHaveLength(2);
    kubectl(['delete', WEBHOOKS, '-l', OWN_LABELS]);
    await cluster().eventually(async () => expect(await podsOf(cluster(), namespace)).toHaveLength(4));
    // The next upgrade makes it anew.
    await install('default');
    expect(kubectl(['get', WEBHOOKS, '-l', OWN_LABELS, '-o', 'name'])).toContain(FULL_NAME);
  });

  test('its namespace deleted under it: it ends, pods stay and new ones start; what is left belongs to no namespace, and goes by its label', async () => {
    await install('default');
    const namespace = await managedNamespace(cluster());
    await deploy(cluster(), namespace, 4, policy(50, 0));
    await untilSides(cluster(), namespace, 2, 2);
    const uids = async (): Promise<string[]> =>
      (await podsOf(cluster(), namespace)).map(({ metadata }) => metadata?.uid ?? '').sort();
    const before = await uids();
    kubectl(['delete', 'namespace', NAMESPACE, '--timeout=120s']);
    await cluster().eventually(async () => expect(operator().isRunning()).toBe(false));
    expect(await uids()).toEqual(before);
    const labels = { name: 'pod.spotalis.io', type: 'admit' };
    const passedBy = countOf('apiserver_admission_webhook_fail_open_count', labels);
    await scale(cluster(), 'deployments', namespace, 'web', 6);
    await cluster().eventually(async () => expect(await uids()).toHaveLength(6));
    expect(countOf('apiserver_admission_webhook_fail_open_count', labels)).toBeGreaterThan(passedBy + 1);
    const ofCluster = `${WEBHOOKS},clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings`;
    expect(kubectl(['get', ofCluster, '-l', OWN_LABELS, '-o', 'name'])).toContain('mutatingwebhookconfiguration');
    kubectl(['delete', ofCluster, '-l', OWN_LABELS]);
    expect(kubectl(['get', ofCluster, '-l', OWN_LABELS, '-o', 'name'])).toBe('');
    await install('default');
    await untilSides(cluster(), namespace, 3, 3);
  });
});
