import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../../api/core.ts';
import { customResourceDefinition, customResourceDefinitions } from '../../../api/crd/crd.ts';
import type { KubeApi } from '../../../api/kube-api.ts';
import { podAllocations } from '../../../api/pod-allocation.ts';
import { podAllocationDescription } from '../../../api/pod-allocation-schema.ts';
import type { ResourceType } from '../../../api/resources.ts';
import { isObject, type JsonObject, toJson } from '../json.ts';
import { type Caller, callerNamed } from '../request.ts';
import { createTestServer, IN_DEFAULT } from '../testing/test-server.ts';

const type = (plural: string, kind: string): ResourceType<KubeObject & JsonObject> => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural,
  kind,
  namespaced: false,
});
const POLICIES = type('validatingadmissionpolicies', 'ValidatingAdmissionPolicy');
const BINDINGS = type('validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding');
const CONFIG_MAPS: ResourceType<KubeObject & JsonObject> = {
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
};

const policy = (spec: JsonObject): KubeObject & JsonObject => ({
  metadata: { name: 'p' },
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }],
    },
    ...spec,
  },
});
const binding = (spec: JsonObject = {}): KubeObject & JsonObject => ({
  metadata: { name: 'b' },
  spec: { policyName: 'p', validationActions: ['Deny'], ...spec },
});

async function judging(spec: JsonObject, bound: JsonObject = {}): Promise<KubeApi> {
  const { api } = createTestServer();
  await api.create(POLICIES, policy(spec));
  await api.create(BINDINGS, binding(bound));
  return api;
}

describe('a validating admission policy', () => {
  test('without a binding judges nothing', async () => {
    const { api } = createTestServer();
    await api.create(POLICIES, policy({ validations: [{ expression: 'false' }] }));
    await expect(api.create(CONFIG_MAPS, { metadata: { name: 'a' } }, IN_DEFAULT)).resolves.toBeDefined();
  });

  test('may leave resources and names out', async () => {
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] };
    const api = await judging({
      matchConstraints: { resourceRules: [rule], excludeResourceRules: [{ ...rule, resourceNames: ['free'] }] },
      validations: [{ expression: 'false' }],
    });
    await expect(api.create(CONFIG_MAPS, { metadata: { name: 'a' } }, IN_DEFAULT)).rejects.toMatchObject({
      httpStatus: 422,
    });
    await expect(api.create(CONFIG_MAPS, { metadata: { name: 'free' } }, IN_DEFAULT)).resolves.toBeDefined();
  });

  test('evaluates a variable only where it is asked for', async () => {
    const api = await judging({
      variables: [{ name: 'broken', expression: 'object.none.at.all' }],
      validations: [{ expression: "object.metadata.name == 'a' || variables.broken" }],
    });
    await expect(api.create(CONFIG_MAPS, { metadata: { name: 'a' } }, IN_DEFAULT)).resolves.toBeDefined();
    await expect(api.create(CONFIG_MAPS, { metadata: { name: 'b' } }, IN_DEFAULT)).rejects.toThrow(
      'resulted in error: no such key: none',
    );
  });

  test('can be deleted whatever it refuses', async () => {
    const everything = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] };
    const api = await judging({
      matchConstraints: { resourceRules: [everything] },
      validations: [{ expression: 'false' }],
    });
    await expect(api.create(CONFIG_MAPS, { metadata: { name: 'a' } }, IN_DEFAULT)).rejects.toMatchObject({
      httpStatus: 422,
    });
    await api.delete(BINDINGS, 'b');
    await expect(api.create(CONFIG_MAPS, { metadata: { name: 'a' } }, IN_DEFAULT)).resolves.toBeDefined();
  });

  test('warns of each thing that it finds, also where another policy refuses', async () => {
    const { api, server } = createTestServer();
    await api.create(POLICIES, policy({ validations: [{ expression: 'false' }, { expression: '1 > 2' }] }));
    await api.create(BINDINGS, { ...binding(), metadata: { name: 'a' } });
    await api.create(BINDINGS, binding({ validationActions: ['Warn'] }));
    const warnings: string[] = [];
    const context = { caller: callerNamed('alice'), dryRun: false, fieldManager: 'test', warnings };
    const configMaps = server.core.registry.find('', 'v1', 'configmaps');
    if (configMaps === undefined) throw new Error('there are no ConfigMaps');
    await expect(
      server.core.operations.create(configMaps, 'default', { metadata: { name: 'x' } }, context),
    ).rejects.toThrow("with binding 'a' denied request: failed expression: false");
    expect(warnings.map((each) => each.split(': ').slice(1).join(': '))).toEqual([
      'failed expression: false',
      'failed expression: 1 > 2',
    ]);
  });

  test.each([
    ['validations', [{ expression: 'object.spec.list.sum() > 1' }], 'spec.validations[0].expression'],
    ['validations', [{ expression: 'params.size > 1' }], 'spec.validations[0].expression'],
    ['matchConditions', [{ name: 'm', expression: 'variables.a' }], 'spec.matchConditions[0].expression'],
    [
      'variables',
      [
        { name: 'b', expression: 'variables.a' },
        { name: 'a', expression: '1' },
      ],
      'spec.variables[0].expression',
    ],
  ])('that could not be evaluated is refused: %s %j', async (field, values, path) => {
    const { api } = createTestServer();
    await expect(
      api.create(POLICIES, policy({ validations: [{ expression: 'true' }], [field]: values })),
    ).rejects.toThrow(`${path}: Invalid value`);
  });

  test('with parameters is refused: nothing here would judge by them', async () => {
    const { api } = createTestServer();
    await expect(
      api.create(
        POLICIES,
        policy({ paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, validations: [{ expression: 'true' }] }),
      ),
    ).rejects.toThrow('spec.paramKind: Forbidden: the embedded API server judges by no parameters');
  });
});

