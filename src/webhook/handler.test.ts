import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Deployment, KubeObject, Namespace, Pod, ReplicaSet } from '../api/core.ts';
import type { JsonPatchOperation, KubeApi } from '../api/kube-api.ts';
import { KubeError } from '../api/kube-error.ts';
import { createClaimLedger } from '../decide/placement/claims.ts';
import { createPolicyReader } from '../decide/placement/policy.ts';
import { createSilentLogger } from '../lib/log.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import type { PlacementSettings } from '../model/placement-settings.ts';
import { createSides } from '../model/sides.ts';
import { createLiveView } from '../observe/live-view.ts';
import { createProjections } from '../observe/project.ts';
import { createPodInterners } from '../observe/project-pod.ts';
import { createManualStores } from '../observe/testing/manual-stores.ts';
import { testSettings } from '../observe/testing/placement-settings.ts';
import { createCatchUp } from './catch-up.ts';
import { createCoordinatedHandler } from './coordinate.ts';
import { type AdmissionObservation, createMutateHandler } from './handler.ts';
import { createLiveOwners } from './live-owners.ts';

interface WorldOptions {
  readonly settings?: Partial<PlacementSettings>;
  readonly annotations?: Record<string, string>;
  readonly labels?: Record<string, string>;
  readonly namespaceLabels?: Record<string, string>;
  readonly replicas?: number;
  /** Objects the API has though no cache shows them. */
  readonly api?: readonly KubeObject[];
  /** Leave the ReplicaSet out of the caches. */
  readonly isReplicaSetCached?: boolean;
}

const enabled = { 'spotalis.io/enabled': 'true' };
const seventyOne = { 'spotalis.io/spot-percentage': '70', 'spotalis.io/min-on-demand': '1' };

function deploymentOf(options: WorldOptions): Deployment {
  const { labels = enabled, annotations = seventyOne, replicas = 10 } = options;
  return {
    metadata: { name: 'web', namespace: 'shop', uid: 'd1', labels, annotations },
    spec: { replicas, selector: {}, template: {} },
  };
}

const replicaSet: ReplicaSet = {
  metadata: {
    name: 'web-abc',
    namespace: 'shop',
    uid: 'rs1',
    labels: { 'pod-template-hash': 'abc' },
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'd1', controller: true }],
  },
  spec: { selector: {} },
};

function createWorld(options: WorldOptions = {}) {
  const { namespaceLabels = enabled, api: liveObjects = [], isReplicaSetCached = true } = options;
  const clock = createVirtualClock(Date.UTC(2026, 0, 31));
  const stores = createManualStores();
  const namespace: Namespace = { metadata: { name: 'shop', uid: 'ns', labels: namespaceLabels } };
  stores.namespaces.put(namespace);
  stores.deployments.put(deploymentOf(options));
  if (isReplicaSetCached) stores.replicaSets.put(replicaSet);
  const get = async (_: unknown, name: string) => {
    const found = liveObjects.find((object) => object.metadata?.name === name);
    if (found === undefined) throw new KubeError(404, undefined, 'not found');
    return found;
  };
  const log = createSilentLogger();
  const view = createLiveView(stores);
  const settings = testSettings(options.settings);
  const rules = { settings, sides: createSides(settings.nodeClasses), readPolicy: createPolicyReader(settings) };
  const ledger = createClaimLedger({ ttlMillis: settings.claimTtlMillis });
  const observations: AdmissionObservation[] = [];
  const handle = createMutateHandler({
    owners: createLiveOwners({
      view,
      api: { get } as unknown as KubeApi,
      projections: createProjections(() => {}),
      clock,
      log,
      budgetMillis: 150,
    }),
    rules: () => rules,
    ledger,
    catchUp: createCatchUp(view, clock),
    interners: createPodInterners(100),
    clock,
    log,
    onAnswer: (observation) => observations.push(observation),
  });
  return { clock, stores, ledger, observations, handle };
}

function podOf(fields: { metadata?: object; spec?: object } = {}): Pod {
  return {
    metadata: {
      generateName: 'web-abc-',
      labels: { app: 'web' },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-abc', uid: 'rs1', controller: true }],
      ...fields.metadata,
    },
    spec: { containers: [{ name: 'app' }], ...fields.spec },
  };
}

function reviewOf(uid: string, object: unknown, fields: object = {}): string {
  const kind = { group: '', version: 'v1', kind: 'Pod' };
  const request = { uid, operation: 'CREATE', kind, namespace: 'shop', object, ...fields };
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request });
}

