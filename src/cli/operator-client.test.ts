import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createDeferred } from '../lib/deferred.ts';
import { describeError } from '../lib/errors.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { fetchFleet } from './operator-client.ts';
import { answeringOperator } from './testing/answering-operator.ts';
import { runCommand } from './testing/run-command.ts';
import { dump, shopCluster, workload } from './testing/shop.ts';

const NOON = Date.UTC(2026, 0, 2, 12);
const cooldown = {
  rule: 'cooled-down',
  reason: 'CooldownActive',
  message: 'The last disruption was 4s ago; the next may follow in 6s',
  advice: 'Nothing to do.',
  retryAfterMillis: 6000,
};
const told = {
  at: NOON,
  isLeader: true,
  lastDisruption: NOON - 4000,
  journal: [
    {
      kind: 'done',
      reason: 'EvictedForRebalance',
      message: 'Evicted pod web-1',
      firstAt: NOON - 4000,
      lastAt: NOON - 4000,
      count: 1,
    },
    {
      kind: 'blocked',
      reason: 'CooldownActive',
      message: 'waits',
      pod: 'web-2',
      firstAt: NOON,
      lastAt: NOON,
      count: 3,
    },
  ],
  cost: { pods: 2, pricedPods: 2, actual: 0.2, allOnDemand: 0.4, perReplica: { spot: 0.1 }, unknown: [] },
  plan: { policy: { state: 'managed' } },
  story: {
    workload: 'Deployment/shop/web',
    headline: '0 on spot, 2 on on-demand, 1 and 1 wanted; 1 to move',
    policy: ['spot percentage 50 of all replicas, rounded up (from workload)'],
    pods: [
      {
        ref: { namespace: 'shop', name: 'web-2', uid: 'u2' },
        revision: 'r1',
        slot: 1,
        wantedSide: 'spot',
        actualSide: 'on-demand',
        node: 'od-1',
        ready: true,
        state: 'wrong-side',
        note: 'runs on on-demand, its slot is spot',
      },
    ],
    notes: [],
    blocks: [cooldown],
    next: 'pod web-2 moves from on-demand to spot at 2026-01-02T12:00:06.000Z, in 6s',
  },
};
const explain = (url: string, ...more: readonly string[]) =>
  runCommand(['explain', 'deploy/shop/web', '--operator', url, ...more]);

