import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createLogger, type LogLevel } from '../lib/log.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { ask, createWorld, podOf, reviewOf, sideOf } from './testing/admission-world.ts';

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

describe('case 76: the log of admissions', () => {
  const logged = async (level: LogLevel, ...reviews: readonly string[]): Promise<unknown[]> => {
    const lines: string[] = [];
    const log = createLogger({
      level,
      format: 'json',
      clock: createVirtualClock(0),
      write: (line) => lines.push(line),
    });
    const { handle } = createWorld({ log });
    for (const review of reviews) await ask(handle, review);
    return lines.map((line): unknown => JSON.parse(line));
  };

  test('has a record of each pod that is steered, with the fields of Spotalis, and none of dry runs and what is left alone', async () => {
    const alone = podOf({ spec: { nodeName: 'n1' } });
    const records = await logged(
      'debug',
      reviewOf('dry', podOf(), { dryRun: true }),
      reviewOf('bound', alone),
      reviewOf('r1', podOf({ metadata: { name: 'web-abc-1' } })),
    );
    expect(records).toEqual([
      {
        level: 'debug',
        time: '1970-01-01T00:00:00.000Z',
        msg: 'slot 1 on on-demand: wanted are 7 on spot and 3 on on-demand',
        webhook: 'mutation',
        event: 'mutation_applied',
        request_id: 'r1',
        operation: 'CREATE',
        kind: 'Pod',
        namespace: 'shop',
        name: 'web-abc-1',
        workload_kind: 'Deployment',
        workload_name: 'web',
        patch_count: 2,
        mutation_types: ['nodeSelector', 'annotations'],
        slot: 1,
        capacity: 'on-demand',
      },
    ]);
  });

  test('says what could not be decided by the request', async () => {
    expect(await logged('info', reviewOf('r1', podOf()), reviewOf('r2', null))).toMatchObject([
      { level: 'error', webhook: 'mutation', request_id: 'r2', namespace: 'shop', error: expect.any(String) },
    ]);
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

describe('with sizes of rightsizing', () => {
  const told = async (metadata: object, namespaceLabels?: Record<string, string>) => {
    const seen: boolean[] = [];
    const { handle } = createWorld({
      ...(namespaceLabels && { namespaceLabels }),
      sizes: (_pod, namespace, _owner, hasAnnotations) => {
        expect(namespace).toBe('shop');
        seen.push(hasAnnotations);
        return [];
      },
    });
    await ask(handle, reviewOf('r1', podOf({ metadata })));
    return seen;
  };

  test('it is known whether the pod will have annotations, whoever makes them', async () => {
    const unmanaged = {};
    expect(await told({ annotations: { a: 'b' } }, unmanaged)).toEqual([true]);
    expect(await told({}, unmanaged)).toEqual([false]);
    expect(await told({ annotations: null }, unmanaged)).toEqual([false]);
    // Placement stamps the pod first.
    expect(await told({})).toEqual([true]);
  });

  test('it is known whether a pod will be made', async () => {
    const seen: unknown[] = [];
    const { handle } = createWorld({
      sizes: (_pod, _namespace, _owner, _hasAnnotations, isDryRun) => {
        seen.push(isDryRun);
        return [];
      },
    });
    await ask(handle, reviewOf('r1', podOf(), { dryRun: true }));
    await ask(handle, reviewOf('r2', podOf()));
    expect(seen).toEqual([true, false]);
  });
});

test('warnings are one line of printable ASCII and short enough for the header', async () => {
  const { handle } = createWorld({ annotations: { 'spotalis.io/spot-percentage': `${'ü\n'.repeat(300)}` } });
  const [warning = ''] = (await ask(handle, reviewOf('r1', podOf()))).warnings;
  expect(warning.length).toBeLessThanOrEqual(250);
  expect(warning).toMatch(/^[\x20-\x7e]+$/);
});