describe('the policy of the chart for node agents', () => {
  const agentOf = (node: string | undefined): Caller => ({
    name: 'system:serviceaccount:spotalis-system:stowage-agent',
    groups: ['system:authenticated'],
    ...(node === undefined ? {} : { extra: { 'authentication.kubernetes.io/node-name': [node] } }),
  });
  const allocation = (nodeName: string, changes: object = {}) => ({
    metadata: { name: 'u-1', labels: { 'mbcas.io/node': nodeName } },
    spec: {
      podUID: 'u-1',
      namespace: 'default',
      podName: 'a',
      nodeName,
      desiredCPURequest: '100m',
      desiredCPULimit: '1',
      ...changes,
    },
  });

  async function setUp() {
    const world = createTestServer();
    const { api, server } = world;
    await api.create(customResourceDefinitions, customResourceDefinition(podAllocationDescription));
    const profile = readFileSync(join(import.meta.dirname, '../../../../deploy/profiles/allocation.yaml'), 'utf8');
    for (const document of parseAllDocuments(profile)) {
      const object = toJson(document.toJSON());
      if (!isObject(object)) continue;
      const wanted = [POLICIES, BINDINGS].find(({ kind }) => kind === object['kind']);
      if (wanted !== undefined) await api.create(wanted, object);
    }
    return { api, as: (node: string | undefined) => server.client({ user: agentOf(node) }) };
  }

  test('holds an agent to its own node', async () => {
    const { api, as } = await setUp();
    const write = (node: string | undefined, body: ReturnType<typeof allocation>) =>
      as(node).create(podAllocations, body, IN_DEFAULT);
    await expect(write(undefined, allocation('n1'))).rejects.toMatchObject({
      httpStatus: 403,
      message: expect.stringContaining('names no node'),
    });
    await expect(write('n2', allocation('n1'))).rejects.toThrow('may write PodAllocations of its own node only');
    await expect(
      write('n1', { ...allocation('n1'), metadata: { name: 'u-1', labels: { 'mbcas.io/node': 'n2' } } }),
    ).rejects.toThrow('The label mbcas.io/node is not n1');
    await expect(write('n1', allocation('n1', { podUID: 'u-2' }))).rejects.toThrow(
      'names each after the uid of its pod',
    );
    await write('n1', allocation('n1'));
    await expect(as('n2').delete(podAllocations, 'u-1', IN_DEFAULT)).rejects.toThrow(
      'may neither change nor delete it',
    );
    await as('n1').delete(podAllocations, 'u-1', IN_DEFAULT);
    // Others are not judged by it.
    await api.create(podAllocations, allocation('n7'), IN_DEFAULT);
  });
});