describe('explain --operator', () => {
  test('shows cooldown, last disruption and journal, and needs no cluster', async () => {
    const { url, asked } = await answeringOperator(told);
    const { stdout, stderr, code } = await explain(url);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Blocked by CooldownActive: The last disruption was 4s ago');
    expect(stdout).toContain('Last disruption: 2026-01-02T11:59:56.000Z');
    expect(stdout).toContain('Cost: $0.2000/h now');
    expect(stdout).toMatch(/2026-01-02T11:59:56\.000Z +1 +done +EvictedForRebalance +Evicted pod web-1/);
    expect(asked).toEqual(['/explain?workload=Deployment%2Fshop%2Fweb']);
  });

  test('JSON has the same', async () => {
    const { url } = await answeringOperator(told);
    const document = JSON.parse((await explain(url, '-o', 'json')).stdout);
    expect(document).toMatchObject({
      kind: 'Explanation',
      workload: 'Deployment/shop/web',
      blocks: [{ reason: 'CooldownActive', advice: 'Nothing to do.' }],
      operator: { isLeader: true, lastDisruption: '2026-01-02T11:59:56.000Z', journal: [{ count: 1 }, { count: 3 }] },
    });
  });

  test('a base path is kept', async () => {
    const { url, asked } = await answeringOperator(told);
    await explain(`${url}/stowage`);
    expect(asked).toEqual(['/stowage/explain?workload=Deployment%2Fshop%2Fweb']);
  });

  test('a follower is told to be one', async () => {
    const { url } = await answeringOperator({ ...told, isLeader: false });
    expect((await explain(url)).stderr).toContain('is not the leader');
  });

  test('one that has no news of the cluster is told to have none, in the document too', async () => {
    const { url } = await answeringOperator({ ...told, synced: true, stale: ['pods', 'nodes'] });
    const problem = 'the operator has no news of pods, nodes: what it tells may be of before';
    expect((await explain(url)).stderr).toBe(`warning: ${problem}\n`);
    expect(JSON.parse((await explain(url, '-o', 'json')).stdout).problems).toEqual([problem]);
  });

  test('a workload it does not know: its own words', async () => {
    const { url } = await answeringOperator({ code: 'NOT_FOUND', message: 'there is no Deployment/shop/web' }, 404);
    expect(await explain(url)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('says: there is no Deployment'),
    });
  });

  test.each([
    ['something else', { hello: 1 }],
    ['no JSON', '<html>'],
  ])('an answer that is %s is not taken for one', async (_, body) => {
    const { url } = await answeringOperator(body);
    expect(await explain(url)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not of an operator of this version'),
    });
  });

  test('nobody there: what to check', async () => {
    const { code, stderr } = await explain('http://127.0.0.1:1');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^stowage: the operator at http:\/\/127\.0\.0\.1:1\/ cannot be asked: .*Check --operator/);
  });

  test('one that does not answer, behind a port-forward that died: it is told to be the operator', async () => {
    const asked = createDeferred<void>();
    const server = createServer(() => asked.resolve());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const clock = createVirtualClock(NOON);
    const io = { clock, env: {}, signal: new AbortController().signal };
    const told = fetchFleet({ url: new URL(`http://127.0.0.1:${port}`), io }).catch(describeError);
    await asked.promise;
    await clock.advance(10_000);
    expect(await told).toMatch(
      /^the operator at http:\/\/127\.0\.0\.1:\d+\/ cannot be asked: no complete answer within 10 s\. Check --operator: .*\.$/,
    );
  });

  test.each([
    [['--operator', 'localhost:8080']],
    [['--operator', 'http://localhost:8080', '-f', 'x.yaml']],
    [['--operator', 'http://localhost:8080', '--prices', 'x.yaml']],
  ])('%j is a wrong command line', async (args) => {
    expect((await runCommand(['explain', 'deploy/shop/web', ...args])).code).toBe(2);
  });
});

