import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { type CommandResult, runCommand } from '../testing/run-command.ts';
import { budget, dump, type Manifest, namespace, shopCluster, workload } from '../testing/shop.ts';

const plan = (objects: readonly Manifest[], ...args: readonly string[]): Promise<CommandResult> =>
  runCommand(['plan', '-f', '-', ...args], { stdin: dump(...objects) });

const planJson = async (objects: readonly Manifest[], ...args: readonly string[]) =>
  JSON.parse((await plan(objects, '-o', 'json', ...args)).stdout);

/** Five pods on spot, where four and one are wanted. */
const drifted = workload({
  name: 'web',
  annotations: { 'spot-percentage': '70', 'min-on-demand': '1' },
  pods: ['spot-1', 'spot-1', 'spot-2', 'spot-2', 'spot-1'],
});
const settled = workload({ name: 'api', annotations: { 'spot-percentage': '50' }, pods: ['spot-1', 'od-1'] });

describe('plan', () => {
  test('shows target, actual and the one move with its reason', async () => {
    const { stdout, stderr, code } = await plan([...shopCluster(), ...drifted]);
    expect(stdout).toContain('Deployment shop/web: 5 replicas, 70 % spot, at least 1 on-demand\n');
    expect(stdout).toContain('  target    4 spot, 1 on-demand\n  actual    5 spot, 0 on-demand\n');
    expect(stdout).toMatch(
      / {2}evict {5}web-abc123-p\d \(spot -> on-demand\): 5 on spot, 4 wanted: one moves to on-demand\n/,
    );
    expect(stdout).toContain(
      '1 of 1 workload managed; 1 replica on the wrong side; 1 action possible now, 0 blocked; at most 5 evictions at once, one a workload every 10s. Nothing was written.',
    );
    expect(stderr).toContain('note: no poddisruptionbudgets in the input: it is taken that there are none');
    expect(code).toBe(0);
  });

  test('a blocked move says what blocks it and what to do', async () => {
    const { stdout } = await plan([...shopCluster(), ...drifted, budget('web', 0)]);
    expect(stdout).toContain(
      '  blocked   BlockedByPdb: PodDisruptionBudget web allows no disruption now\n            Wait for its pods',
    );
    expect(stdout).toContain('0 actions possible now, 1 blocked');
  });

  test.each([
    ['named after it', 'spotalis', [], 1],
    ['of the operator by default', 'spotalis-system', [], 1],
    ['of a tenant', 'shop', [], 0],
    ['that the configuration says is the operator’s', 'platform', ['operator: { namespace: platform }'], 1],
  ] as const)('Spotalis that runs, in a namespace %s, blocks every move: %s', async (_, home, lines, blocked) => {
    const folder = mkdtempSync(join(tmpdir(), 'stowage-plan-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'config.yaml');
    writeFileSync(path, lines.join('\n'));
    const metadata = { name: 'manager', namespace: home, labels: { 'app.kubernetes.io/name': 'spotalis' } };
    const spec = { nodeName: 'od-1', containers: [{ name: 'manager', image: 'manager:1' }] };
    const spotalis = { apiVersion: 'v1', kind: 'Pod', metadata, spec, status: { phase: 'Running' } };
    const { stdout } = await plan([...shopCluster(), ...drifted, budget('web', 1), spotalis], '-c', path);
    expect(stdout).toContain(`${1 - blocked} action${blocked === 0 ? '' : 's'} possible now, ${blocked} blocked`);
    if (blocked > 0) expect(stdout).toContain(`PredecessorRuns: Spotalis runs beside Stowage (pod ${home}/manager)`);
  });

  test('a settled workload is said to be so', async () => {
    const { stdout } = await plan([...shopCluster(), ...settled.map(stamped), budget('api', 1)]);
    expect(stdout).toContain('  nothing   every replica is on the side of its slot\n');
  });

  test('a workload without all its replicas is said to wait for them', async () => {
    const web = workload({ name: 'web', annotations: { 'spot-percentage': '50' }, replicas: 3, pods: ['spot-1'] });
    const { stdout } = await plan([...shopCluster(), ...web]);
    expect(stdout).toContain('  actual    1 spot, 0 on-demand\n');
    expect(stdout).toContain('  waits     2 of 3 replicas are not there\n');
  });

  test('objects that come several times count once, and are named', async () => {
    const objects = [...shopCluster(), ...drifted, budget('web', 1)];
    const once = await planJson(objects);
    const twice = await planJson([...objects, ...objects]);
    expect(twice).toEqual({
      ...once,
      problems: [
        expect.stringMatching(
          /^1\d objects come more than once in the input, and the last of each counts: Namespace shop, .+ and \d+ more$/,
        ),
      ],
    });
  });

  test('pods without stamps are stamped, not moved; beyond three they are counted', async () => {
    const pods = ['spot-1', 'od-1', 'spot-1', 'od-1', 'spot-1', 'od-1'];
    const { stdout } = await plan([
      ...shopCluster(),
      ...workload({ name: 'api', annotations: { 'spot-percentage': '50' }, pods }),
    ]);
    expect(stdout.match(/ {2}re-stamp {2}api/g)).toHaveLength(3);
    expect(stdout).toContain('  re-stamp  3 more pods\n');
    expect(stdout).not.toContain('evict');
  });

  test('invalid settings name key, value and what is accepted', async () => {
    const { stdout } = await plan([
      ...shopCluster(),
      ...workload({ name: 'bad', annotations: { 'spot-percentage': '150' }, pods: ['od-1'] }),
    ]);
    expect(stdout).toMatch(
      /left alone\n {2}invalid {3}workload annotation spotalis\.io\/spot-percentage: "150" is not valid; accepted: a whole number/,
    );
  });

  test('unmanaged workloads are named once, with what they lack', async () => {
    const { stdout } = await plan([...shopCluster(), ...workload({ name: 'off', enabled: false, pods: ['od-1'] })]);
    expect(stdout).toContain('Not managed: shop/off (Deployment)\n  The label spotalis.io/enabled: "true" is needed');
  });

  test('--assume-enabled plans as if the labels were set', async () => {
    const objects = [...shopCluster(), ...workload({ name: 'off', enabled: false, pods: ['od-1', 'od-1'] })];
    const document = await planJson(objects, '--assume-enabled', '--spot-percentage', '50', '--min-on-demand', '1');
    expect(document.workloads[0]).toMatchObject({ state: 'managed', target: { spot: 1, onDemand: 1 }, drift: 1 });
    expect(document.workloads[0].actions[0]).toMatchObject({ action: 'evict', from: 'on-demand', to: 'spot' });
  });

  test('an assumed value outside its range is refused by the annotation’s own grammar', async () => {
    const { code, stdout, stderr } = await plan(settled, '--assume-enabled', '--spot-percentage', '101');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain("argument '101' is invalid. Give a whole number from 0 to 100");
  });

  test('assumed values without --assume-enabled are a wrong use', async () => {
    const { code, stderr } = await plan([], '--spot-percentage', '70');
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'stowage: --spot-percentage and --min-on-demand need --assume-enabled\n',
    });
  });

  test('bare manifests: the split that admission would give, and that nothing runs yet', async () => {
    const [manifest] = workload({
      name: 'web',
      annotations: { 'spot-percentage': '70', 'min-on-demand': '1' },
      pods: [],
      replicas: 10,
    });
    const { stdout, stderr } = await plan([namespace('shop'), manifest ?? {}]);
    expect(stdout).toContain('  target    7 spot, 3 on-demand\n  admission slots 1, ');
    expect(stdout).not.toContain('actual');
    expect(stderr).toContain('note: no pods in the input: nothing runs yet');
    expect(stderr).toContain('note: no nodes in the input');
    expect(stderr).toContain('note: a dump with everything: kubectl get namespaces,nodes,pods');
  });

  test('other kinds are ignored with a count, unreadable objects named', async () => {
    const { stderr } = await plan([
      ...shopCluster(),
      ...settled,
      { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' } },
      { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' } },
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'odd' }, spec: { containers: 'none' } },
    ]);
    expect(stderr).toContain('warning: Pod default/odd was skipped, it cannot be read: spec.containers');
    expect(stderr).toContain('note: ignored 2 objects of other kinds: 2 Service\n');
  });

  test.each([
    [true, [...shopCluster(), ...drifted], 3],
    [true, [...shopCluster(), ...drifted, budget('web', 0)], 3],
    [true, [...shopCluster(), ...settled.map(stamped)], 0],
    [false, [...shopCluster(), ...drifted], 0],
  ])('--exit-code %s: case %#', async (flag, objects, expected) => {
    expect((await plan(objects, ...(flag ? ['--exit-code'] : []))).code).toBe(expected);
  });

  test('-n looks at one namespace only', async () => {
    expect((await planJson([...shopCluster(), ...drifted], '-n', 'other')).workloads).toEqual([]);
  });

  test('JSON and YAML are one document with every figure', async () => {
    const objects = [
      ...shopCluster(),
      ...drifted,
      budget('web', 0),
      { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' } },
    ];
    const document = await planJson(objects);
    expect(document).toMatchObject({
      apiVersion: 'cli.stowage.dev/v1',
      kind: 'Plan',
      source: '-',
      summary: { workloads: 1, managed: 1, invalid: 0, driftedReplicas: 1, actions: 0, blocked: 1 },
      ignored: { Service: 1 },
      problems: [],
    });
    expect(document.workloads[0]).toMatchObject({
      policy: { spotPercentage: 70, minOnDemand: '1', sources: { spotPercentage: 'workload' } },
      target: { spot: 4, onDemand: 1 },
      actual: { spot: 5, onDemand: 0, unknown: 0 },
      slots: [
        { from: 1, to: 1, side: 'on-demand' },
        { from: 2, to: 5, side: 'spot' },
      ],
      actions: [{ action: 'evict', blockedBy: [{ reason: 'BlockedByPdb' }] }],
    });
    expect(parse((await plan(objects, '-o', 'yaml')).stdout)).toEqual(document);
  });

  test('prints no notes with machine-readable output', async () => {
    expect((await plan([...settled], '-o', 'json')).stderr).toBe('');
  });

  test('text from the cluster cannot steer the terminal', async () => {
    const evil = workload({ name: 'web', annotations: { 'spot-percentage': '\u001b[2J' }, pods: ['od-1'] });
    const { stdout } = await plan([...shopCluster(), ...evil]);
    expect(stdout).not.toContain('\u001b');
  });

  test.each([
    [
      'a file that is not there',
      ['/nowhere.yaml'],
      '',
      'stowage: -f /nowhere.yaml: there is no such file or folder.\n',
    ],
    [
      'nothing',
      ['-'],
      '',
      'stowage: -f -: no Kubernetes object in there; give manifests or the output of `kubectl get -o yaml`\n',
    ],
    [
      'a table',
      ['-'],
      'NAME   READY\nweb-1  1/1\n',
      'stowage: -f standard input: this is a table for people; ask kubectl for objects with -o yaml or -o json.\n',
    ],
  ])('%s is one line and exit code 1', async (_name, paths, stdin, stderr) => {
    expect(await runCommand(['plan', ...paths.flatMap((path) => ['-f', path])], { stdin })).toEqual({
      code: 1,
      stdout: '',
      stderr,
    });
  });

  test('a key of the configuration that does nothing is a warning', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stowage-plan-'));
    try {
      const config = join(folder, 'config.yaml');
      writeFileSync(config, 'placment:\n  rounding: floor\n');
      const stdin = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n';
      const { code, stderr } = await runCommand(['plan', '-f', '-', '-c', config], { stdin });
      expect(code).toBe(0);
      expect(stderr).toContain(`warning: ${config}:1: placment is not a key of the configuration; it is ignored\n`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('one broken document of several is a warning', async () => {
    const { code, stderr } = await runCommand(['plan', '-f', '-'], {
      stdin: 'kind: [\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n',
    });
    expect(code).toBe(0);
    expect(stderr).toMatch(/^warning: standard input, document 1: not valid YAML/);
  });
});

/** Gives pods the slots that admission would have: spot first, as one replica of two at 50 % rounds up. */
function stamped(object: Manifest, index: number): Manifest {
  const { metadata } = object;
  if (object['kind'] !== 'Pod' || typeof metadata !== 'object') return object;
  const isSpot = index === 2;
  const annotations = { 'spotalis.io/slot': isSpot ? '1' : '2', 'spotalis.io/capacity': isSpot ? 'spot' : 'on-demand' };
  return { ...object, metadata: { ...metadata, annotations } };
}
