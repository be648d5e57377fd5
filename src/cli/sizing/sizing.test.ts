import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freshState, sizesOf, writeReplicaSizes } from '../../model/replica-sizes.ts';
import { leastPolicySpec } from '../../model/testing/policies.ts';
import { NOON } from '../../model/testing/records.ts';
import { aContainer, MIB } from '../../model/testing/sizing-records.ts';
import { runCommand } from '../testing/run-command.ts';
import { dump, type Manifest, namespace, shopCluster } from '../testing/shop.ts';
import { sizesTold } from './sizes-told.ts';

const web: Manifest = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', labels: { optimize: 'true' } },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'app', image: 'a', resources: { requests: { cpu: '500m', memory: '512Mi' } } }] },
    },
  },
};
const entry = {
  name: 'web',
  namespace: 'shop',
  kind: 'Deployment',
  status: 'Skipped',
  reason: 'HpaTarget',
  message: 'An autoscaler goes by it',
  recommendations: [{ container: 'app', cpu: '240m', memory: '512Mi', explanation: 'cpu: target: P90' }],
};
const policy = (status?: object, changes: object = {}): Manifest => ({
  apiVersion: 'optipod.io/v1alpha1',
  kind: 'OptimizationPolicy',
  metadata: { name: 'sizes', namespace: 'shop', uid: 'p1' },
  spec: { ...leastPolicySpec, selector: { workloadSelector: { matchLabels: { optimize: 'true' } } }, ...changes },
  ...(status !== undefined && { status }),
});
const run = async (command: string[], ...objects: Manifest[]) =>
  runCommand([...command, '-f', '-'], { stdin: dump(...shopCluster(), namespace('shop'), ...objects) });

