import { expect, onTestFinished, test } from 'vitest';
import { at, type Cluster, type Namespace, textAt } from './cluster.ts';
import { describeOnBackends } from './describe-on-backends.ts';
import type { Json } from './endpoint.ts';
import { eviction, pod, runningStatus } from './objects.ts';

const LABELS = { app: 'a' };
const REFUSAL = "Cannot evict pod as it would violate the pod's disruption budget.";

/** Bound, running, ready pods without a controller. */
async function readyPods(
  { post, must, namespace, node, strategicPatch }: Cluster,
  names: readonly string[],
): Promise<Namespace> {
  const created = await namespace();
  const nodeName = await node();
  for (const name of names) {
    await must(post(created.pods, pod(name, { labels: LABELS, nodeName })));
    await must(strategicPatch(`${created.pods}/${name}/status`, { status: runningStatus() }));
  }
  return created;
}

/** What the disruption controller has counted once it knows all pods, and not only those it met before the budget. */
interface Counted {
  readonly expectedPods: number;
  readonly currentHealthy: number;
}

/** Makes a budget and waits until the disruption controller has counted: just this, where it matters. */
async function budget(
  { post, get, must, eventually }: Cluster,
  { budgets }: Namespace,
  name: string,
  spec: object,
  counted?: Counted,
): Promise<void> {
  await must(post(budgets, { metadata: { name }, spec: { selector: { matchLabels: LABELS }, ...spec } }));
  await eventually(async () => {
    expect((await get(`${budgets}/${name}`)).body).toMatchObject({ status: { observedGeneration: 1, ...counted } });
  });
}

const ADMISSION = '/apis/admissionregistration.k8s.io/v1';

/** From now on this is refused in the namespace, once the API server knows of it. @returns how to end that. */
async function refuse(
  { post, must, delete: remove }: Cluster,
  { name }: Namespace,
  rules: readonly Json[],
): Promise<() => Promise<void>> {
  const matchConstraints = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
    resourceRules: rules,
  };
  const spec = { matchConstraints, validations: [{ expression: 'false' }] };
  await must(post(`${ADMISSION}/validatingadmissionpolicies`, { metadata: { name }, spec }));
  const binding = { metadata: { name }, spec: { policyName: name, validationActions: ['Deny'] } };
  await must(post(`${ADMISSION}/validatingadmissionpolicybindings`, binding));
  const lift = async (): Promise<void> => {
    await remove(`${ADMISSION}/validatingadmissionpolicybindings/${name}`);
    await remove(`${ADMISSION}/validatingadmissionpolicies/${name}`);
  };
  onTestFinished(lift);
  return lift;
}

/** From now on no budget of the namespace gets a status: its controller is refused what it writes. */
async function freezeStatuses(cluster: Cluster, space: Namespace): Promise<void> {
  const { post, must, mergePatch, eventually } = cluster;
  const { budgets } = space;
  const rule = { apiGroups: ['policy'], apiVersions: ['v1'], operations: ['UPDATE'] };
  await refuse(cluster, space, [{ ...rule, resources: ['poddisruptionbudgets/status'] }]);
  await must(post(budgets, { metadata: { name: 'probe' }, spec: { selector: { matchLabels: { app: 'none' } } } }));
  await eventually(async () => {
    const { status } = await mergePatch(`${budgets}/probe/status?dryRun=All`, { status: { expectedPods: 7 } });
    expect(status).toBe(422);
  });
}