interface Response {
  readonly uid: string;
  readonly allowed: boolean;
  readonly patch: readonly JsonPatchOperation[] | undefined;
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

type Handle = ReturnType<typeof createMutateHandler>;

async function ask(handle: Handle, body: string): Promise<Response> {
  const { status, body: text } = await handle(body);
  expect(status).toBe(200);
  const { response } = JSON.parse(text) as { response: Record<string, unknown> };
  const { uid, allowed, patch, warnings = [], auditAnnotations = {} } = response;
  return {
    uid: String(uid),
    allowed: allowed === true,
    patch: typeof patch === 'string' ? JSON.parse(Buffer.from(patch, 'base64').toString('utf8')) : undefined,
    warnings: warnings as string[],
    auditAnnotations: auditAnnotations as Record<string, string>,
  };
}

/** The side a patch steers to. */
function sideOf(response: Response): string | undefined {
  for (const operation of response.patch ?? []) {
    if (operation.op !== 'add') continue;
    if (operation.path === '/spec/nodeSelector') return Object.values(operation.value as Record<string, string>)[0];
    if (operation.path === '/spec/nodeSelector/karpenter.sh~1capacity-type') return String(operation.value);
  }
  return undefined;
}

async function countSides(responses: Iterable<Promise<Response>>): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const response of await Promise.all(responses)) {
    const side = sideOf(response) ?? 'unsteered';
    counts[side] = (counts[side] ?? 0) + 1;
  }
  return counts;
}

/** The pod the API server stores after applying the patch. */
function created(name: string, response: Response): Pod {
  const annotations = response.patch?.find(({ path }) => path === '/metadata/annotations');
  return podOf({
    metadata: {
      name,
      namespace: 'shop',
      uid: name,
      annotations: annotations?.op === 'add' ? annotations.value : {},
    },
    spec: { nodeSelector: { 'karpenter.sh/capacity-type': sideOf(response) } },
  });
}

describe('bursts', () => {
  test('case 28: ten concurrent requests against an empty cache land exactly 7/3', async () => {
    const { handle } = createWorld();
    const asked = Array.from({ length: 10 }, (_, index) => ask(handle, reviewOf(`r${index}`, podOf())));
    expect(await countSides(asked)).toEqual({ spot: 7, 'on-demand': 3 });
  });

  test('case 28: also when the owner has to be read live meanwhile', async () => {
    const { handle } = createWorld({ isReplicaSetCached: false, api: [replicaSet] });
    const asked = Array.from({ length: 10 }, (_, index) => ask(handle, reviewOf(`r${index}`, podOf())));
    expect(await countSides(asked)).toEqual({ spot: 7, 'on-demand': 3 });
  });

  test('hazard H13: three replicas, of which one decides, are as exact as one', async () => {
    const leader = createWorld({ replicas: 100 });
    const replicas = [leader, createWorld({ replicas: 100 }), createWorld({ replicas: 100 })].map((world) =>
      createCoordinatedHandler({
        decide: world.handle,
        isLeader: () => world === leader,
        forward: async (body) => leader.handle(body),
      }),
    );
    const asked = Array.from({ length: 100 }, (_, index) => {
      const handle = replicas[index % 3] ?? leader.handle;
      return ask((body) => handle(body, false), reviewOf(`r${index}`, podOf()));
    });
    expect(await countSides(asked)).toEqual({ spot: 70, 'on-demand': 30 });
  });

  test('a pod placed without the leader says so on the pod', async () => {
    const { handle } = createWorld();
    const { patch } = await ask((body) => handle(body, false), reviewOf('r1', podOf()));
    expect(patch?.at(-1)).toEqual({
      op: 'add',
      path: '/metadata/annotations/spotalis.io~1unconfirmed',
      value: 'true',
    });
  });

  test('a burst of 1,000 is exact', async () => {
    const { handle } = createWorld({ replicas: 1_000 });
    const asked = Array.from({ length: 1_000 }, (_, index) => ask(handle, reviewOf(`r${index}`, podOf())));
    expect(await countSides(asked)).toEqual({ spot: 700, 'on-demand': 300 });
  });

  test('for any interleaving with pods appearing in the cache the result is exact', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 20, maxLength: 20 }), async (appears) => {
        const { handle, stores } = createWorld({ replicas: 20 });
        const responses: Promise<Response>[] = [];
        for (const [index, isVisible] of appears.entries()) {
          const response = await ask(handle, reviewOf(`r${index}`, podOf()));
          responses.push(Promise.resolve(response));
          if (isVisible) stores.pods.put(created(`p${index}`, response));
        }
        expect(await countSides(responses)).toEqual({ spot: 14, 'on-demand': 6 });
      }),
      { numRuns: 20 },
    );
  });
});