describe('sizes in plan, status and explain', () => {
  test('plan shows what would change, and what holds it', async () => {
    const { stdout } = await run(['plan'], web, policy({ workloads: [entry] }));
    expect(stdout).toContain('Deployment shop/web: sized by policy shop/sizes (Auto), Skipped');
    expect(stdout).toContain('  resize    app: cpu 500m -> 240m, memory 512Mi');
    expect(stdout).toContain('  held      HpaTarget: An autoscaler goes by it');
    expect(stdout).toContain(
      'Rightsizing: 1 policy, 1 workload: 0 applied, 0 recommended, 0 pending, 1 held, 0 without usage.',
    );
  });

  test.each([
    ['a size that differs', policy({ workloads: [entry] }), 3],
    ['advice only', policy({ workloads: [entry] }, { mode: 'Recommend' }), 0],
    [
      'the size it has',
      policy({ workloads: [{ ...entry, recommendations: [{ container: 'app', cpu: '500m', memory: '512Mi' }] }] }),
      0,
    ],
  ])('plan --exit-code: %s', async (_, sizes, code) => {
    expect((await run(['plan', '--exit-code'], web, sizes)).code).toBe(code);
  });

  test.each([
    ['off', '{}', 0, true],
    ['on', '{ rightsizing: true }', 3, false],
  ])('plan --exit-code with a configuration that has the engine %s', async (_, engines, code, isTold) => {
    const folder = mkdtempSync(join(tmpdir(), 'stowage-sizing-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'config.yaml');
    writeFileSync(path, `engines: ${engines}\n`);
    const planned = await run(['plan', '--exit-code', '-c', path], web, policy({ workloads: [entry] }));
    expect(planned.stdout).toContain('  resize    app: cpu 500m -> 240m, memory 512Mi');
    expect(planned.code).toBe(code);
    expect(planned.stdout.includes('; off in this configuration (engines.rightsizing).')).toBe(isTold);
    const explained = await run(['explain', 'deploy/shop/web', '-c', path], web, policy({ workloads: [entry] }));
    expect(explained.stdout.includes('Note: rightsizing is off in this configuration (engines.')).toBe(isTold);
  });

  test('without usage it says what is missing', async () => {
    const { stdout } = await run(['plan'], web, policy());
    expect(stdout).toContain('no usage is known: advice is worked out by a running operator from prometheus');
    expect(stdout).toContain('1 without usage');
  });

  test.each([['status'], ['explain', 'deploy/shop/web']])(
    'a source that does not answer is told: %s',
    async (...command) => {
      const unread = {
        type: 'MetricsAvailable',
        status: 'False',
        reason: 'MetricsCollectionFailed',
        message: 'Usage of Deployment shop/web could not be read: nobody answers',
      };
      const told = 'shop/sizes: Usage of Deployment shop/web could not be read: nobody answers';
      const { stdout } = await run(command, web, policy({ workloads: [entry], conditions: [unread] }));
      expect(stdout).toContain(told);
      const { stdout: without } = await run(
        command,
        web,
        policy({ workloads: [entry], conditions: [{ ...unread, status: 'True', reason: 'UsageKnown' }] }),
      );
      expect(without).not.toContain('could not be read');
    },
  );

  test('explain tells the sizes of a DaemonSet, which is not placed, or that nothing selects it', async () => {
    const { spec } = web;
    const agents: Manifest = { ...web, kind: 'DaemonSet', spec: { ...Object(spec), replicas: undefined } };
    const sized = { ...entry, kind: 'DaemonSet' };
    const { stdout } = await run(['explain', 'ds/shop/web'], agents, policy({ workloads: [sized] }));
    expect(stdout).toMatch(/^DaemonSet\/shop\/web: not placed: no pod of a DaemonSet is steered or moved\n/);
    expect(stdout).toContain('DaemonSet shop/web: sized by policy shop/sizes (Auto), Skipped');
    const without = await run(['explain', 'daemonset/web', '-n', 'shop'], agents);
    expect(without.stdout).toContain('Note: no OptimizationPolicy selects it, so nothing is sized either');
    const missing = await run(['explain', 'ds/shop/api'], agents);
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('DaemonSet shop/api is not in -')]);
  });

  test('explain tells each stage', async () => {
    const { stdout } = await run(['explain', 'deploy/shop/web'], web, policy({ workloads: [entry] }));
    expect(stdout).toContain('cpu: target: P90');
  });

  test('status counts, and names policies that are not valid', async () => {
    const broken = policy(undefined, { mode: 'Sometimes' });
    const { stdout } = await run(['status'], web, broken);
    expect(stdout).toContain('Rightsizing: 1 policy, 0 workloads');
    expect(stdout).toContain('Policy shop/sizes is not valid: ');
  });

  test('a policy that sizes workloads of other namespaces counts, wherever the operator runs', async () => {
    const { spec } = policy(undefined, { weight: 900 });
    const heavy = (workloads: readonly object[]): Manifest => ({
      apiVersion: 'optipod.io/v1alpha1',
      kind: 'OptimizationPolicy',
      metadata: { name: 'all', namespace: 'stowage-system', uid: 'p2' },
      spec,
      status: { workloads },
    });
    const { stdout } = await run(['explain', 'deploy/shop/web'], web, policy({ workloads: [] }), heavy([entry]));
    expect(stdout).toContain('Deployment shop/web: sized by policy stowage-system/all (Auto), Skipped');
    const own = { ...entry, namespace: 'stowage-system' };
    const { stdout: without } = await run(['explain', 'deploy/shop/web'], web, policy({ workloads: [] }), heavy([own]));
    expect(without).toContain('Deployment shop/web: sized by policy shop/sizes');
  });

  test('a misspelt field of a policy is told, with what was meant', async () => {
    const { code, stderr } = await run(['plan'], web, policy(undefined, { upDateStrategy: {} }));
    expect(code).toBe(0);
    expect(stderr).toContain(
      'warning: OptimizationPolicy shop/sizes: spec.upDateStrategy is no field of this kind and does nothing; did you mean updateStrategy?\n',
    );
  });

  test('a workload that comes twice counts once', async () => {
    const { stdout } = await run(['status'], web, web, policy());
    expect(stdout).toContain('Rightsizing: 1 policy, 1 workload:');
  });

  test('as data it is in the document; without policies there is nothing of it', async () => {
    const { stdout } = await run(['plan', '-o', 'json'], web, policy({ workloads: [entry] }));
    expect(JSON.parse(stdout).sizing.workloads[0]).toMatchObject({
      name: 'web',
      policy: 'shop/sizes',
      differences: [{ container: 'app', cpu: { from: '500m', to: '240m' }, memory: { from: '512Mi', to: '512Mi' } }],
    });
    const without = await run(['plan', '-o', 'json'], web);
    expect(JSON.parse(without.stdout)).not.toHaveProperty('sizing');
  });
});