describeOnBackends('evictions', (cluster) => {
  test('without a budget is 201 and marks the pod for deletion with a condition', async () => {
    const { post, get } = cluster();
    const { pods } = await readyPods(cluster(), ['a']);
    const answer = await post(`${pods}/a/eviction`, eviction('a'));
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ kind: 'Status', status: 'Success', code: 201 });
    const evicted = (await get(`${pods}/a`)).body;
    expect(evicted).toMatchObject({
      metadata: { deletionTimestamp: expect.any(String), deletionGracePeriodSeconds: 30 },
    });
    expect(at(evicted, 'status', 'conditions')).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          type: 'DisruptionTarget',
          status: 'True',
          reason: 'EvictionByEvictionAPI',
          message: 'Eviction API: evicting',
        }),
      ]),
    );
  });

  test('of a pod that is being evicted already is 201 again, and leaves its condition as it is', async () => {
    const { post, get, must } = cluster();
    const { pods } = await readyPods(cluster(), ['a']);
    await must(post(`${pods}/a/eviction`, eviction('a')));
    const first = (await get(`${pods}/a`)).body;
    expect((await post(`${pods}/a/eviction`, eviction('a'))).status).toBe(201);
    expect(at((await get(`${pods}/a`)).body, 'status', 'conditions')).toEqual(at(first, 'status', 'conditions'));
  });

  test('is what admission is asked about, not the deletion it ends in; nobody comes to own what it writes', async () => {
    const { post, get, must, eventually, delete: remove } = cluster();
    const space = await readyPods(cluster(), ['a']);
    const rule = { apiGroups: [''], apiVersions: ['v1'] };
    const lift = await refuse(cluster(), space, [
      { ...rule, operations: ['DELETE'], resources: ['pods'] },
      { ...rule, operations: ['UPDATE'], resources: ['pods/status'] },
    ]);
    const pod = `${space.pods}/a`;
    const deletionIs = (status: number) =>
      eventually(async () => expect((await remove(`${pod}?dryRun=All`)).status).toBe(status));
    await deletionIs(422);
    const before = await must(get(pod));
    expect((await post(`${pod}/eviction`, eviction('a'))).status).toBe(201);
    const evicted = await must(get(pod));
    expect(evicted).toHaveProperty('metadata.deletionTimestamp');
    expect(at(evicted, 'metadata', 'managedFields')).toEqual(at(before, 'metadata', 'managedFields'));
    // Or nobody could clean up.
    await lift();
    await deletionIs(200);
  });

  test('takes the grace period of its delete options', async () => {
    const { post, get, must } = cluster();
    const { pods } = await readyPods(cluster(), ['a']);
    await must(post(`${pods}/a/eviction`, eviction('a', { gracePeriodSeconds: 7 })));
    expect((await get(`${pods}/a`)).body).toMatchObject({ metadata: { deletionGracePeriodSeconds: 7 } });
  });

  test('that would break the budget is 429 with cause DisruptionBudget, and changes nothing', async () => {
    const { post, get } = cluster();
    const namespace = await readyPods(cluster(), ['a', 'b']);
    await budget(cluster(), namespace, 'guard', { minAvailable: 2 }, { expectedPods: 2, currentHealthy: 2 });
    const { status, body, headers } = await post(`${namespace.pods}/a/eviction`, eviction('a'));
    expect(status).toBe(429);
    expect(body).toMatchObject({
      reason: 'TooManyRequests',
      code: 429,
      message: REFUSAL,
      details: {
        causes: [
          {
            reason: 'DisruptionBudget',
            message: 'The disruption budget guard needs 2 healthy pods and has 2 currently',
          },
        ],
      },
    });
    expect(headers).not.toHaveProperty('retry-after');
    expect((await get(`${namespace.pods}/a`)).body).not.toHaveProperty('metadata.deletionTimestamp');
  });

  test('uses up the budget, and is remembered in it until the pod is gone', async () => {
    const { post, get } = cluster();
    const namespace = await readyPods(cluster(), ['a', 'b', 'c']);
    await budget(cluster(), namespace, 'guard', { minAvailable: 2 }, { expectedPods: 3, currentHealthy: 3 });
    expect((await post(`${namespace.pods}/a/eviction`, eviction('a'))).status).toBe(201);
    const { status } = (await get(`${namespace.budgets}/guard`)).body;
    expect(status).toMatchObject({ disruptionsAllowed: 0 });
    expect((await post(`${namespace.pods}/b/eviction`, eviction('b'))).status).toBe(429);
  });

  test('just after the budget was made is 429 that asks to come back', async () => {
    const { post, must } = cluster();
    const namespace = await readyPods(cluster(), ['a']);
    await freezeStatuses(cluster(), namespace);
    // The status of a budget that no controller has looked at yet: generation 1, observed 0.
    const spec = { selector: { matchLabels: LABELS }, minAvailable: 0 };
    await must(post(namespace.budgets, { metadata: { name: 'guard' }, spec }));
    const { status, body, headers } = await post(`${namespace.pods}/a/eviction`, eviction('a'));
    expect(status).toBe(429);
    expect(body).toMatchObject({
      details: {
        causes: [
          {
            reason: 'DisruptionBudget',
            message: 'The disruption budget guard is still being processed by the server.',
          },
        ],
        retryAfterSeconds: 10,
      },
    });
    expect(headers['retry-after']).toBe('10');
  });

  test('of a pod in two budgets is 500', async () => {
    const { post } = cluster();
    const namespace = await readyPods(cluster(), ['a', 'b']);
    await budget(cluster(), namespace, 'one', { minAvailable: 0 });
    await budget(cluster(), namespace, 'two', { minAvailable: 0 });
    const { status, body } = await post(`${namespace.pods}/a/eviction`, eviction('a'));
    expect(status).toBe(500);
    expect(body['message']).toBe(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  });

  test('of a pod that is not ready passes a budget that is met, and AlwaysAllow passes any', async () => {
    const { post, must, strategicPatch } = cluster();
    const namespace = await readyPods(cluster(), ['a', 'b', 'c']);
    for (const name of ['b', 'c']) {
      await must(strategicPatch(`${namespace.pods}/${name}/status`, { status: runningStatus(undefined, false) }));
    }
    // Three pods were there before two of them were ready no more.
    await budget(cluster(), namespace, 'guard', { minAvailable: 1 }, { expectedPods: 3, currentHealthy: 1 });
    expect((await post(`${namespace.pods}/b/eviction`, eviction('b'))).status).toBe(201);
    expect((await post(`${namespace.pods}/a/eviction`, eviction('a'))).status).toBe(429);
    await must(cluster().delete(`${namespace.budgets}/guard`));
    await budget(cluster(), namespace, 'strict', { minAvailable: 3, unhealthyPodEvictionPolicy: 'IfHealthyBudget' });
    expect((await post(`${namespace.pods}/c/eviction`, eviction('c'))).status).toBe(429);
    await must(cluster().delete(`${namespace.budgets}/strict`));
    await budget(cluster(), namespace, 'lenient', { minAvailable: 3, unhealthyPodEvictionPolicy: 'AlwaysAllow' });
    expect((await post(`${namespace.pods}/c/eviction`, eviction('c'))).status).toBe(201);
  });

  test('of a pod that never ran, or has ended, asks no budget', async () => {
    const { post, must, mergePatch } = cluster();
    const namespace = await readyPods(cluster(), ['a', 'done']);
    await must(post(namespace.pods, pod('pending', { labels: LABELS })));
    await must(mergePatch(`${namespace.pods}/done/status`, { status: { phase: 'Succeeded' } }));
    await budget(cluster(), namespace, 'guard', { minAvailable: 5 });
    expect((await post(`${namespace.pods}/pending/eviction`, eviction('pending'))).status).toBe(201);
    expect((await post(`${namespace.pods}/done/eviction`, eviction('done'))).status).toBe(201);
  });

  test('with another uid as precondition is 409, and changes nothing', async () => {
    const { post, get } = cluster();
    const { pods } = await readyPods(cluster(), ['a']);
    const answer = await post(`${pods}/a/eviction`, eviction('a', { preconditions: { uid: 'another' } }));
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({ reason: 'Conflict' });
    expect((await get(`${pods}/a`)).body).not.toHaveProperty('metadata.deletionTimestamp');
  });

  test('with the right uid and resourceVersion as preconditions goes through', async () => {
    const { post, get } = cluster();
    const { pods } = await readyPods(cluster(), ['a']);
    const { body } = await get(`${pods}/a`);
    const preconditions = {
      uid: textAt(body, 'metadata', 'uid'),
      resourceVersion: textAt(body, 'metadata', 'resourceVersion'),
    };
    expect(
      (await post(`${pods}/a/eviction`, eviction('a', { preconditions: { ...preconditions, resourceVersion: '1' } })))
        .status,
    ).toBe(409);
    expect((await post(`${pods}/a/eviction`, eviction('a', { preconditions }))).status).toBe(201);
  });

  test('of no pod is 404, with another name 400', async () => {
    const { post } = cluster();
    const { pods } = await readyPods(cluster(), ['a']);
    const none = await post(`${pods}/none/eviction`, eviction('none'));
    expect(none.status).toBe(404);
    expect(none.body).toMatchObject({ reason: 'NotFound', message: 'pods "none" not found' });
    const other = await post(`${pods}/a/eviction`, eviction('b'));
    expect(other.status).toBe(400);
    expect(other.body['message']).toBe('name in URL does not match name in Eviction object');
  });

  test.each([
    ['the query', '?dryRun=All', undefined],
    ['its delete options', '', { dryRun: ['All'] }],
  ])('as dry run in %s is 201, asks the budget, and uses up nothing', async (_, query, deleteOptions) => {
    const { post, get } = cluster();
    const namespace = await readyPods(cluster(), ['a', 'b']);
    await budget(cluster(), namespace, 'guard', { minAvailable: 1 }, { expectedPods: 2, currentHealthy: 2 });
    expect((await post(`${namespace.pods}/a/eviction${query}`, eviction('a', deleteOptions))).status).toBe(201);
    expect((await get(`${namespace.pods}/a`)).body).not.toHaveProperty('metadata.deletionTimestamp');
    expect((await get(`${namespace.budgets}/guard`)).body).toMatchObject({ status: { disruptionsAllowed: 1 } });
    expect((await post(`${namespace.pods}/a/eviction`, eviction('a'))).status).toBe(201);
    expect((await post(`${namespace.pods}/b/eviction${query}`, eviction('b', deleteOptions))).status).toBe(429);
  });
});
