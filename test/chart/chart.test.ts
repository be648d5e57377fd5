/** The chart under the real helm: linted and rendered with every values file; what it must always say. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { renderDeployManifests } from '../../scripts/deploy-manifests.ts';
import { renderValuesSchema } from '../../scripts/values-schema.ts';
import { loadConfig } from '../../src/config/load.ts';
import { runHelm } from './helm.ts';
import { containersOf, isWorkload, podSpecOf } from './pod-specs.ts';
import { at, CHART, configTextOf, findHelm, render, root, theOnly } from './render.ts';

const { programs, missing } = await findHelm();
const valuesFiles = readdirSync(join(root, CHART, 'ci')).map((name) => `${CHART}/ci/${name}`);
const clusterScoped =
  /^(?:Cluster|Namespace$|MutatingWebhook|Validating(?:Webhook|Admission)|CustomResource|PriorityClass)/;
test('values.schema.json is current: npm run docs writes it', () => {
  const schema = readFileSync(join(root, CHART, 'values.schema.json'), 'utf8');
  expect(renderValuesSchema(readFileSync(join(root, CHART, 'values.yaml'), 'utf8'))).toBe(schema);
});

describe.skipIf(missing !== undefined)('with helm', () => {
  describe.each(valuesFiles.map((file) => [file]))('%s', (file) => {
    const objects = missing === undefined ? render(programs, { values: [file] }) : [];

    test('passes helm lint --strict', () => {
      const { status, stdout } = runHelm(programs, ['lint', '--strict', CHART, `--values=${file}`], root);
      expect(status, stdout).toBe(0);
      expect(stdout).toContain('0 chart(s) failed');
    });

    test('every object has a name, a namespace where there are some, and the labels of the release', () => {
      expect(objects.length).toBeGreaterThan(4);
      for (const { kind = '', apiVersion, metadata } of objects) {
        expect(apiVersion).toMatch(/v\d/);
        expect(metadata?.name).toMatch(/^[a-z0-9][a-z0-9.-]{0,62}$/);
        expect(metadata?.namespace === undefined, kind).toBe(clusterScoped.test(kind));
        expect(metadata?.labels).toMatchObject({ 'app.kubernetes.io/instance': 'stowage' });
      }
    });

    test('no two objects are the same one', () => {
      const names = objects.map(({ kind, metadata }) => `${kind} ${metadata?.namespace} ${metadata?.name}`);
      expect(new Set(names).size).toBe(names.length);
    });

    test('every container is confined: not root, nothing to write, no privileges, memory bounded', () => {
      for (const object of objects.filter(isWorkload)) {
        expect(at(podSpecOf(object), 'securityContext')).toMatchObject({
          seccompProfile: { type: 'RuntimeDefault' },
        });
        for (const container of containersOf(object)) {
          expect(at(container, 'securityContext')).toMatchObject({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          });
          expect(at(container, 'resources.limits.memory')).toBeTypeOf('string');
          expect(at(container, 'resources.requests.cpu')).toBeTypeOf('string');
        }
      }
    });

    test('nobody may do everything, and no ClusterRole reaches secrets', () => {
      for (const { kind = '', rules } of objects.filter((each) => each.kind?.endsWith('Role') === true)) {
        expect(JSON.stringify(rules), kind).not.toContain('*');
        if (kind === 'ClusterRole') expect(JSON.stringify(rules)).not.toContain('"secrets"');
      }
    });

    test('the namespaces and accounts of bindings are those of the release', () => {
      for (const { roleRef, subjects, metadata } of objects.filter(
        (each) => each.kind?.endsWith('RoleBinding') === true,
      )) {
        const roleName = at(roleRef, 'name');
        const role = objects.find(
          (each) =>
            each.kind === at(roleRef, 'kind') &&
            each.metadata?.name === roleName &&
            each.metadata?.namespace === metadata?.namespace,
        );
        expect(role, `role ${roleName}`).toBeDefined();
        const account = theOnly(
          objects.filter(({ metadata: other }) => other?.name === at(subjects, '0.name')),
          'ServiceAccount',
        );
        expect(account.metadata?.namespace).toBe(at(subjects, '0.namespace'));
      }
    });
  });

  test('who is to scrape metrics behind a token may read no explanation; each has a role of its own', () => {
    const objects = render(programs, { values: [`${CHART}/ci/metrics-token.yaml`] });
    const roles = objects.filter(({ kind, rules }) => kind === 'ClusterRole' && JSON.stringify(rules).includes('URLs'));
    expect(roles.map(({ metadata, rules }) => [metadata?.name, rules])).toEqual([
      ['stowage-explain-reader', [{ nonResourceURLs: ['/explain', '/journal'], verbs: ['get'] }]],
      // Bound by those who scraped before there was another.
      ['stowage-metrics-reader', [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }]],
    ]);
  });

  describe('the configuration', () => {
    const configOf = (...values: string[]) =>
      loadConfig({ text: configTextOf(render(programs, { values })), fileName: 'config.yaml', env: {} });

    test('is accepted without a warning, and knows where it runs', () => {
      const { config, warnings } = configOf(`${CHART}/ci/default.yaml`);
      expect(warnings).toEqual([]);
      expect(config.operator.namespace).toBe('spotalis-system');
      expect(config.webhook).toMatchObject({
        certificates: 'self',
        serviceName: 'stowage',
        secretName: 'stowage-webhook-cert',
        configurationName: 'stowage-mutating-webhook',
        port: 9443,
      });
    });

    test('takes over what config says', () => {
      expect(configOf(`${CHART}/ci/read-only.yaml`).config.operator.readOnlyMode).toBe(true);
      expect(configOf(`${CHART}/ci/namespaced.yaml`).config.controllers.watchNamespaces).toEqual(['shop', 'mail']);
    });

    test('has nothing looked for that may not be read', () => {
      const ownersWith = (...set: readonly string[]) =>
        loadConfig({ text: configTextOf(render(programs, { set })), fileName: 'config.yaml', env: {} }).config.placement
          .owners;
      const [rollout] = ownersWith();
      expect(rollout).toMatchObject({ kind: 'Rollout' });
      expect(ownersWith('rbac.argoRollouts=false', 'config.placement.rounding=floor')).toEqual([]);
      const own = 'config.placement.owners[0].apiVersion=argoproj.io/v1alpha1,config.placement.owners[0].kind=Rollout';
      expect(ownersWith('rbac.argoRollouts=false', own)).toHaveLength(1);
    });

    test('keeps one leader whenever there are several replicas', () => {
      const set = ['replicaCount=2', 'config.operator.leaderElection.enabled=false'];
      expect(configTextOf(render(programs, { set }))).toMatch(/leaderElection:\n +enabled: true/);
      expect(configTextOf(render(programs, { set: [set[1] ?? '', 'replicaCount=1'] }))).toMatch(
        /leaderElection:\n +enabled: false/,
      );
    });

    test('a change of it replaces the pods', () => {
      const checksum = (set: readonly string[]) =>
        at(theOnly(render(programs, { set }), 'Deployment'), 'spec.template.metadata.annotations');
      expect(checksum(['config.operator.readOnlyMode=true'])).not.toEqual(checksum([]));
      expect(checksum(['podDisruptionBudget.enabled=false'])).toEqual(checksum([]));
    });
  });

  test('Services, budgets, policies and monitors select the pods of the operator', () => {
    const objects = render(programs, { values: [`${CHART}/ci/monitoring.yaml`] });
    const labels = at(theOnly(objects, 'Deployment'), 'spec.template.metadata.labels');
    for (const [kind, path] of [
      ['Service', 'spec.selector'],
      ['PodDisruptionBudget', 'spec.selector.matchLabels'],
      ['NetworkPolicy', 'spec.podSelector.matchLabels'],
      ['Deployment', 'spec.selector.matchLabels'],
    ] as const) {
      const selector = at(theOnly(objects, kind), path);
      expect(selector, kind).toBeTypeOf('object');
      expect(labels).toMatchObject(selector as object);
    }
    expect(theOnly(objects, 'Service').metadata?.labels).toMatchObject(
      at(theOnly(objects, 'ServiceMonitor'), 'spec.selector.matchLabels') as object,
    );
  });

  test('who may read metrics is who the values say, and the pod of helm test; an empty list is nobody', () => {
    const peersWith = (metricsFrom: readonly object[]) => {
      const objects = render(programs, { inline: { networkPolicy: { metricsFrom }, engines: { allocation: true } } });
      const isTest = at(theOnly(objects, 'Pod'), 'metadata.labels');
      const ingress = at(theOnly(objects, 'NetworkPolicy', 'stowage'), 'spec.ingress');
      const rules: readonly unknown[] = Array.isArray(ingress) ? ingress : [];
      const metrics = rules.find((rule) => at(rule, 'ports.0.port') === 'metrics');
      const [first, ...others] = [at(metrics, 'from')].flat();
      expect(isTest).toMatchObject(at(first, 'podSelector.matchLabels') as object);
      return [others, at(theOnly(objects, 'NetworkPolicy', 'stowage-agent'), 'spec.ingress')];
    };
    const prometheus = { namespaceSelector: { matchLabels: { team: 'monitoring' } } };
    expect(peersWith([prometheus])).toEqual([[prometheus], [{ ports: [{ port: 'metrics' }], from: [prometheus] }]]);
    expect(peersWith([])).toEqual([[], []]);
  });

  test('metrics over HTTPS are read, by Prometheus and by helm test, with the authority that signed the certificate', () => {
    const objects = render(programs, { values: [`${CHART}/ci/metrics-tls.yaml`] });
    expect(at(theOnly(objects, 'ServiceMonitor'), 'spec.endpoints.0')).toMatchObject({
      scheme: 'https',
      tlsConfig: {
        serverName: 'stowage.spotalis-system.svc',
        ca: { secret: { name: 'stowage-webhook-cert', key: 'ca.crt' } },
      },
    });
    const pod = theOnly(objects, 'Pod');
    expect(at(pod, 'spec.containers.0.args.1')).toBe('https://stowage.spotalis-system.svc:8080');
    expect(at(pod, 'spec.containers.0.env')).toContainEqual({
      name: 'NODE_EXTRA_CA_CERTS',
      value: '/etc/stowage-authority/ca.crt',
    });
    expect(at(pod, 'spec.volumes.0.secret')).toEqual({
      secretName: 'stowage-webhook-cert',
      items: [{ key: 'ca.crt', path: 'ca.crt' }],
    });
    expect(at(theOnly(render(programs), 'Pod'), 'spec.volumes')).toBeUndefined();
  });

  test('with Roles only there is no ClusterRole, and a Role in each watched namespace', () => {
    const objects = render(programs, { values: [`${CHART}/ci/namespaced.yaml`] });
    expect(objects.filter(({ kind }) => kind?.startsWith('ClusterRole'))).toEqual([]);
    const namespaces = objects.filter(({ kind }) => kind === 'Role').map(({ metadata }) => metadata?.namespace);
    expect(new Set(namespaces)).toEqual(new Set(['shop', 'mail', 'spotalis-system']));
  });

  test.each([
    [[], /^ghcr\.io\/stowage\/stowage:\d/],
    [['image.registry=', 'image.repository=stowage', 'image.tag=local'], /^stowage:local$/],
    [['image.registry=registry.example.com:5000'], /^registry\.example\.com:5000\/stowage\/stowage:\d/],
  ])('the image of %j', (set, expected) => {
    const workloads = render(programs, { set: [...set, 'engines.allocation=true'] }).filter(isWorkload);
    const images = workloads.flatMap(containersOf).map((container) => at(container, 'image'));
    expect(images.length).toBeGreaterThan(1);
    for (const image of images) expect(image).toMatch(expected);
  });

  test('what is ours is known whatever nameOverride says; of what its pods are part is the user’s to say', () => {
    const OURS = ['metadata', 'labels', 'app.kubernetes.io/part-of'];
    const labelsOf = (set: readonly string[]) =>
      render(programs, { set: ['nameOverride=sizes', 'engines.allocation=true', ...set] })
        .filter(({ kind }) => kind === 'Deployment' || kind === 'DaemonSet')
        .map((workload) => [
          OURS.reduce<unknown>((part, key) => Object(part)[key], workload),
          OURS.reduce<unknown>((part, key) => Object(part)[key], at(workload, 'spec.template')),
        ]);
    expect(labelsOf([])).toEqual([
      ['stowage', 'stowage'],
      ['stowage', 'stowage'],
    ]);
    const own = 'podLabels.app\\.kubernetes\\.io/part-of=platform';
    expect(labelsOf([own, `agent.${own}`])).toEqual([
      ['stowage', 'platform'],
      ['stowage', 'platform'],
    ]);
  });

  test('deploy/ is current: npm run manifests writes it', () => {
    const rendered = renderDeployManifests(programs, root);
    for (const [path, text] of rendered) expect(readFileSync(join(root, path), 'utf8'), path).toBe(text);
    const files = readdirSync(join(root, 'deploy'), { recursive: true, encoding: 'utf8' });
    expect(new Set(files.filter((name) => name.endsWith('.yaml')).map((name) => `deploy/${name}`))).toEqual(
      // The definitions are written by npm run docs; the rights of people are not the chart's.
      new Set([...rendered.keys(), 'deploy/crds.yaml', 'deploy/rbac-reader.yaml']),
    );
  });
});