test('what the operator tells is shown alike', () => {
  const told = sizesTold(
    { kind: 'Deployment', namespace: 'shop', name: 'web' },
    {
      policy: 'shop/sizes',
      mode: 'Auto',
      others: [],
      entry: { ...entry, status: 'Pending', lastApplied: undefined, replicaSizes: undefined },
      containers: [
        {
          container: 'app',
          current: { cpuRequest: 500, cpuLimit: undefined, memoryRequest: undefined, memoryLimit: undefined },
          cpu: [{ stage: 'target', text: 'P90' }],
          memory: [],
        },
      ],
      replicas: undefined,
      isForNobody: undefined,
      unread: 'nobody answers',
      ongoing: {
        phase: 'canary',
        method: 'InPlace',
        since: 'noon',
        firstPod: 'web-1',
        note: 'throttling is not known',
      },
    },
  );
  expect(told.differences[0]).toMatchObject({ cpu: { from: '500m', to: '240m' }, memory: { to: '512Mi' } });
  expect(told.message).toContain('first on pod web-1; throttling is not known');
  expect(told.unread).toBe('nobody answers');
});

describe('sizes per replica', () => {
  const { metadata, spec } = web;
  const template = [aContainer({ size: { cpuRequest: 500, memoryRequest: 512 * MIB } })];
  const small = sizesOf([aContainer({ size: { cpuRequest: 120, memoryRequest: 128 * MIB } })]);
  const states = new Map([
    ['0', { ...freshState(template), sizes: small, changedAt: NOON, before: sizesOf(template) }],
    ['1', freshState(template)],
  ]);
  const set = (replicas: number): Manifest => ({
    ...web,
    kind: 'StatefulSet',
    metadata: {
      ...Object(metadata),
      annotations: { 'optipod.io/replica-sizes': writeReplicaSizes(template, states) ?? '' },
    },
    spec: { ...Object(spec), replicas, serviceName: 'web' },
  });
  const replicaSizes = '2 of 2 replicas have sizes of their own: app cpu 120m to 500m, memory 128Mi to 512Mi';
  const told = {
    ...entry,
    kind: 'StatefulSet',
    status: 'Applied',
    reason: undefined,
    message: undefined,
    replicaSizes,
  };
  const sizePerReplica = (isAsked: boolean) =>
    policy({ workloads: [told] }, { updateStrategy: { sizePerReplica: isAsked } });

  test('what is advised for all is no work where each has a size of its own', async () => {
    const planned = await run(['plan', '--exit-code'], set(2), sizePerReplica(true));
    expect(planned.stdout).toContain(
      '  for all   app: cpu 500m -> 240m, memory 512Mi; no replica has the size of all\n  replicas  2 of 2 replicas have sizes',
    );
    expect(planned.code).toBe(0);
  });

  test.each([
    ['a replica has none of its own', set(3), sizePerReplica(true)],
    ['the policy does not ask for it any more', set(2), sizePerReplica(false)],
  ])('but it is where %s', async (_, workload, sizes) => {
    const planned = await run(['plan', '--exit-code'], workload, sizes);
    expect(planned.stdout).toContain('  resize    app: cpu 500m -> 240m, memory 512Mi\n');
    expect(planned.code).toBe(3);
  });

  test('explain lists them without an operator, too', async () => {
    const { stdout } = await run(['explain', 'sts/shop/web'], set(2), sizePerReplica(true));
    expect(stdout).toContain(
      '            0: app cpu 120m, memory 128Mi; since 2026-03-02T12:00:00Z; watched: it had app cpu 500m, memory 512Mi\n            1: app cpu 500m, memory 512Mi\n',
    );
  });
});
