import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { resources } from '../api/resources.ts';
import { configOf } from '../config/testing/load-text.ts';
import { createLogger, createSilentLogger } from '../lib/log.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import type { NodePage, OverviewAnswer, PoliciesAnswer, WorkloadPage } from '../web/dashboard/answers.ts';
import type { SimulationAnswer, SimulationsAnswer } from '../web/dashboard/simulation-answer.ts';
import type { WorkloadAnswer } from '../web/dashboard/workload-answer.ts';
import { startEndpointServer } from '../web/endpoint-server.ts';
import { type ServeDashboardOptions, serveDashboard } from './serve-dashboard.ts';
import { type DashboardWorld, startDashboardWorld } from './testing/dashboard-world.ts';

async function get<Answer>({ url }: DashboardWorld, path: string): Promise<Answer> {
  const response = await fetch(`${url}api/${path}`);
  expect(response.status).toBe(200);
  return (await response.json()) as Answer;
}

/** Lets time pass until the overview is as expected. */
async function untilOverview(
  world: DashboardWorld,
  holds: (overview: OverviewAnswer) => boolean,
): Promise<OverviewAnswer> {
  let last: OverviewAnswer | undefined;
  await world.until('the overview', async () => {
    await world.clock.advance(2_000);
    last = await get<OverviewAnswer>(world, 'overview');
    return holds(last);
  });
  if (last === undefined) throw new Error('never asked');
  return last;
}

const isSettled = ({ counts, sizing, allocation }: OverviewAnswer): boolean =>
  counts.balanced === 4 && sizing?.results['Recommended'] === 6 && (allocation?.pods ?? 0) > 0;

