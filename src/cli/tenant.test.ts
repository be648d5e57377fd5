/**
 * plan, status, explain and restore for somebody with a Role in one namespace, on an API server that enforces roles.
 */
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sizingKeys } from '../api/annotations-sizing.ts';
import type { KubeObject, Pod } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import { podsOf } from '../operator/testing/steps.ts';
import { type CommandResult, runCommand } from './testing/run-command.ts';
import { readerRole } from './testing/tenant.ts';
import { startTenantWorld, type TenantWorld } from './testing/tenant-world.ts';

const POLICIES = 'optimizationpolicies of other namespaces';
const role = readerRole('shop');
/** What restore says first. */
const whereOf = (pods: number): RegExp =>
  new RegExp(`^note: ${pods} pods? with sizes of Stowage in the cluster at http\\S+ \\(.*\\)\n$`);

describe('with a Role in one namespace', () => {
  let tenant: TenantWorld;
  beforeAll(async () => {
    tenant = await startTenantWorld();
  });
  afterAll(() => tenant.stop());

  const run = (...args: readonly string[]): Promise<CommandResult> =>
    runCommand([...args, '--kubeconfig', tenant.kubeconfigs.alice]);
  const json = async (...args: readonly string[]) => JSON.parse((await run(...args, '-o', 'json')).stdout);
  const missingOf = ({ missing }: { readonly missing: readonly { readonly data: string }[] }): string[] =>
    missing.map(({ data }) => data);

  test('plan: nodes are told by the pods that are pinned; what is not seen is told in a line each', async () => {
    const { code, stdout, stderr } = await run('plan', '-n', 'shop', '--exit-code');
    expect(code).toBe(3);
    expect(stderr.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^note: nodes may not be read with these credentials: the side of a node is known only/),
      expect.stringMatching(/^note: optimizationpolicies of other namespaces may not be read with these credentials: /),
    ]);
    expect(stdout).toContain('Deployment shop/web: 4 replicas, 0 % spot, at least 0 on-demand\n');
    expect(stdout).toContain('  actual    4 spot, 0 on-demand\n');
    expect(stdout).toMatch(
      /\n {2}evict {5}web-\S+ \(spot -> on-demand\): .*\n {2}blocked {3}NotSeen: .*may not read nodes/,
    );
    expect(stdout).toContain('sized by policy shop/of-shop (Recommend)');
    expect(stdout).toContain(
      'Plan: 1 of 1 workload managed; 4 replicas on the wrong side; 0 actions possible now, 1 blocked',
    );
  });

  test('only the namespace is read; of the cluster no more than nodes, volumes and policies is asked for', async () => {
    const asked = await tenant.askedDuring(() => run('plan', '-n', 'shop'));
    expect(new Set(asked.map(({ verb }) => verb))).toEqual(new Set(['get', 'list']));
    const wide = asked.filter(({ verb, namespace }) => verb === 'list' && namespace !== 'shop');
    expect(new Set(wide.map(({ resource }) => resource))).toEqual(
      new Set(['nodes', 'persistentvolumes', 'optimizationpolicies']),
    );
    expect(asked.filter(({ resource }) => resource === 'namespaces')).toMatchObject([{ verb: 'get' }]);
  });

  test('every rule of the Role is used', async () => {
    const asked = await tenant.askedDuring(() => run('status', '-n', 'shop'));
    for (const { apiGroups, resources: names, verbs } of role.rules)
      for (const group of apiGroups)
        for (const resource of names)
          for (const verb of verbs) expect(asked).toContainEqual(expect.objectContaining({ group, resource, verb }));
  });

  test('no node is known to have room: where no autoscaler makes nodes, the move is blocked', async () => {
    const labels = ['spot', 'on-demand'].map((side) => `[{ matchLabels: { karpenter.sh/capacity-type: ${side} } }]`);
    const config = tenant.file(
      'own.yaml',
      `controllers:\n  nodeClassifier:\n    spotLabels: ${labels[0]}\n    onDemandLabels: ${labels[1]}\n`,
    );
    const plan = () => json('plan', '-n', 'shop', '-c', config);
    expect((await plan()).workloads[0].actions).toMatchObject([
      { action: 'evict', blockedBy: [{ reason: 'NotSeen' }, { reason: 'NoRoomOnSide' }] },
    ]);
    await tenant.withCluster(['nodes'], async () => {
      const seen = await plan();
      expect(missingOf(seen)).toEqual(['pods of other namespaces', POLICIES]);
      expect(seen.workloads[0].actions[0].blockedBy[0].message).toContain(
        '2 with other pods than are seen here, so what they have left is not known',
      );
    });
    await tenant.withCluster(['nodes', 'pods'], async () => {
      const seen = await plan();
      expect(missingOf(seen)).toEqual([POLICIES]);
      expect(seen.workloads[0].actions).toMatchObject([{ action: 'evict', blockedBy: [] }]);
      expect((await json('plan', '-n', 'shop')).summary).toMatchObject({ actions: 1, blocked: 0 });
    });
  });

  test('an operator with Roles only sees no more: its configuration says which namespace, and that it is enabled', async () => {
    const config = tenant.file('watch.yaml', 'controllers:\n  watchNamespaces: [shop]\n');
    await tenant.without('namespaces', async () => {
      const { code, stdout, stderr } = await run('plan', '-c', config);
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: expect.stringMatching(/^note: [^\n]* of other namespaces .*\n$/),
      });
      expect(stdout).toContain('Plan: 1 of 1 workload managed; 4 replicas on the wrong side; 1 action possible now');
    });
  });

  test('status: replicas by side, and no table of nodes that are not known', async () => {
    const { code, stdout } = await run('status', '-n', 'shop');
    expect(code).toBe(0);
    expect(stdout).toContain(
      '1 of 1 workload managed: 1 drifted (4 replicas, 1 blocked), 0 incomplete, 0 invalid, 0 evictions',
    );
    expect(stdout).toContain('Rightsizing: 1 policy, 1 workload');
    expect(stdout).not.toContain('USABLE');
    expect((await json('status', '-n', 'shop')).nodes).toEqual([]);
    await tenant.withCluster(['nodes'], async () => {
      expect((await json('status', '-n', 'shop')).nodes).toMatchObject([{ class: 'spot', nodes: 2 }, { nodes: 2 }]);
    });
  });

  test('explain: the workload names the namespace', async () => {
    const { code, stdout, stderr } = await run('explain', 'deploy/shop/web');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Deployment\/shop\/web: 4 on spot, 0 on on-demand, 0 and 4 wanted; 4 to move\n/);
    expect(stderr).toContain('note: nodes may not be read');
    const absent = await run('explain', 'deploy/shop/wbe');
    expect(absent.code).toBe(1);
    expect(absent.stderr).toMatch(/^stowage: Deployment shop\/wbe is not in \S+ \(.*\)\. `stowage status` lists .*\n$/);
  });

  test('restore: what is in the namespace; a limit that only its node could lift stays', async () => {
    const [first, second] = await podsOf(tenant.world, 'web');
    const mark = async (pod: KubeObject | undefined, original: string | null, limit?: string) => {
      const inShop = { namespace: 'shop' };
      const metadata = { annotations: { [sizingKeys.allocationOriginals]: original } };
      await tenant.world.api.patch(
        resources.pods,
        pod?.metadata?.name ?? '',
        { type: 'merge', body: { metadata } },
        inShop,
      );
      if (limit === undefined) return;
      const containers = [{ name: 'app', resources: { limits: { cpu: limit } } }];
      const options = { ...inShop, subresource: 'resize' };
      const body = { spec: { containers } };
      await tenant.world.api.patch(resources.pods, pod?.metadata?.name ?? '', { type: 'strategic', body }, options);
    };
    await mark(first, JSON.stringify({ app: { requests: { cpu: '90m' } } }));
    await mark(second, JSON.stringify({ app: { requests: { cpu: '100m' } } }), '500m');
    const { code, stdout, stderr } = await run('restore', '-n', 'shop', '--dry-run');
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(whereOf(2)) });
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines).toContain(
      `shop/${first?.metadata?.name}  allocation  would  puts back the sizes from before Stowage`,
    );
    expect(lines).toContainEqual(
      expect.stringMatching(`^shop/${second?.metadata?.name}  allocation  kept  a limit that was not there before`),
    );
    expect(lines.at(-1)).toBe('1 pod of 2 could not be given back now; run the command again.');
    const asJson = await run('restore', '-n', 'shop', '--dry-run', '-o', 'json');
    const { pods, ...document } = JSON.parse(asJson.stdout);
    expect(document).toEqual({ apiVersion: 'cli.stowage.dev/v1', kind: 'Restore', dryRun: true, problems: [] });
    expect(pods.map(({ result }: { result: string }) => result).sort()).toEqual(['kept', 'would']);
    const [where, ...told] = asJson.stderr.trimEnd().split('\n');
    expect(`${where}\n`).toMatch(whereOf(2));
    expect([asJson.code, told.sort()]).toEqual([1, lines.slice(0, 2).sort()]);
    await mark(first, null);
    await mark(second, null);
  });

  test('restore with the Role that the page on rights shows', async () => {
    const [pod] = await podsOf(tenant.world, 'web');
    const name = pod?.metadata?.name ?? '';
    const original = JSON.stringify({ app: { requests: { cpu: '90m' } } });
    const metadata = { annotations: { [sizingKeys.allocationOriginals]: original } };
    await tenant.world.api.patch(resources.pods, name, { type: 'merge', body: { metadata } }, { namespace: 'shop' });
    let isDone = false;
    const running = runCommand(['restore', '-n', 'shop', '--kubeconfig', tenant.kubeconfigs.bob]).finally(() => {
      isDone = true;
    });
    // The kubelet's time is the cluster's; the command looks again by its own.
    while (!isDone) {
      await tenant.world.clock.advance(100);
      await setImmediate();
    }
    expect(await running).toEqual({
      code: 0,
      stdout: expect.stringContaining('restored'),
      stderr: expect.stringMatching(whereOf(1)),
    });
    const after = await tenant.world.api.get<Pod>(resources.pods, name, { namespace: 'shop' });
    expect(after.spec?.containers[0]?.resources?.requests?.['cpu']).toBe('90m');
    expect(after.metadata?.annotations).not.toHaveProperty([sizingKeys.allocationOriginals]);
  });

  test.each([
    [['plan']],
    [['status']],
    [['restore', '--dry-run']],
    [['plan', '-n', 'other']],
    [['status', '-n', 'other']],
    [['explain', 'deploy/other/filler']],
    [['restore', '-n', 'other']],
  ])('%j: what may not be read ends it, with what was refused and what to do', async (args) => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^stowage: the cluster at http\S+ \(.*\) refused: pods is forbidden: User "alice" .*\n$/);
    expect(stderr).toContain('docs/rights.md');
    expect(stderr.includes('with -n')).toBe(!args.includes('-n') && args[0] !== 'explain');
  });

  test('a namespace that is not there is told', async () => {
    expect(await runCommand(['plan', '-n', 'shpo', '--kubeconfig', tenant.kubeconfigs.root])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'stowage: there is no namespace shpo; `kubectl get namespaces` lists them\n',
    });
  });

  test('explain names what is called alike elsewhere, where that may be seen; a Rollout is the operator’s to tell', async () => {
    const explain = (...args: readonly string[]) =>
      runCommand(['explain', ...args, '--kubeconfig', tenant.kubeconfigs.root]);
    expect((await explain('sts/web')).stderr).toMatch(/is not in \S+ \(.*\); there is Deployment shop\/web\n$/);
    expect((await explain('rollout/shop/web')).stderr).toBe(
      'stowage: Rollout shop/web: Argo Rollouts are followed by the running operator only; ask it with --operator\n',
    );
  });

  test('who may see everything is shown with -n what is shown without', async () => {
    const ofRoot = async (...args: readonly string[]) =>
      JSON.parse((await runCommand([...args, '-o', 'json', '--kubeconfig', tenant.kubeconfigs.root])).stdout);
    const [all, one] = [await ofRoot('plan'), await ofRoot('plan', '-n', 'shop')];
    expect([all.missing, one.missing]).toEqual([[], []]);
    expect(one.workloads).toEqual(all.workloads.filter(({ namespace }: { namespace: string }) => namespace === 'shop'));
    const [wide, narrow] = [await ofRoot('status'), await ofRoot('status', '-n', 'shop')];
    expect(narrow.nodes).toEqual(wide.nodes);
  });

  test('without the namespace nothing counts as managed, unless it is assumed', async () => {
    await tenant.without('namespaces', async () => {
      const plan = await json('plan', '-n', 'shop');
      expect(plan).toMatchObject({ summary: { managed: 0, actions: 0, blocked: 0 } });
      expect(missingOf(plan)[0]).toBe('namespaces');
      const assumed = await json('plan', '-n', 'shop', '--assume-enabled');
      expect(assumed).toMatchObject({ summary: { managed: 1, blocked: 1 } });
    });
  });

  test('who may only list namespaces, as an operator may, is shown whether it is managed', async () => {
    await tenant.without('namespaces', () =>
      tenant.withCluster(['namespaces'], async () => {
        const plan = await json('plan', '-n', 'shop');
        expect(plan).toMatchObject({ summary: { managed: 1, blocked: 1 } });
        expect(missingOf(plan)).not.toContain('namespaces');
        expect((await run('plan', '-n', 'shpo')).stderr).toContain('there is no namespace shpo');
      }),
    );
  });

  test('without budgets no move counts as possible', async () => {
    await tenant.without('poddisruptionbudgets', async () => {
      const plan = await json('plan', '-n', 'shop');
      expect(plan).toMatchObject({ summary: { actions: 0, blocked: 1 } });
      expect(plan.workloads[0].actions[0].blockedBy[0]).toMatchObject({
        reason: 'NotSeen',
        message: expect.stringContaining('poddisruptionbudgets'),
      });
    });
  });

  test.each([
    ['replicasets', 0],
    ['deployments', 0],
    ['statefulsets', 1],
    ['daemonsets', 1],
    ['optimizationpolicies', 1],
    ['podallocations', 1],
  ])('without %s the rest is told, and that they are missing', async (resource, moves) => {
    await tenant.without(resource, async () => {
      const plan = await json('plan', '-n', 'shop');
      expect(missingOf(plan)).toContain(resource);
      expect(plan.summary.blocked).toBe(moves);
    });
  });

  test('without events status counts no evictions, and goes on', async () => {
    await tenant.without('events', async () =>
      expect(await json('status', '-n', 'shop')).not.toHaveProperty('evictions'),
    );
  });
});
