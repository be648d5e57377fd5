import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runCommand } from './testing/run-command.ts';
import { dump, type Manifest, namespace, node, workload } from './testing/shop.ts';

const folder = mkdtempSync(join(tmpdir(), 'stowage-prices-'));
afterAll(() => rmSync(folder, { recursive: true }));
function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
/** A pod of 100m and 64Mi on 8 cores and 32 GiB bears 0.00722656 of its node: $0.07 at these prices. */
const prices = file('prices.yaml', 'instanceTypes:\n  big: { onDemand: 10, spotDiscount: 60% }\n');

function typed(name: string, capacityType: string, instanceType = 'big'): Manifest {
  const plain = node(name, capacityType) as { metadata: { labels: Record<string, string> } };
  const labels = { ...plain.metadata.labels, 'node.kubernetes.io/instance-type': instanceType };
  return { ...plain, metadata: { ...plain.metadata, labels } };
}

const objects = [
  namespace('shop'),
  typed('spot-1', 'spot'),
  typed('od-1', 'on-demand'),
  typed('od-new', 'on-demand', 'new'),
  ...workload({ name: 'web', annotations: { 'spot-percentage': '100', 'min-on-demand': '1' }, pods: ['od-1', 'od-1'] }),
];
const run = (...args: readonly string[]) => runCommand([...args, '-f', '-'], { stdin: dump(...objects) });

describe('with prices', () => {
  test('explain tells cost, target and what the floor costs', async () => {
    const { stdout } = await run('explain', 'deploy/shop/web', '--prices', prices);
    expect(stdout).toContain(
      'Cost: $0.1445/h now, about $106 a month; all on on-demand $0.1445/h: the mix saves $0.0000/h (0 %)',
    );
    expect(stdout).toContain('Cost: $0.1012/h once every replica is on the side of its slot');
    expect(stdout).toContain('Cost: the floor keeps 1 replica from spot for $0.0434/h');
  });

  test('status has a column and a sum', async () => {
    const { stdout } = await run('status', '--prices', prices);
    expect(stdout).toContain('Cost: $0.1445/h now');
    expect(stdout).toMatch(/ON-DEMAND +COST\/H +STATE/);
    expect(stdout).toMatch(/deployment\/web .*\$0\.1445 +drifted/);
  });

  test('plan tells before and after, of each workload and of all', async () => {
    const { stdout } = await run('plan', '--prices', prices);
    expect(stdout).toContain('  cost      $0.1445/h now, $0.1012/h after');
    expect(stdout).toContain('Cost: $0.1012/h, about $74 a month, once every replica is on the side of its slot.');
    const document = JSON.parse((await run('plan', '--prices', prices, '-o', 'json')).stdout);
    expect(document).toMatchObject({
      cost: { pods: 2, pricedPods: 2 },
      workloads: [{ cost: { floor: { replicas: 1 } } }],
    });
  });

  test('the configuration may name the file', async () => {
    const config = file('config.yaml', `placement:\n  prices: ${prices}\n`);
    expect((await run('status', '-c', config)).stdout).toContain('Cost: $0.1445/h now');
  });

  test('the file that the configuration names may be on the operator’s machine only: all else is told', async () => {
    const elsewhere = file('elsewhere.yaml', `placement:\n  prices: ${folder}/none.yaml\n`);
    const { code, stdout, stderr } = await run('status', '-c', elsewhere);
    expect([code, stdout]).toEqual([0, (await run('status')).stdout]);
    const told = `costs are not told: failed to read prices file ${folder}/none.yaml: there is no such file`;
    expect(stderr).toContain(`warning: ${told}`);
    expect(JSON.parse((await run('plan', '-c', elsewhere, '-o', 'json')).stdout).problems).toEqual([
      expect.stringContaining(told),
    ]);
    const broken = file('broken-prices.yaml', 'instanceTypes:\n  big: { onDemand: cheap }\n');
    const mistaken = file('mistaken.yaml', `placement:\n  prices: ${broken}\n`);
    expect((await run('status', '-c', mistaken)).code).toBe(1);
  });

  test('a type without a price is named, in no figure', async () => {
    const more = workload({ name: 'new', annotations: { 'spot-percentage': '0' }, pods: ['od-new', 'od-1'] });
    const stdin = dump(...objects, ...more);
    const { stdout } = await runCommand(['status', '--prices', prices, '-f', '-'], { stdin });
    expect(stdout).toContain('Cost: unknown for 1 of 4 pods: the prices file does not tell new on on-demand');
    expect(stdout).toMatch(/deployment\/new .*\$0\.0723\+\? +balanced/);
  });

  test('without a file nothing is said of costs', async () => {
    for (const command of [['status'], ['plan'], ['explain', 'deploy/shop/web']]) {
      expect((await run(...command)).stdout).not.toMatch(/cost/i);
    }
  });

  test('a file that is not valid is one line a problem', async () => {
    const broken = file('broken.yaml', 'instanceTypes:\n  big: { onDemand: cheap }\n');
    const { code, stderr } = await run('status', '--prices', broken);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^stowage: .*broken\.yaml:2: instanceTypes: big: onDemand is not a number: "cheap"/);
  });
});