describe('what the dashboard tells', () => {
  test('of the whole: sums, costs, advice, shares, and the decisions, newest first', async () => {
    const world = await startDashboardWorld();
    const overview = await untilOverview(world, isSettled);
    expect(overview).toMatchObject({
      operator: { isLeader: true, readOnly: false, synced: true, stale: [], engines: { allocation: true } },
      counts: { all: 7, managed: 5, invalid: 1, unmanaged: 1, drifted: 1, blocked: 1 },
      target: { spot: 21, onDemand: 5 },
      actual: { unknown: 0, pending: 0 },
      blocks: [{ reason: 'OutsideWindow', count: 1, example: 'Deployment/shop/checkout' }],
      sizing: { policies: 1, workloads: 6 },
    });
    expect(overview.nodes.map(({ class: side, nodes }) => [side, nodes])).toEqual([
      ['spot', 3],
      ['on-demand', 2],
    ]);
    const { actual = 0, allOnDemand = 0 } = overview.cost ?? {};
    expect(actual).toBeGreaterThan(0);
    expect(allOnDemand).toBeGreaterThan(actual);
    expect(overview.sizing?.saving.cpuMillis).toBeGreaterThan(1000);
    const times = overview.decisions.map(({ at }) => at);
    expect(times).toEqual([...times].sort((a, b) => b - a));
  });

  test('of workloads, one workload, nodes and policies', async () => {
    const world = await startDashboardWorld();
    await untilOverview(world, isSettled);
    const page = await get<WorkloadPage>(world, 'workloads?state=managed&sort=replicas&order=desc&size=2');
    expect(page).toMatchObject({ matching: 5, page: 1, pageSize: 2 });
    expect(page.rows.map(({ name }) => name)).toEqual(['web', 'checkout']);
    expect(page.rows[0]).toMatchObject({
      state: 'balanced',
      ready: 8,
      actual: { spot: 6, onDemand: 2 },
      target: { spot: 6, onDemand: 2 },
      size: { policy: 'shop/sizes', mode: 'Recommend', status: 'Recommended' },
    });

    const web = await get<WorkloadAnswer>(world, 'workload?of=Deployment/shop/web');
    expect(web.placement).toMatchObject({ policyState: 'managed', drift: 0, floor: 1 });
    expect(web.placement?.slots.map(({ slot }) => slot)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(web.placement?.slots.every(({ zone }) => zone?.startsWith('eu-west-1'))).toBe(true);
    expect(web.placement?.costLines.join()).toContain('the mix saves');
    expect(web.sizing?.containers[0]).toMatchObject({ container: 'app', cpuRequest: 300 });
    expect(web.sizing?.containers[0]?.cpuStages.length).toBeGreaterThan(0);
    expect(web.sizing?.containers[0]?.cpuUsage).toMatchObject({ request: 300 });
    expect(web.sizing?.containers[0]?.cpuUsage?.highest).toBeGreaterThan(110);
    expect(web.sizing?.containers[0]?.memoryUsage).toMatchObject({ of: 'peaks', request: 256 * 1024 ** 2 });

    expect(web.shares).toMatchObject({ since: web.at, omitted: 0 });
    await world.clock.advance(60_000);
    const later = await get<WorkloadAnswer>(world, 'workload?of=Deployment/shop/web');
    expect(later.shares?.since).toBe(web.at);
    expect(later.shares?.pods.map(({ pod }) => pod).sort()).toEqual(later.allocation.map(({ pod }) => pod).sort());
    for (const { given, used } of later.shares?.pods ?? []) {
      expect(given.at(-1)?.[1]).toBe(300);
      expect(used.at(-1)?.[1]).toBeGreaterThan(100);
    }

    const broken = await get<WorkloadAnswer>(world, 'workload?of=Deployment/shop/broken');
    expect(broken.placement?.policy.join()).toContain('"lots"');

    const nodes = await get<NodePage>(world, 'nodes?class=spot&sort=zone');
    expect(nodes.nodes.map(({ zone }) => zone)).toEqual(['eu-west-1a', 'eu-west-1b', 'eu-west-1c']);
    for (const node of nodes.nodes) {
      expect(node.pods.reduce((sum, { cpuMillis }) => sum + cpuMillis, 0)).toBe(node.cpuRequested);
      expect(node).toMatchObject({ class: 'spot', state: 'ready', cpuMillis: 4000, instanceType: 'm7.xlarge' });
    }

    const policies = await get<PoliciesAnswer>(world, 'policies');
    expect(policies.policies).toMatchObject([
      { namespace: 'shop', name: 'sizes', mode: 'Recommend', owned: 6, problems: [] },
    ]);
    expect(policies.placementDefaults.map(({ name }) => name)).toContain('Spot percentage');
  });

  test('of reports of simulations, and of files that are none', async () => {
    const world = await startDashboardWorld();
    writeFileSync(join(world.reports, 'bad.json'), '{');
    const { folder, files } = await get<SimulationsAnswer>(world, 'simulations');
    expect([folder, files.map(({ file }) => file).sort()]).toEqual([world.reports, ['bad.json', 'storm.json']]);
    const report = await get<SimulationAnswer>(world, 'simulation?of=storm.json');
    expect(report.runs).toMatchObject([{ scenario: 'storm', hasPassed: true }]);
    const bad = await fetch(`${world.url}api/simulation?of=bad.json`);
    expect([bad.status, await bad.json()]).toMatchObject([
      422,
      { message: expect.stringContaining('bad.json: This is no') },
    ]);
  });

  test.each([
    ['simulation', 404],
    ['simulation?of=..%2Fprices.yaml', 404],
    ['workload?of=Deployment/shop/nothing', 404],
    ['workload?of=nonsense', 400],
    ['workload', 400],
    ['secrets', 404],
  ])('%s is %i', async (path, status) => {
    const world = await startDashboardWorld();
    expect((await fetch(`${world.url}api/${path}`)).status).toBe(status);
  });

  test('nothing that is secret, whatever the cluster holds', async () => {
    const world = await startDashboardWorld();
    const secret = 'c2VjcmV0LW9mLXRoZS1zaG9w';
    await world.api.create(
      resources.secrets,
      { metadata: { name: 's' }, data: { password: secret } },
      { namespace: 'shop' },
    );
    const annotations = { 'example.com/token': secret, 'spotalis.io/spot-percentage': '50' };
    await world.api.patch(
      resources.deployments,
      'web',
      { type: 'merge', body: { metadata: { annotations } } },
      { namespace: 'shop' },
    );
    await world.clock.advance(20_000);
    const paths = ['overview', 'workloads', 'workload?of=Deployment/shop/web', 'nodes', 'policies'];
    const texts = await Promise.all(paths.map(async (path) => (await fetch(`${world.url}api/${path}`)).text()));
    for (const text of texts) {
      expect(text.length).toBeGreaterThan(100);
      expect(text).not.toContain(secret);
    }
  });
});

describe('who is answered', () => {
  /** With this name as `Host`, which fetch would not let us set. */
  const statusFor = (
    url: string,
    options: { readonly host?: string; readonly method?: string },
  ): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const headers = options.host === undefined ? {} : { host: options.host };
      const asking = request(
        `${url}api/overview`,
        { method: options.method ?? 'GET', headers, agent: false },
        (response) => {
          response.resume();
          resolve(response.statusCode);
        },
      );
      asking.on('error', reject).end();
    });

  test('nobody under a foreign name, and nobody who wants to change something', async () => {
    const { url } = await startDashboardWorld();
    expect(await statusFor(url, {})).toBe(200);
    expect(await statusFor(url, { host: 'rebound.example.com' })).toBe(403);
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])
      expect(await statusFor(url, { method })).toBe(405);
  });

  test('pages and answers carry the policy that keeps foreign code out', async () => {
    const { url } = await startDashboardWorld();
    for (const path of ['', 'app.js', 'style.css', 'icon.svg', 'api/overview']) {
      const { status, headers } = await fetch(url + path);
      expect([path, status]).toEqual([path, 200]);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  test('decisions come as they are made, and ending the operator ends the stream', async () => {
    const world = await startDashboardWorld();
    const response = await fetch(`${world.url}api/decisions`);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let heard = '';
    const listening = (async () => {
      for (;;) {
        const { value, done } = (await reader?.read()) ?? { value: undefined, done: true };
        if (done) return;
        heard += value;
      }
    })().catch(() => {});
    await world.until('a decision', () => heard.includes('data: {'));
    expect(heard).toMatch(/"workload":"Deployment\/shop\//);
    const stopping = world.operator().stop();
    await world.clock.advance(10_000);
    await Promise.all([stopping, listening]);
  });
});

test('spot nodes that are lost in numbers are told, though nothing waits to be moved', async () => {
  const world = await startDashboardWorld();
  expect((await untilOverview(world, isSettled)).storm).toBeUndefined();
  for (const node of ['spot-1a-0', 'spot-1b-1', 'spot-1c-2']) {
    world.cluster.kubelet.loseNode(node);
    await world.api.delete(resources.nodes, node);
  }
  const { storm } = await untilOverview(world, (overview) => overview.storm !== undefined);
  expect(storm).toMatchObject({ reason: 'StormCalm', message: expect.stringContaining('3 spot nodes were lost') });
});

describe('opening the port', () => {
  const optionsFor = (env: Readonly<Record<string, string>>, lines: string[] = []): ServeDashboardOptions => {
    const config = configOf('', env);
    const clock = createVirtualClock(0);
    const nothing = (): never => {
      throw new Error('not asked for here');
    };
    return {
      config: () => config,
      view: {
        freshness: nothing,
        namespace: nothing,
        nodes: nothing,
        node: nothing,
        workloads: nothing,
        workload: nothing,
        workloadByUid: nothing,
        replicaSet: nothing,
        replicaSetsOf: nothing,
        podsOwnedBy: nothing,
        pod: nothing,
        podsOnNode: nothing,
        requestedOnNode: nothing,
        pdbs: nothing,
        predecessors: nothing,
        volumeClaim: nothing,
      },
      rules: nothing,
      explain: nothing,
      journal: { recent: nothing, onRecord: nothing, entries: nothing },
      storm: nothing,
      sizing: undefined,
      identity: 'me',
      isLeader: () => true,
      leader: () => undefined,
      clock,
      log: createLogger({ level: 'info', format: 'json', clock, write: (line) => void lines.push(line) }),
    };
  };

  test('switched off, nothing listens', async () => {
    expect(await serveDashboard(optionsFor({ SPOTALIS_WEB_ENABLED: 'false' }))).toBeUndefined();
  });

  test('a port that is taken is told, and the operator goes on without', async () => {
    const address = { host: '127.0.0.1', port: 0 };
    const other = await startEndpointServer({ name: 'other', address, endpoints: {}, log: createSilentLogger() });
    onTestFinished(() => other.close());
    const lines: string[] = [];
    expect(
      await serveDashboard(optionsFor({ SPOTALIS_WEB_BIND_ADDRESS: `127.0.0.1:${other.port}` }, lines)),
    ).toBeUndefined();
    expect(lines.join()).toContain('web.bindAddress');
  });

  test('by default only this machine is listened to', () => {
    expect(optionsFor({}).config().web).toEqual({
      enabled: true,
      bindAddress: { host: '127.0.0.1', port: 8083 },
      allowedHosts: [],
      reports: '',
    });
  });
});
