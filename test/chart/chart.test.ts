/** The chart under the real helm: linted and rendered with every values file; what it must always say; what it must refuse. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { renderDeployManifests } from '../../scripts/deploy-manifests.ts';
import { renderValuesSchema } from '../../scripts/values-schema.ts';
import { readSettings } from '../../src/agent/settings.ts';
import { loadConfig } from '../../src/config/load.ts';
import { runHelm } from './helm.ts';
import { at, CHART, configTextOf, findHelm, type Manifest, render, renderChart, root, theOnly } from './render.ts';

const { programs, missing } = await findHelm();
const valuesFiles = readdirSync(join(root, CHART, 'ci')).map((name) => `${CHART}/ci/${name}`);
const clusterScoped = /^(?:Cluster|Namespace$|MutatingWebhook|ValidatingWebhook|CustomResource|PriorityClass)/;
const isWorkload = ({ kind = '' }: Manifest): boolean => ['Deployment', 'DaemonSet', 'Pod'].includes(kind);
const podSpecOf = (object: Manifest): unknown => at(object, object.kind === 'Pod' ? 'spec' : 'spec.template.spec');
const containersOf = (object: Manifest): readonly unknown[] => {
  const found = at(podSpecOf(object), 'containers');
  return Array.isArray(found) ? found : [];
};

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

  describe('the webhook', () => {
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

  describe('the agent', () => {
    const set = ['engines.allocation=true'];

    test('reads control groups and writes nothing on its node, whatever node that is', () => {
      const daemonSet = theOnly(render(programs, { set }), 'DaemonSet');
      expect(podSpecOf(daemonSet)).toMatchObject({
        tolerations: [{ operator: 'Exists' }],
        volumes: [{ name: 'cgroup', hostPath: { path: '/sys/fs/cgroup', type: 'Directory' } }],
      });
      expect(containersOf(daemonSet)).toMatchObject([
        {
          args: ['agent', '--cgroup-root=/host/sys/fs/cgroup', '--bind-address=:8082'],
          volumeMounts: [{ mountPath: '/host/sys/fs/cgroup', readOnly: true }],
        },
      ]);
      const spec = podSpecOf(daemonSet);
      for (const shared of ['hostPID', 'hostNetwork', 'hostIPC']) expect(at(spec, shared)).toBeUndefined();
    });

    test('is told what the operator is told, and what is meant for it alone', () => {
      const more = [
        'config.allocation.managementMode=optOut',
        'config.allocation.excludedNamespaces={a,b}',
        'agent.config.samplingInterval=2s',
        'agent.config.allocation\\.apply=observe',
        'config.allocation.apply=limits',
      ];
      const map = theOnly(render(programs, { set: [...set, ...more] }), 'ConfigMap', 'mbcas-agent-config');
      expect(map['data']).toEqual({
        'allocation.managementMode': 'optOut',
        'allocation.excludedNamespaces': 'a,b',
        'allocation.apply': 'observe',
        samplingInterval: '2s',
      });
      const configMap = Object(map['data']);
      expect(readSettings({ configMap, env: {} })).toMatchObject({ problems: [], settings: { samplingMillis: 2000 } });
    });

    test.each([[['a', 'b']], [['kube-system']], [[]]])(
      'excluded namespaces %j mean the same to operator and agent: these, and no others',
      (excludedNamespaces) => {
        const objects = render(programs, {
          inline: { engines: { allocation: true }, config: { allocation: { excludedNamespaces } } },
        });
        const configMap = Object(theOnly(objects, 'ConfigMap', 'mbcas-agent-config')['data']);
        const { settings, problems } = readSettings({ configMap, env: {} });
        const { config } = loadConfig({ text: configTextOf(objects), fileName: 'config.yaml', env: {} });
        expect(problems).toEqual([]);
        expect(settings.rules.excludedNamespaces).toEqual(excludedNamespaces);
        expect(config.allocation.excludedNamespaces).toEqual(excludedNamespaces);
      },
    );

    test('is not there without its engine', () => {
      expect(render(programs).filter(({ kind }) => kind === 'DaemonSet')).toEqual([]);
    });
  });

  test('keeps itself off spot nodes of every cloud', () => {
    const affinityOf = (set: readonly string[]) =>
      at(podSpecOf(theOnly(render(programs, { set }), 'Deployment')), 'affinity.nodeAffinity');
    expect(
      at(affinityOf([]), 'preferredDuringSchedulingIgnoredDuringExecution.0.preference.matchExpressions'),
    ).toContainEqual({ key: 'karpenter.sh/capacity-type', operator: 'NotIn', values: ['spot'] });
    expect(
      at(
        affinityOf(['onDemandAffinity=required']),
        'requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.0',
      ),
    ).toHaveProperty('matchExpressions');
    expect(affinityOf(['onDemandAffinity=none'])).toBeUndefined();
  });

  test.each([
    ['a typo', ['replicaCout=3'], "additional properties 'replicaCout' not allowed"],
    ['a typo in a section', ['image.repo=x'], "at '/image': additional properties 'repo' not allowed"],
    ['a typo in the configuration', ['config.controllers.workers=3'], "additional properties 'workers' not allowed"],
    ['a wrong kind', ['webhook.port=https'], "at '/webhook/port': got string, want integer"],
    ['a wrong choice', ['rbac.scope=tenant'], "at '/rbac/scope': value must be one of 'cluster', 'namespace'"],
    ['a number out of range', ['replicaCount=0'], 'minimum: got 0, want 1'],
    ['what the chart knows itself', ['config.engines.placement=false'], "additional properties 'engines' not allowed"],
    ['namespaces without any', ['rbac.scope=namespace'], "at '/config': missing property 'controllers'"],
    [
      'namespaces with certificates of the operator',
      ['rbac.scope=namespace', 'config.controllers.watchNamespaces={shop}'],
      'Set webhook.certManager.enabled or webhook.tls.existingSecret',
    ],
    [
      'the agent with Roles only',
      [
        'rbac.scope=namespace',
        'config.controllers.watchNamespaces={shop}',
        'webhook.certManager.enabled=true',
        'engines.allocation=true',
      ],
      'engines.allocation needs rbac.scope: cluster',
    ],
    [
      'watched namespaces with a ClusterRole',
      ['config.controllers.watchNamespaces={shop}'],
      'goes with rbac.scope: namespace',
    ],
  ])('refuses %s with a clear message', (_what, set, message) => {
    const rendered = renderChart(programs, { set });
    expect(rendered.ok ? 'accepted' : rendered.message).toContain(message);
  });

  test('deploy/ is current: npm run manifests writes it', () => {
    const rendered = renderDeployManifests(programs, root);
    for (const [path, text] of rendered) expect(readFileSync(join(root, path), 'utf8'), path).toBe(text);
    const files = readdirSync(join(root, 'deploy'), { recursive: true, encoding: 'utf8' });
    expect(new Set(files.filter((name) => name.endsWith('.yaml')).map((name) => `deploy/${name}`))).toEqual(
      // The definitions are written by npm run docs.
      new Set([...rendered.keys(), 'deploy/crds.yaml']),
    );
  });
});