describe('status --operator', () => {
  const objects = [
    ...shopCluster(),
    ...workload({ name: 'web', annotations: { 'spot-percentage': '50' }, pods: ['od-1', 'od-1'] }),
    ...workload({ name: 'other', annotations: { 'spot-percentage': '50' }, pods: ['od-1', 'spot-1'] }),
  ];
  const status = async (body: unknown, ...more: readonly string[]) => {
    const { url } = await answeringOperator(body);
    return await runCommand(['status', '-f', '-', '--operator', url, ...more], { stdin: dump(...objects) });
  };
  const fleet = {
    at: NOON,
    isLeader: true,
    workloads: [
      { workload: 'Deployment/shop/web', headline: '', blocks: [cooldown], next: '', lastDisruption: NOON - 4000 },
    ],
  };

  test('what the operator waits for stands behind the workload', async () => {
    const { stdout } = await status(fleet);
    expect(stdout).toContain('1 drifted (1 replica, 1 blocked)');
    expect(stdout).toMatch(/deployment\/web .*drifted; CooldownActive: The last disruption was 4s ago/);
  });

  test('JSON tells the last disruption and when it looks again', async () => {
    const document = JSON.parse((await status(fleet, '-o', 'json')).stdout);
    const web = document.workloads.find(({ name }: { name: string }) => name === 'web');
    expect(web).toMatchObject({
      lastDisruption: '2026-01-02T11:59:56.000Z',
      blockedBy: { reason: 'CooldownActive', retryAt: '2026-01-02T12:00:06.000Z' },
    });
  });

  test('an operator that objects to nothing unblocks what is worked out here', async () => {
    const [told] = fleet.workloads;
    const { stdout } = await status({ ...fleet, workloads: [{ ...told, blocks: [] }] });
    expect(stdout).toContain('1 drifted (1 replica)');
  });

  test('where the cluster cannot be read, the operator alone tells what it knows', async () => {
    const [told] = fleet.workloads;
    const web = { ...told, headline: '2 on spot, 4 on on-demand', next: 'a pod moves' };
    const cart = { ...web, workload: 'Deployment/other/cart', blocks: [] };
    const { url } = await answeringOperator({ ...fleet, workloads: [web, cart] });
    const env = { KUBECONFIG: '/there/is/none' };
    const { code, stdout, stderr } = await runCommand(['status', '--operator', url], { env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^The operator looks after 2 workloads: 1 blocked\n\nWORKLOAD +STATE\n/);
    expect(stdout).toMatch(/Deployment\/shop\/web +2 on spot, 4 on on-demand; CooldownActive: The last disruption/);
    expect(stderr).toMatch(
      /^note: the cluster cannot be read \(.*\/there\/is\/none.*\): this is what the operator tells\n$/,
    );
    const json = await runCommand(['status', '-n', 'shop', '-o', 'json', '--operator', url], { env });
    expect(JSON.parse(json.stdout)).toMatchObject({
      kind: 'OperatorStatus',
      isLeader: true,
      workloads: [{ workload: 'Deployment/shop/web', blockedBy: { reason: 'CooldownActive' }, next: 'a pod moves' }],
    });
    const idle = { ...cart, headline: 'not managed', why: ['the label is missing on the namespace'] };
    const idling = await answeringOperator({ ...fleet, workloads: [idle] });
    expect((await runCommand(['status', '--operator', idling.url], { env })).stdout).toMatch(
      /other\/cart +not managed; the label is missing on the namespace\n/,
    );
    // Without it, or with a mistake in what was named, there is nothing to tell.
    expect((await runCommand(['status'], { env })).code).toBe(1);
    expect((await runCommand(['status', '-c', '/no/file', '--operator', url], { env })).code).toBe(1);
  });

  test.each([
    ['has no news', { synced: true, stale: ['pods'] }, /no news of pods: what it tells may be of before/],
    ['has not read all', { synced: false, stale: [] }, /has not read the whole cluster yet/],
  ])('an operator that %s is told to, whether or not the cluster can be read', async (_, news, problem) => {
    expect((await status({ ...fleet, ...news })).stderr).toMatch(problem);
    const { url } = await answeringOperator({ ...fleet, ...news });
    const env = { KUBECONFIG: '/there/is/none' };
    const ask = (...more: readonly string[]) => runCommand(['status', '--operator', url, ...more], { env });
    expect((await ask()).stderr).toMatch(problem);
    expect(JSON.parse((await ask('-o', 'json')).stdout).problems).toEqual([expect.stringMatching(problem)]);
  });

  test('a follower is told to be one', async () => {
    expect((await status({ ...fleet, isLeader: false })).stderr).toContain('is not the leader');
  });
});

describe('an operator that wants to see a token', () => {
  test('is shown the one in the file of STOWAGE_OPERATOR_TOKEN_FILE', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stowage-token-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'token'), 'secret-of-the-pod\n');
    const seen: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(403, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ code: 'FORBIDDEN', message: 'somebody may not get /explain' }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => new Promise((resolve) => void server.close(() => resolve())));
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
    const env = (file: string) => ({ STOWAGE_OPERATOR_TOKEN_FILE: file });
    // The cluster comes from a file, so that only the operator can fail.
    const run = (file: string) =>
      runCommand(['status', '-f', '-', '--operator', url], { stdin: dump(...shopCluster()), env: env(file) });
    const { code, stderr } = await run(join(folder, 'token'));
    expect({ code, seen }).toEqual({ code: 1, seen: ['Bearer secret-of-the-pod'] });
    expect(stderr).toContain('says: somebody may not get /explain');
    expect((await run(join(folder, 'none'))).stderr).toContain('names a file that cannot be read');
  });

  test('an answer that breaks off is told as what it is, not as one of another version', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 1000 });
      response.write('{"at":', () => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => new Promise((resolve) => void server.close(() => resolve())));
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
    const { code, stderr } = await explain(url);
    expect(code).toBe(1);
    expect(stderr).toContain('cannot be asked: ');
    expect(stderr).not.toContain('of this version');
  });
});
