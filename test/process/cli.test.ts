/** The command line as users run it: the launcher as a process of its own, on real files. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { findOldNode, launcher, repository, run, stowage } from './checkout.ts';

const manifests = join(repository, 'test/fixtures/manifests');
const dump = join(repository, 'test/fixtures/dumps/shop-drifted.yaml');
const oldNode = await findOldNode();

describe('stowage', () => {
  test('version names itself and the Node it runs on', async () => {
    const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
    const { code, stdout, stderr } = await stowage(['version']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(`stowage ${version} (Node ${process.versions.node}, ${process.platform}-${process.arch})\n`);
  });

  test('a wrong use is one line on standard error and exit code 2', async () => {
    const { code, stdout, stderr } = await stowage(['plan', '--no-such-option']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^stowage: unknown option '--no-such-option'.*\n$/);
  });

  test('a kubeconfig that is not there: exit code 1 and what to do', async () => {
    const { code, stderr } = await stowage(['status', '--kubeconfig', '/nowhere/kubeconfig']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^stowage: .*\/nowhere\/kubeconfig.*\n$/);
  });

  test('a reader that leaves early is no error', async () => {
    const { code, stderr } = await run('bash', [
      '-c',
      'set -o pipefail; "$0" "$1" plan -f "$2" | head -n 1',
      process.execPath,
      launcher,
      dump,
    ]);
    expect({ code, stderr: stderr.replace(/^note: .*\n/gm, '') }).toEqual({ code: 0, stderr: '' });
  });

  test('where nobody hears the notes any more, the result comes all the same', async () => {
    const script = '"$0" "$1" plan -f "$2" 2> >(true)';
    const { code, stdout } = await run('bash', ['-c', script, process.execPath, launcher, dump]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('Deployment shop/') });
  });

  test.skipIf(oldNode === undefined)(
    'runs on a Node that cannot run TypeScript (skipped where PATH has none)',
    async () => {
      const { code, stdout } = await run(oldNode ?? '', [launcher, 'version']);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^stowage \d/);
    },
  );
});

describe('stowage plan on public manifests', () => {
  test.each([
    ['online-boutique.yaml', ['Deployment default/frontend', 'Deployment default/redis-cart']],
    ['cockroachdb-statefulset.yaml', ['StatefulSet default/cockroachdb']],
    ['cassandra-statefulset.yaml', ['StatefulSet default/cassandra']],
    ['guestbook.yaml', ['Deployment default/frontend', 'Deployment default/redis-replica']],
  ])('%s', async (file, names) => {
    const { code, stdout, stderr } = await stowage([
      'plan',
      '-f',
      join(manifests, file),
      '--assume-enabled',
      '--spot-percentage',
      '70',
      '--min-on-demand',
      '1',
    ]);
    expect(code).toBe(0);
    for (const name of names) expect(stdout).toContain(`${name}: `);
    expect(stdout).toContain('Nothing was written.');
    expect(stderr).toContain('no pods in the input');
    expect(stderr).not.toContain('warning:');
  });

  test('a directory is read whole: three replicas are split one to two', async () => {
    const { stdout } = await stowage([
      'plan',
      '-f',
      manifests,
      '--assume-enabled',
      '--spot-percentage',
      '70',
      '--min-on-demand',
      '1',
      '-o',
      'json',
    ]);
    const { workloads, ignored } = JSON.parse(stdout);
    expect(workloads).toHaveLength(16);
    expect(workloads.find(({ name }: { name: string }) => name === 'cassandra')).toMatchObject({
      kind: 'StatefulSet',
      replicas: 3,
      target: { spot: 2, onDemand: 1 },
      slots: [
        { from: 1, to: 1, side: 'on-demand' },
        { from: 2, to: 3, side: 'spot' },
      ],
      actions: [],
    });
    expect(ignored['PodDisruptionBudget (policy/v1beta1)']).toBe(1);
  });

  test('without labels nothing is managed, and it says what is needed', async () => {
    const { stdout } = await stowage(['plan', '-f', join(manifests, 'guestbook.yaml')]);
    expect(stdout).toMatch(
      /^Not managed: default\/frontend \(Deployment\), .*\n {2}The label spotalis\.io\/enabled: "true" is needed/,
    );
  });
});

describe('stowage on a dump of a cluster', () => {
  test('plan finds the drift, decides one move a workload, and says what blocks', async () => {
    const { code, stdout, stderr } = await stowage(['plan', '-f', dump, '-o', 'json', '--exit-code']);
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' });
    const plan = JSON.parse(stdout);
    expect(plan.problems).toEqual([]);
    expect(plan.missing).toEqual([]);
    const frontend = plan.workloads.find(({ name }: { name: string }) => name === 'frontend');
    expect(frontend).toMatchObject({
      target: { spot: 9, onDemand: 3 },
      actual: { spot: 6, onDemand: 6, unknown: 0 },
      drift: 3,
    });
    expect(frontend.actions).toEqual([
      expect.objectContaining({ action: 'evict', from: 'on-demand', to: 'spot', blockedBy: [] }),
    ]);
    const checkout = plan.workloads.find(({ name }: { name: string }) => name === 'checkout');
    expect(checkout).toMatchObject({ target: { spot: 0, onDemand: 4 }, actual: { spot: 2, onDemand: 2 } });
    expect(checkout.actions[0].blockedBy[0]).toMatchObject({
      reason: 'BlockedByPdb',
      message: expect.stringContaining('checkout'),
    });
  });

  test('the same through a pipe, for people', async () => {
    const { stdout } = await stowage(['plan', '-f', '-'], { input: readFileSync(dump, 'utf8') });
    expect(stdout).toContain(
      'Deployment shop/frontend: 12 replicas, 70 % spot, at least 2 on-demand\n  target    9 spot, 3 on-demand\n  actual    6 spot, 6 on-demand\n  evict     frontend-',
    );
  });

  test('status and explain read it, too', async () => {
    const status = parse((await stowage(['status', '-f', dump, '-o', 'yaml'])).stdout);
    expect(status).toMatchObject({ kind: 'FleetStatus', summary: { workloads: 10, managed: 9 } });
    const { stdout } = await stowage(['explain', 'deploy/shop/frontend', '-f', dump]);
    expect(stdout).toContain('Deployment/shop/frontend: 6 on spot, 6 on on-demand, 9 and 3 wanted; 3 to move');
    expect(stdout.match(/frontend-\w+-\w+ /g)?.length).toBeGreaterThanOrEqual(12);
  });
});

describe('documentation of the command line', () => {
  const page = readFileSync(join(repository, 'docs/cli.md'), 'utf8');

  test('docs/cli.md has every command and option', async () => {
    const { stdout } = await stowage(['--help']);
    const listed = stdout.slice(stdout.indexOf('Commands:'));
    const commands = [...listed.matchAll(/^ {2}([a-z]+) /gm)]
      .map(([, name]) => name ?? '')
      .filter((name) => name !== 'help');
    expect(commands.length).toBeGreaterThanOrEqual(6);
    for (const command of commands) {
      expect(page).toContain(`## stowage ${command}`);
      // What stands behind a pipe belongs to other programs.
      const help = (await stowage([command, '--help'])).stdout.replaceAll(/\| (?:kubectl|less|jq) .*$/gm, '');
      for (const [option] of help.matchAll(/--[a-z][a-z-]+/g)) expect(page, `${command} ${option}`).toContain(option);
    }
  });
});