describe('caches that lag behind', () => {
  /** Four pods at 50 %: two on each side, all of them visible. */
  async function fullWorld() {
    const world = createWorld({ replicas: 4, annotations: { 'spotalis.io/spot-percentage': '50' } });
    const pods: Pod[] = [];
    for (let index = 0; index < 4; index++) {
      const pod = created(`p${index}`, await ask(world.handle, reviewOf(`r${index}`, podOf())));
      world.stores.pods.put(pod);
      pods.push(pod);
    }
    const late = { answer: undefined as Response | undefined };
    const asked = ask(world.handle, reviewOf('late', podOf())).then((response) => {
      late.answer = response;
    });
    return { ...world, pods, late, asked };
  }
  const capacityOf = (pod: Pod | undefined) => pod?.spec?.nodeSelector?.['karpenter.sh/capacity-type'];

  test.each([0, 1, 2, 3])(
    'the replacement of pod %i waits until its end is seen, and takes its side',
    async (index) => {
      const { clock, stores, pods, late, asked } = await fullWorld();
      await clock.advance(30);
      expect(late.answer).toBeUndefined();
      const lost = pods[index];
      stores.pods.put({ ...lost, metadata: { ...lost?.metadata, deletionTimestamp: '2026-01-31T00:00:00Z' } });
      await asked;
      expect(sideOf(late.answer ?? ({} as Response))).toBe(capacityOf(lost));
      expect(clock.pendingTimers()).toBe(0);
    },
  );

  test('a scale-up is waited for too: the new pods fill the new slots', async () => {
    const { stores, late, asked, ledger } = await fullWorld();
    stores.deployments.put(deploymentOf({ replicas: 5, annotations: { 'spotalis.io/spot-percentage': '50' } }));
    await asked;
    expect(late.answer?.auditAnnotations.slot).toBe('5');
    expect(ledger.size()).toBe(1);
  });

  test('no longer than 400 ms: then it is decided on what is known', async () => {
    const { clock, late, asked } = await fullWorld();
    await clock.advance(399);
    expect(late.answer).toBeUndefined();
    await clock.advance(1);
    await asked;
    expect(late.answer?.auditAnnotations.slot).toBe('5');
  });

  test('the same request again gets the same answer at once', async () => {
    const { clock, handle, late, asked } = await fullWorld();
    await clock.advance(400);
    await asked;
    expect(await ask(handle, reviewOf('late', podOf()))).toEqual(late.answer);
  });
});

describe('what is left alone', () => {
  const unchanged = { allowed: true, patch: undefined };

  test.each<[string, string, object]>([
    ['case 18: another kind', 'UnsupportedResource', { kind: { group: 'apps', version: 'v1', kind: 'Deployment' } }],
    ['case 18: a Pod of another group', 'UnsupportedResource', { kind: { group: 'x', version: 'v1', kind: 'Pod' } }],
    ['an update', 'UnsupportedResource', { operation: 'UPDATE' }],
    ['a subresource', 'UnsupportedResource', { subResource: 'eviction' }],
    ['case 19: a pod without owner', 'NoManagedOwner', { object: podOf({ metadata: { ownerReferences: [] } }) }],
    [
      'an owner of a foreign group',
      'NoManagedOwner',
      {
        object: podOf({
          metadata: {
            ownerReferences: [
              { apiVersion: 'x/v1', kind: 'ReplicaSet', name: 'web-abc', uid: 'rs1', controller: true },
            ],
          },
        }),
      },
    ],
    [
      'an owner that does not control',
      'NoManagedOwner',
      {
        object: podOf({
          metadata: { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-abc', uid: 'rs1' }] },
        }),
      },
    ],
    [
      'a mirror pod',
      'MirrorPod',
      { object: podOf({ metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } }) },
    ],
    ['a pod that names its node', 'AlreadyBound', { object: podOf({ spec: { nodeName: 'n1' } }) }],
  ])('%s: allowed, no patch, uid echoed', async (_, reason, fields) => {
    const { handle, observations } = createWorld();
    expect(await ask(handle, reviewOf('r1', podOf(), fields))).toMatchObject({ ...unchanged, uid: 'r1' });
    expect(observations).toMatchObject([{ decision: { kind: 'unsteered', reason } }]);
  });

  test.each(['150', '-1', 'abc', '70.5'])(
    'case 23: percentage %j: the pod is created unsteered, with a warning',
    async (value) => {
      const { handle } = createWorld({ annotations: { 'spotalis.io/spot-percentage': value } });
      const response = await ask(handle, reviewOf('r1', podOf()));
      expect(response).toMatchObject(unchanged);
      expect(response.warnings.join()).toContain('spotalis.io/spot-percentage');
    },
  );

  test.each([{}, { 'spotalis.io/enabled': 'TRUE' }])(
    'case 24: namespace labels %j: no capacity selector',
    async (namespaceLabels) => {
      const { handle } = createWorld({ namespaceLabels });
      expect(await ask(handle, reviewOf('r1', podOf()))).toMatchObject({ ...unchanged, warnings: [] });
    },
  );

  test('case 31: annotations without the label on the workload: untouched', async () => {
    const { handle, observations } = createWorld({ labels: {} });
    expect(await ask(handle, reviewOf('r1', podOf()))).toMatchObject(unchanged);
    expect(observations).toMatchObject([{ decision: { reason: 'NotEnabled' } }]);
  });

  test('case 30: an owner that cannot be found in time: unsteered, with a warning, and counted', async () => {
    const { handle, observations } = createWorld({ isReplicaSetCached: false });
    const response = await ask(handle, reviewOf('r1', podOf()));
    expect(response).toMatchObject(unchanged);
    expect(response.warnings).toHaveLength(1);
    expect(observations).toMatchObject([{ decision: { reason: 'OwnerUnknown' } }]);
  });

  test('caches that are still filling steer nothing', async () => {
    const { handle, stores } = createWorld();
    stores.pods.setFreshness('initial');
    expect(await ask(handle, reviewOf('r1', podOf()))).toMatchObject(unchanged);
  });
});

