import { describe, expect, test } from 'vitest';
import { runCommand } from '../testing/run-command.ts';
import { budget, dump, namespace, node, shopCluster, workload } from '../testing/shop.ts';

const half = { 'spot-percentage': '50' };
const objects = [
  ...shopCluster(),
  node('odd-1', 'lunar'),
  ...workload({ name: 'good', annotations: half, pods: ['spot-1', 'od-1'] }),
  ...workload({ name: 'drifted', annotations: half, pods: ['od-1', 'od-1'] }),
  ...workload({ name: 'short', annotations: half, pods: ['spot-1', ''], replicas: 2 }),
  ...workload({ name: 'bad', annotations: { 'spot-percentage': 'x' }, pods: ['od-1'] }),
  ...workload({ name: 'off', enabled: false, pods: ['odd-1'] }),
];
const status = (...args: readonly string[]) => runCommand(['status', '-f', '-', ...args], { stdin: dump(...objects) });

describe('status', () => {
  test('sums up the fleet, the nodes and each enabled workload', async () => {
    const { stdout, code } = await status();
    expect(code).toBe(0);
    expect(stdout.split('\n')).toEqual([
      '3 of 5 workloads managed: 1 drifted (1 replica), 1 incomplete, 1 invalid',
      '',
      'NODES       COUNT   USABLE   PODS',
      'spot            2        2      2',
      'on-demand       2        2      4',
      'unknown         1        1      1',
      '',
      'NAMESPACE   WORKLOAD             READY   SPOT   ON-DEMAND   STATE',
      expect.stringMatching(/^shop {8}deployment\/bad {9}1\/1 {6}0 {11}1 {3}invalid; workload annotation spotalis/),
      'shop        deployment/drifted     2/2    0/1         2/1   drifted',
      'shop        deployment/good        2/2    1/1         1/1   balanced',
      'shop        deployment/short       1/2    1/1         0/1   incomplete',
      '',
    ]);
  });

  test('a labelled workload of a namespace that is not labelled is told: somebody waits for it', async () => {
    const elsewhere = dump(
      ...shopCluster().slice(1),
      namespace('shop', {}),
      ...workload({ name: 'web', annotations: half, pods: ['spot-1', 'od-1'] }),
      ...workload({ name: 'off', enabled: false, pods: ['od-1'] }),
    );
    const { stdout, stderr } = await runCommand(['status', '-f', '-'], { stdin: elsewhere });
    expect(stdout).toContain('0 of 2 workloads managed');
    expect(stderr).toContain(
      'warning: Deployment shop/web: Not managed: the label spotalis.io/enabled: "true" is missing on the namespace\n',
    );
    expect(stderr).not.toContain('shop/off');
  });

  test('of many warnings the first are told, and the others counted for what they are', async () => {
    const many = Array.from({ length: 23 }, (_, index) =>
      workload({ name: `web-${index}`, annotations: half, pods: [] }),
    );
    const stdin = dump(...shopCluster().slice(1), namespace('shop', {}), ...many.flat());
    const { stderr } = await runCommand(['status', '-f', '-'], { stdin });
    expect(stderr.match(/Not managed/g)).toHaveLength(20);
    expect(stderr).toContain('warning: 3 more like these are not listed\n');
  });

  test('the document has what was ignored and what came more than once, as those of plan and explain', async () => {
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace: 'shop' } };
    const stdin = dump(...objects, service, ...workload({ name: 'off', enabled: false, pods: [] }));
    const { stdout } = await runCommand(['status', '-f', '-', '-o', 'json'], { stdin });
    const { ignored, problems } = JSON.parse(stdout);
    expect(ignored).toEqual({ Service: 1 });
    expect(problems).toEqual([expect.stringMatching(/ more than once in the input.*Deployment shop\/off/)]);
  });

  test('a blocked move says what blocks it', async () => {
    const stdin = dump(...objects, budget('drifted', 0));
    const { stdout } = await runCommand(['status', '-f', '-'], { stdin });
    expect(stdout).toContain('1 drifted (1 replica, 1 blocked)');
    expect(stdout).toContain('drifted; BlockedByPdb: PodDisruptionBudget drifted allows no disruption now');
    const { workloads } = JSON.parse((await runCommand(['status', '-f', '-', '-o', 'json'], { stdin })).stdout);
    expect(workloads[1]).toMatchObject({
      name: 'drifted',
      blockedBy: { reason: 'BlockedByPdb', advice: expect.stringContaining('Wait') },
    });
  });

  test('-o wide adds pods of unknown side and pods without a node', async () => {
    expect((await status('-o', 'wide')).stdout).toMatch(
      /NAMESPACE +WORKLOAD +READY +SPOT +ON-DEMAND +UNKNOWN +PENDING +STATE\n/,
    );
  });

  test('a terminal cuts long lines at its edge', async () => {
    const { stdout } = await runCommand(['status', '-f', '-', '--no-color'], { stdin: dump(...objects), columns: 80 });
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  test('JSON has every figure', async () => {
    const document = JSON.parse((await status('-o', 'json')).stdout);
    expect(document).toMatchObject({
      kind: 'FleetStatus',
      summary: { workloads: 5, managed: 3, drifted: 1, driftedReplicas: 1, incomplete: 1, invalid: 1 },
      nodes: [{ class: 'spot', nodes: 2, usable: 2, pods: 2 }, { class: 'on-demand' }, { class: 'unknown', nodes: 1 }],
    });
    expect(document.workloads.map(({ name, state }: { name: string; state: string }) => [name, state])).toEqual([
      ['bad', 'invalid'],
      ['drifted', 'drifted'],
      ['good', 'balanced'],
      ['short', 'incomplete'],
    ]);
  });
});
