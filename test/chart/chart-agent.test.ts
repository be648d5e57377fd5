/** The node agents of the chart, and what they are told. */
import { describe, expect, test } from 'vitest';
import { readSettings } from '../../src/agent/settings.ts';
import { loadConfig } from '../../src/config/load.ts';
import { containersOf, podSpecOf } from './pod-specs.ts';
import { at, configTextOf, findHelm, render, theOnly } from './render.ts';

const { programs, missing } = await findHelm();
const POLICY_BINDING = 'ValidatingAdmissionPolicyBinding';

describe.skipIf(missing !== undefined)('the agent of the chart', () => {
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

  test('is not sent to nodes that are no machines, or it would wait there for ever', () => {
    const affinityWith = (...more: readonly string[]): unknown =>
      at(podSpecOf(theOnly(render(programs, { set: [...set, ...more] }), 'DaemonSet')), 'affinity.nodeAffinity');
    const required = 'requiredDuringSchedulingIgnoredDuringExecution';
    const matchExpressions = [
      { key: 'eks.amazonaws.com/compute-type', operator: 'NotIn', values: ['fargate'] },
      { key: 'type', operator: 'NotIn', values: ['virtual-kubelet'] },
    ];
    expect(affinityWith()).toEqual({ [required]: { nodeSelectorTerms: [{ matchExpressions }] } });
    expect(affinityWith('agent.affinity=null')).toBeUndefined();
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

  test('is told numbers as they are written, also large ones, which helm reads as floating point', () => {
    const config = { 'allocation.one': 2_000_000, 'allocation.two': 12_345_678_901, three: 1.5, four: false };
    const map = theOnly(
      render(programs, { inline: { engines: { allocation: true }, agent: { config } } }),
      'ConfigMap',
      'mbcas-agent-config',
    );
    expect(map['data']).toEqual({
      'allocation.one': '2000000',
      'allocation.two': '12345678901',
      three: '1.5',
      four: 'false',
    });
  });

  test('is not there without its engine', () => {
    const kinds = new Set(render(programs).map(({ kind }) => kind));
    for (const kind of ['DaemonSet', 'ValidatingAdmissionPolicy', POLICY_BINDING]) expect(kinds).not.toContain(kind);
  });

  test.each([
    ['spotalis-system', [], 'stowage-agent'],
    ['platform', ['fullnameOverride=other'], 'other-agent'],
    ['spotalis-system', ['agent.serviceAccount.name=meter'], 'meter'],
  ])('is held to its own node by its account in %s %j, %s', (namespace, more, account) => {
    const objects = render(programs, { set: [...set, ...more], namespace });
    const policy = theOnly(objects, 'ValidatingAdmissionPolicy');
    const { name } = policy.metadata ?? {};
    expect(policy['spec']).toMatchObject({
      failurePolicy: 'Fail',
      matchConditions: [{ expression: `request.userInfo.username == 'system:serviceaccount:${namespace}:${account}'` }],
    });
    const binding = { policyName: name, validationActions: ['Deny'] };
    expect(theOnly(objects, POLICY_BINDING)['spec']).toEqual(binding);
    expect(at(theOnly(objects, 'ClusterRoleBinding', name), 'subjects.0')).toEqual({
      kind: 'ServiceAccount',
      name: account,
      namespace,
    });
  });

  test('is not held where the cluster cannot', () => {
    const objects = render(programs, { set: [...set, 'agent.nodeBoundWrites=false'] });
    const admission = objects.filter(({ kind }) => kind?.startsWith('ValidatingAdmission'));
    expect(admission).toEqual([]);
    theOnly(objects, 'DaemonSet');
  });
});
