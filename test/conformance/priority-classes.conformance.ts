import { randomBytes } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { at, textAt } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import type { Json } from './endpoint.ts';
import { pod } from './objects.ts';

const CLASSES = '/apis/scheduling.k8s.io/v1/priorityclasses';

describeOnBackends('priority classes', (cluster) => {
  const made: string[] = [];
  afterEach(async () => {
    for (const name of made.splice(0)) await cluster().delete(`${CLASSES}/${name}`);
  });
  const nameIt = (): string => {
    const name = `conformance-${randomBytes(5).toString('hex')}`;
    made.push(name);
    return name;
  };
  const make = async (content: Json): Promise<string> => {
    const name = nameIt();
    await cluster().must(cluster().post(CLASSES, { metadata: { name }, ...content }));
    return name;
  };
  const podWith = (spec: Json): Json => {
    const whole = pod('a');
    return { ...whole, spec: { ...(at(whole, 'spec') as Json), ...spec } };
  };

  test('of the system are there and stay', async () => {
    const { get, call } = cluster();
    expect((await get(`${CLASSES}/system-node-critical`)).body).toMatchObject({
      metadata: { generation: 1 },
      value: 2_000_001_000,
      description: 'Used for system critical pods that must not be moved from their current node.',
      preemptionPolicy: 'PreemptLowerPriority',
    });
    expect((await get(`${CLASSES}/system-cluster-critical`)).body).toMatchObject({ value: 2_000_000_000 });
    const { status, body } = await call('DELETE', `${CLASSES}/system-node-critical`);
    expect(status).toBe(403);
    expect(body['message']).toBe(
      'priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a system priority class and cannot be deleted',
    );
  });

  test('are of value 0 and preempt unless they say otherwise', async () => {
    const { body } = await cluster().post(CLASSES, { metadata: { name: nameIt() } });
    expect(body).toMatchObject({ value: 0, preemptionPolicy: 'PreemptLowerPriority', metadata: { generation: 1 } });
  });

  test.each<[string, string | undefined, Json, string]>([
    [
      'of a value for the system',
      undefined,
      { value: 1_000_000_001 },
      'value: Forbidden: maximum allowed value of a user defined priority is 1000000000',
    ],
    [
      'of a name for the system',
      'system-probe',
      { value: 7 },
      "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-probe is not a known system priority class",
    ],
    [
      'of an unknown policy',
      undefined,
      { value: 7, preemptionPolicy: 'Maybe' },
      'preemptionPolicy: Unsupported value: "Maybe": supported values: "PreemptLowerPriority", "Never"',
    ],
  ])('%s are refused', async (_, given, content, message) => {
    const name = given ?? nameIt();
    const { status, body } = await cluster().post(CLASSES, { metadata: { name }, ...content });
    expect(status).toBe(422);
    expect(body['message']).toBe(`PriorityClass.scheduling.k8s.io "${name}" is invalid: ${message}`);
  });

  test('keep their value and policy', async () => {
    const { mergePatch } = cluster();
    const name = await make({ value: 1000 });
    const value = await mergePatch(`${CLASSES}/${name}`, { value: 1001 });
    expect(value.status).toBe(422);
    expect(textAt(value.body, 'message')).toContain('value: Forbidden: may not be changed in an update.');
    const policy = await mergePatch(`${CLASSES}/${name}`, { preemptionPolicy: 'Never' });
    expect(policy.status).toBe(422);
    expect(textAt(policy.body, 'message')).toContain('preemptionPolicy: Invalid value: "Never": field is immutable');
    expect((await mergePatch(`${CLASSES}/${name}`, { description: 'x' })).status).toBe(200);
  });

  test('have one default at most, which pods without a class get', async () => {
    const { post, must, mergePatch, namespace, eventually } = cluster();
    const { pods } = await namespace();
    const plain = await make({ value: 1000 });
    const first = await make({ value: 5, globalDefault: true, preemptionPolicy: 'Never' });
    const second = nameIt();
    const another = { metadata: { name: second }, value: 6, globalDefault: true };
    // The admission knows classes from a watch.
    await eventually(async () => expect((await post(`${CLASSES}?dryRun=All`, another)).status).toBe(403));
    const refused = await post(CLASSES, another);
    expect(refused.status).toBe(403);
    const why = `PriorityClass ${first} is already marked as default. Only one default can exist`;
    expect(refused.body['message']).toBe(`priorityclasses.scheduling.k8s.io "${second}" is forbidden: ${why}`);
    expect((await mergePatch(`${CLASSES}/${plain}`, { globalDefault: true })).body['message']).toBe(
      `priorityclasses.scheduling.k8s.io "${plain}" is forbidden: ${why}`,
    );
    const { body } = await post(pods, pod('a'));
    expect(body['spec']).toMatchObject({ priority: 5, priorityClassName: first, preemptionPolicy: 'Never' });
    await must(cluster().delete(`${CLASSES}/${first}`));
    await eventually(async () => {
      const { body: without } = await post(`${pods}?dryRun=All`, pod('b'));
      expect(without['spec']).toMatchObject({ priority: 0 });
    });
  });

  test('give pods their value', async () => {
    const { post, namespace, eventually } = cluster();
    const { pods } = await namespace();
    const priorityClassName = await make({ value: 1000 });
    // The admission knows classes from a watch.
    await eventually(async () => {
      const { body } = await post(`${pods}?dryRun=All`, podWith({ priorityClassName }));
      expect(body['spec']).toMatchObject({
        priority: 1000,
        priorityClassName,
        preemptionPolicy: 'PreemptLowerPriority',
      });
    });
  });

  test('of the system may be used anywhere', async () => {
    const { post, namespace } = cluster();
    const { pods } = await namespace();
    const { body } = await post(pods, podWith({ priorityClassName: 'system-node-critical' }));
    expect(body['spec']).toMatchObject({ priority: 2_000_001_000 });
  });

  test.each<[string, Json, string]>([
    ['a class that is not there', { priorityClassName: 'nope' }, 'no PriorityClass with name nope was found'],
    [
      'a priority of its own',
      { priority: 7 },
      'the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
    ],
    [
      'a policy of its own',
      { preemptionPolicy: 'Never' },
      'the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name',
    ],
  ])('a pod with %s is refused', async (_, spec, why) => {
    const { post, namespace } = cluster();
    const { pods } = await namespace();
    const { status, body } = await post(pods, podWith(spec));
    expect(status).toBe(403);
    expect(body['message']).toBe(`pods "a" is forbidden: ${why}`);
  });
});
