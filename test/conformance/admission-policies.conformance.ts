import { expect, test } from 'vitest';
import { type Cluster, type Namespace, textAt } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import type { Json } from './endpoint.ts';

const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
const BINDINGS = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings';

const configMap = (name: string, data: Json = {}): Json => ({ metadata: { name }, data });

/** A policy over the ConfigMaps of one namespace, in force. */
async function inForce(
  cluster: Cluster,
  { name, configMaps }: Namespace,
  policy: Json,
  binding: Json = {},
): Promise<void> {
  const { must, post, eventually } = cluster;
  const probe = { expression: "object == null || object.metadata.name != 'probe'", message: 'probed' };
  const { validations, ...spec } = policy;
  await must(
    post(POLICIES, {
      metadata: { name },
      spec: {
        matchConstraints: {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
          resourceRules: [
            {
              apiGroups: [''],
              apiVersions: ['v1'],
              operations: ['CREATE', 'UPDATE', 'DELETE'],
              resources: ['configmaps'],
            },
          ],
        },
        ...spec,
        validations: [probe, ...(Array.isArray(validations) ? validations : [])],
      },
    }),
  );
  await must(
    post(BINDINGS, { metadata: { name }, spec: { policyName: name, validationActions: ['Deny'], ...binding } }),
  );
  await eventually(async () => {
    const { status, headers } = await post(`${configMaps}?dryRun=All`, configMap('probe'));
    expect([status, String(headers['warning'] ?? '')].join(' ')).toMatch(/422|probed/);
  });
}

async function remove(cluster: Cluster, { name }: Namespace): Promise<void> {
  await cluster.delete(`${BINDINGS}/${name}`);
  await cluster.delete(`${POLICIES}/${name}`);
}

describeOnBackends('validating admission policies', (cluster) => {
  test('refuse what their expressions refuse, under their reason and with their words', async () => {
    const { post, must, delete: drop, mergePatch, namespace } = cluster();
    const space = await namespace();
    await inForce(cluster(), space, {
      variables: [
        { name: 'mode', expression: "object == null ? 'gone' : object.?data.?mode.orValue('')" },
        { name: 'isWrong', expression: "variables.mode == 'wrong'" },
      ],
      validations: [
        { expression: '!variables.isWrong', reason: 'Forbidden', messageExpression: "'mode is ' + variables.mode" },
        {
          expression:
            "object == null || !has(object.data) || !('size' in object.data) || int(object.data['size']) < 10",
        },
        { expression: "oldObject == null || object != null || oldObject.metadata.name != 'kept'", message: ' stays ' },
      ],
    });
    const denied = `ValidatingAdmissionPolicy '${space.name}' with binding '${space.name}' denied request`;

    const forbidden = await post(space.configMaps, configMap('a', { mode: 'wrong' }));
    expect(forbidden).toMatchObject({
      status: 403,
      body: {
        reason: 'Forbidden',
        message: `configmaps "a" is forbidden: ${denied}: mode is wrong`,
        details: { name: 'a', kind: 'configmaps', causes: [{ message: `${denied}: mode is wrong` }] },
      },
    });
    const large = await post(space.configMaps, configMap('a', { size: '10' }));
    expect(large).toMatchObject({
      status: 422,
      body: {
        reason: 'Invalid',
        message: `configmaps "a" is forbidden: ${denied}: failed expression: object == null || !has(object.data) || !('size' in object.data) || int(object.data['size']) < 10`,
      },
    });
    await must(post(space.configMaps, configMap('kept', { mode: 'right' })));
    expect((await mergePatch(`${space.configMaps}/kept`, { data: { mode: 'wrong' } })).status).toBe(403);
    const gone = await drop(`${space.configMaps}/kept`);
    expect(gone).toMatchObject({ status: 422, body: { message: `configmaps "kept" is forbidden: ${denied}: stays` } });
    await remove(cluster(), space);
  });

  test.each([
    ['Fail', 422],
    ['Ignore', 201],
  ])('whose expression fails: failurePolicy %s is %i', async (failurePolicy, expected) => {
    const { post, namespace } = cluster();
    const space = await namespace();
    await inForce(cluster(), space, {
      failurePolicy,
      validations: [{ expression: "object == null || object.metadata.name == 'probe' || object.data['none'] == 'x'" }],
    });
    const { status, body } = await post(space.configMaps, configMap('a', { some: 'thing' }));
    expect(status).toBe(expected);
    if (expected === 422) expect(textAt(body, 'message')).toContain('resulted in error: no such key: none');
    await remove(cluster(), space);
  });

  test('leave out what their conditions and their bindings leave out', async () => {
    const { post, must, namespace } = cluster();
    const space = await namespace();
    await inForce(
      cluster(),
      space,
      {
        matchConditions: [{ name: 'no-robots', expression: "!object.metadata.name.startsWith('robot')" }],
        validations: [{ expression: "object.metadata.name == 'probe'" }],
      },
      { matchResources: { objectSelector: { matchExpressions: [{ key: 'free', operator: 'DoesNotExist' }] } } },
    );
    expect((await post(space.configMaps, configMap('a'))).status).toBe(422);
    await must(post(space.configMaps, configMap('robot')));
    await must(post(space.configMaps, { metadata: { name: 'b', labels: { free: '' } } }));
    await remove(cluster(), space);
  });

  test('that only warn let through', async () => {
    const { post, namespace } = cluster();
    const space = await namespace();
    const policy = { validations: [{ expression: "object.metadata.name != 'a'", message: 'not a' }] };
    await inForce(cluster(), space, policy, { validationActions: ['Warn'] });
    const { status, headers } = await post(space.configMaps, configMap('a'));
    expect(status).toBe(201);
    expect(String(headers['warning'])).toContain(
      `Validation failed for ValidatingAdmissionPolicy '${space.name}' with binding '${space.name}': not a`,
    );
    await remove(cluster(), space);
  });

  test('know who asks and what for', async () => {
    const { post, namespace } = cluster();
    const space = await namespace();
    await inForce(cluster(), space, {
      validations: [
        {
          expression:
            "object.metadata.name == 'probe' || (request.operation == 'CREATE' && request.resource.resource == 'configmaps' && " +
            "request.userInfo.?extra[?'example.com/none'][?0].orValue('nobody') == 'nobody' && 'system:masters' in request.userInfo.groups && " +
            'namespaceObject.metadata.name == request.namespace && request.name == object.metadata.name)',
        },
      ],
    });
    expect((await post(space.configMaps, configMap('a'))).status).toBe(201);
    await remove(cluster(), space);
  });

  test.each([
    ['no validations', { validations: [] }, 'spec.validations'],
    ['no constraints', { matchConstraints: undefined }, 'spec.matchConstraints'],
    ['an expression that is none', { validations: [{ expression: '1 +' }] }, 'spec.validations[0].expression'],
    ['another reason', { validations: [{ expression: 'true', reason: 'Because' }] }, 'spec.validations[0].reason'],
  ])('with %s are 422', async (_, settings, field) => {
    const { post, namespace } = cluster();
    const { name } = await namespace();
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };
    const spec = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true' }], ...settings };
    const { status, body } = await post(`${POLICIES}?dryRun=All`, { metadata: { name }, spec });
    expect(status).toBe(422);
    expect(body).toMatchObject({ details: { causes: expect.arrayContaining([expect.objectContaining({ field })]) } });
  });
});