describe('requests without effect', () => {
  test('case 32: a dry run gets the patch and reserves nothing', async () => {
    const { handle, ledger } = createWorld();
    const first = await ask(handle, reviewOf('dry', podOf(), { dryRun: true }));
    expect(sideOf(first)).toBe('on-demand');
    expect(ledger.size()).toBe(0);
    expect(sideOf(await ask(handle, reviewOf('r1', podOf())))).toBe('on-demand');
    expect(ledger.size()).toBe(1);
  });

  test('case 33: read-only: allowed, no patch, uid echoed, and told what would be', async () => {
    const { handle, ledger } = createWorld({ settings: { readOnly: true } });
    const response = await ask(handle, reviewOf('r1', podOf()));
    expect(response).toMatchObject({
      uid: 'r1',
      allowed: true,
      patch: undefined,
      auditAnnotations: { 'would-be-slot': '1', 'would-be-capacity': 'on-demand' },
    });
    expect(response.warnings.join()).toContain('would take slot 1 on on-demand');
    expect(ledger.size()).toBe(0);
  });

  test('the same request again gets the same answer', async () => {
    const { handle, ledger } = createWorld();
    const first = await ask(handle, reviewOf('r1', podOf()));
    await ask(handle, reviewOf('r2', podOf()));
    expect(await ask(handle, reviewOf('r1', podOf()))).toEqual(first);
    expect(ledger.size()).toBe(2);
  });
});

describe('malformed input', () => {
  test('a malformed review is answered with 400 and a code', async () => {
    const { status, body } = await createWorld().handle('{');
    expect(status).toBe(400);
    expect(JSON.parse(body)).toMatchObject({ code: 'INVALID_REQUEST_BODY' });
  });

  test.each([
    [null],
    [{ metadata: { labels: 7 } }],
    [podOf({ spec: { containers: 'app' } })],
    [podOf({ spec: { nodeSelector: 3 } })],
  ])('the object %j: allowed as it is, with a warning', async (object) => {
    const { handle, observations } = createWorld();
    const response = await ask(handle, reviewOf('r1', object));
    expect(response).toMatchObject({ allowed: true, patch: undefined });
    expect(response.warnings).toHaveLength(1);
    expect(observations).toMatchObject([{ decision: { reason: 'AdmissionFailed' } }]);
  });

  test('bug 29: for any object the answer allows', async () => {
    const { handle } = createWorld();
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (object) => {
        expect((await ask(handle, reviewOf('r1', object))).allowed).toBe(true);
      }),
    );
  });
});

test('warnings are one line of printable ASCII and short enough for the header', async () => {
  const { handle } = createWorld({ annotations: { 'spotalis.io/spot-percentage': `${'ü\n'.repeat(300)}` } });
  const [warning = ''] = (await ask(handle, reviewOf('r1', podOf()))).warnings;
  expect(warning.length).toBeLessThanOrEqual(250);
  expect(warning).toMatch(/^[\x20-\x7e]+$/);
});
