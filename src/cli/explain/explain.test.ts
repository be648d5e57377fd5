import { describe, expect, test } from 'vitest';
import { runCommand } from '../testing/run-command.ts';
import { budget, dump, shopCluster, workload } from '../testing/shop.ts';

const objects = [
  ...shopCluster(),
  ...workload({ name: 'web', annotations: { 'spot-percentage': '50' }, pods: ['od-1', 'od-2'] }),
  budget('web', 0),
  ...workload({ kind: 'StatefulSet', name: 'db', annotations: { 'spot-percentage': '50' }, pods: ['spot-1', 'od-1'] }),
  ...workload({ name: 'bad', annotations: { 'min-on-demand': 'all' }, pods: ['od-1'] }),
];
const explain = (...args: readonly string[]) =>
  runCommand(['explain', ...args, '-f', '-'], { stdin: dump(...objects) });

describe('explain', () => {
  test('tells the policy, each pod, what blocks and what is next', async () => {
    const { stdout, code } = await explain('deploy/shop/web');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Deployment\/shop\/web: 0 on spot, 2 on on-demand, 1 and 1 wanted; 1 to move\n/);
    expect(stdout).toContain('  spot percentage 50 of all replicas, rounded up (from workload)\n');
    expect(stdout).toMatch(
      /\nSLOT +POD +WANTED +ACTUAL +NODE +READY +WHY\n +1 +web-abc123-p\d +spot +on-demand +od-\d +yes +runs on on-demand, its slot is spot\n/,
    );
    expect(stdout).toContain(
      'Blocked by BlockedByPdb: PodDisruptionBudget web allows no disruption now\n  Wait for its pods',
    );
    expect(stdout).toMatch(/Next: pod web-abc123-p\d moves from on-demand to spot once nothing blocks it/);
  });

  test.each([[['sts/shop/db']], [['statefulset/db', '-n', 'shop']], [['statefulset', 'db', '-n', 'shop']]])(
    '%j finds the StatefulSet',
    async (words) => {
      expect((await explain(...words)).stdout).toContain(
        'StatefulSet/shop/db: 1 on spot, 1 on on-demand, 1 and 1 wanted; as it should be',
      );
    },
  );

  test('invalid settings are told once, with what is accepted', async () => {
    const { stdout } = await explain('deploy/shop/bad');
    expect(stdout).toContain('left alone, its configuration is not valid');
    expect(stdout.match(/spotalis\.io\/min-on-demand/g)).toHaveLength(1);
  });

  test('JSON carries the same, with advice', async () => {
    const document = JSON.parse((await explain('deploy/shop/web', '-o', 'json')).stdout);
    expect(document).toMatchObject({
      kind: 'Explanation',
      workload: 'Deployment/shop/web',
      blocks: [{ reason: 'BlockedByPdb', advice: expect.stringContaining('Wait') }],
    });
    expect(document.pods).toHaveLength(2);
  });

  test('the document has what the input lacked and what was ignored: nobody who reads it sees the notes', async () => {
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace: 'shop' } };
    const some = objects.filter(({ kind }) => kind !== 'PodDisruptionBudget');
    const stdin = dump(...some, service, ...workload({ name: 'bad', pods: [] }));
    const told = await runCommand(['explain', 'deploy/shop/web', '-f', '-', '-o', 'json'], { stdin });
    const document = JSON.parse(told.stdout);
    expect(document).toMatchObject({
      kind: 'Explanation',
      missing: [{ data: 'poddisruptionbudgets', meaning: expect.stringContaining('it is taken that there are none') }],
      ignored: { Service: 1 },
    });
    expect(document.problems.at(-1)).toMatch(/ more than once in the input.*Deployment shop\/bad/);
  });

  test('a workload that is not there: what there is of that name', async () => {
    const { code, stderr } = await explain('deploy/shop/db');
    expect(code).toBe(1);
    expect(stderr).toBe('stowage: Deployment shop/db is not in -; there is StatefulSet shop/db\n');
  });
});
