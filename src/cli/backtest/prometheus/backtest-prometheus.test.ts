import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CommandResult, runCommand } from '../../testing/run-command.ts';
import { type ScriptedContainer, servePrometheus } from '../testing/scripted-prometheus.ts';

const DAY = 86_400_000;
const MIB = 1024 * 1024;
const wave = (at: number): number => Math.sin((2 * Math.PI * at) / DAY);

/** 200 to 1000 millicores, 300 to 500 MiB, in a daily wave. */
const web: ScriptedContainer = {
  namespace: 'shop',
  pod: 'web-7d4f9c5b8-x2k7p',
  container: 'app',
  cpu: (at) => 0.6 + 0.4 * wave(at),
  memory: (at) => Math.round((400 + 100 * wave(at)) * MIB),
  owner: ['ReplicaSet', 'web-7d4f9c5b8'],
  requests: { cpu: '2', memory: String(1024 * MIB) },
};
const db: ScriptedContainer = {
  namespace: 'bank',
  pod: 'db-0',
  container: 'postgres',
  cpu: () => 0.25,
  memory: () => 800 * MIB,
  owner: ['StatefulSet', 'db'],
  requests: { cpu: '0.2' },
};
const replicaSets = { 'shop/web-7d4f9c5b8': ['Deployment', 'web'] } as const;

const backtest = (url: URL, ...args: readonly string[]): Promise<CommandResult> =>
  runCommand(['backtest', '--data', 'prometheus', '--prometheus', url.href, '--since', '4d', ...args]);

interface Row {
  readonly strategy: string;
  readonly slack: number;
  readonly ooms: number;
  readonly pooled: { readonly slack: number; readonly underProvisioned: number; readonly changesPerDay: number };
  readonly perSeries: readonly { readonly series: string }[];
}

async function documentOf(url: URL, ...args: readonly string[]) {
  const { code, stdout, stderr } = await backtest(url, '-o', 'json', ...args);
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  const { cpu, memory, problems } = JSON.parse(stdout);
  const row = (rows: readonly Row[], name: string): Row | undefined => rows.find(({ strategy }) => strategy === name);
  return {
    source: String(cpu[0].source),
    problems: problems as string[],
    series: (cpu[0].strategies[0].perSeries as Row['perSeries']).map(({ series }) => series),
    cpu: (name: string): Row | undefined => row(cpu[0].strategies, name),
    memory: (name: string): Row | undefined => row(memory[0].strategies, name),
    containers: memory[0].perContainer as { trace: string; strategies: Row[] }[],
  };
}

describe('backtest --data prometheus', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'stowage-backtest-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };

  test('CPU and memory of every workload, beside what they request now', async () => {
    const { url } = await servePrometheus({ containers: [web, db], replicaSets });
    const found = await documentOf(url);
    expect(found.source).toBe(`${url.href}, 4d`);
    expect(found.series).toEqual(['Deployment shop/web app', 'StatefulSet bank/db postgres']);
    expect(found.containers.map(({ trace }) => trace)).toEqual(found.series);
    expect(found.cpu('as is')?.pooled).toMatchObject({ underProvisioned: expect.closeTo(0.5, 1), changesPerDay: 0 });
    // 1024 MiB requested, 400 used on average; of the database no memory request is known.
    expect(found.memory('as is')).toMatchObject({ slack: expect.closeTo(0.61, 1), ooms: 0 });
    expect(found.problems).toEqual(['the row "as is" leaves out 1 container without a memory request']);
    for (const name of ['stowage', 'vpa-like', 'krr-like']) {
      expect(found.cpu(name)?.pooled.slack).toBeGreaterThan(0);
      expect(found.memory(name)?.slack).toBeGreaterThan(0);
    }
    expect(found.memory('stowage')?.slack).toBeLessThan(found.memory('as is')?.slack ?? 0);
  });

  test('as tables for people, containers each with -o wide', async () => {
    const { url } = await servePrometheus({ containers: [web, db], replicaSets });
    const { stdout } = await backtest(url, '-o', 'wide');
    expect(stdout).toContain(`CPU of 2 series (${url.href}, 4d)`);
    expect(stdout).toContain(`Memory of 2 containers (${url.href}, 4d)`);
    expect(stdout).toMatch(/^as is +\d+\.\d % .* what is requested now$/m);
    expect(stdout).toMatch(/^all containers +as is /m);
    expect(stdout).toMatch(/^Deployment shop\/web app +krr-like /m);
    expect((await backtest(url)).stdout).not.toMatch(/^Deployment shop\/web app/m);
  });

  test('a namespace, or workloads by name', async () => {
    const { url } = await servePrometheus({ containers: [web, db], replicaSets });
    expect((await documentOf(url, '-n', 'bank')).series).toEqual(['StatefulSet bank/db postgres']);
    expect((await documentOf(url, '--workload', 'deploy/shop/web')).series).toEqual(['Deployment shop/web app']);
    expect((await documentOf(url, '--workload', 'sts/db', '--workload', 'sts/bank/db', '-n', 'bank')).problems).toEqual(
      [expect.stringContaining('without a memory request')],
    );
  });

  test('policies have their rows of CPU and memory', async () => {
    const { url } = await servePrometheus({ containers: [web], replicaSets });
    const policy = file(
      'policy.yaml',
      `apiVersion: optipod.io/v1alpha1
kind: OptimizationPolicy
metadata: { name: roomy }
spec:
  mode: Auto
  selector: { workloadSelector: { matchLabels: { app: web } } }
  metricsConfig: { provider: prometheus, strategy: Max, safetyFactor: 2, rollingWindow: 7d }
  resourceBounds: { cpu: { min: 10m, max: "4" }, memory: { min: 16Mi, max: 8Gi } }
  updateStrategy: {}
`,
    );
    const found = await documentOf(url, '--policy', policy);
    expect(found.cpu('policy roomy')?.pooled.underProvisioned).toBe(0);
    expect(found.memory('policy roomy')?.slack).toBeGreaterThan(found.memory('stowage')?.slack ?? 1);
  });

  test('all replicas are judged, those that a rollout replaced, too, and none of another workload', async () => {
    const half = Date.now() - 2 * DAY;
    const old = { ...web, pod: 'web-5c9d8f7b6-aaaaa', cpu: (at: number) => (at < half ? 0.5 : undefined) };
    const { owner: _gone, ...before } = { ...old, pod: 'web-5c9d8f7b6-z8x7w' };
    const second = { ...web, pod: 'web-7d4f9c5b8-b4c5d', memory: () => 2000 * MIB };
    const foreign = { ...web, pod: 'web-7d4f9c5b8-qqqqq', owner: ['ReplicaSet', 'other'] as const, cpu: () => 900 };
    const { url } = await servePrometheus({ containers: [web, second, before, foreign], replicaSets });
    const found = await documentOf(url, '--workload', 'deploy/shop/web');
    // Nothing of the 900 cores: 2 cores requested are always enough.
    expect(found.cpu('as is')?.pooled.underProvisioned).toBe(0);
    // The second replica wants more than the 1024 MiB there are, and is killed every time.
    expect(found.memory('as is')?.ooms).toBeGreaterThan(500);
    expect(found.memory('stowage')?.ooms).toBe(0);
  });

  test('never more than 11,000 points a series, and long stretches in pieces that fit without overlap', async () => {
    const { url, received } = await servePrometheus({ containers: [web], replicaSets });
    const since = ['--since', '60d'];
    const { code } = await runCommand(['backtest', '--data', 'prometheus', '--prometheus', url.href, ...since]);
    expect(code).toBe(0);
    const ranges = received
      .filter(({ path, form }) => path.endsWith('query_range') && form.get('query')?.includes('cpu_usage'))
      .map(({ form }) => ['start', 'end', 'step'].map((name) => Number(form.get(name))) as [number, number, number]);
    expect(ranges.length).toBeGreaterThan(0);
    for (const [index, [start, end, step]] of ranges.entries()) {
      expect((end - start) / step + 1).toBeLessThanOrEqual(11_000);
      if (index > 0) expect(start).toBe((ranges[index - 1]?.[1] ?? 0) + step);
    }
    const points = ranges.reduce((sum, [start, end, step]) => sum + (end - start) / step + 1, 0);
    expect(points).toBeGreaterThan(60 * 288 - 3);
  });

  test('without kube-state-metrics, named workloads are replayed and there is no row "as is"', async () => {
    const { owner: _owner, requests: _requests, ...bare } = web;
    const { url } = await servePrometheus({ containers: [bare] });
    const found = await documentOf(url, '--workload', 'deploy/shop/web');
    expect(found.series).toEqual(['Deployment shop/web app']);
    expect(found.cpu('as is')).toBeUndefined();
    expect(found.problems).toEqual([expect.stringContaining('there is no row "as is"')]);
    const { code, stderr } = await backtest(url, '-n', 'shop');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^stowage: .*knows of no pod in namespace shop .*kube-state-metrics.*--workload [^\n]*\n$/);
  });

  test('a token and an authority go along', async () => {
    const { url, received } = await servePrometheus({ containers: [web], replicaSets });
    await backtest(url, '--prometheus-token', file('token', 'secret-token\n'));
    expect(new Set(received.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer secret-token']));
  });

  test('the address is that of the configuration where none is given', async () => {
    const { url } = await servePrometheus({ containers: [web], replicaSets });
    const config = file('config.yaml', `rightsizing: { prometheus: { url: "${url.href}" } }\n`);
    const { code, stdout } = await runCommand(['backtest', '--data', 'prometheus', '--since', '3d', '-c', config]);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('CPU of 1 series') });
  });

  test('values that are none, containers that are too young, resources that are missing: the rest counts, each told', async () => {
    const young = (at: number): number | undefined => (at > Date.now() - DAY ? 0.1 : undefined);
    const { url } = await servePrometheus({
      containers: [
        { ...web, cpu: (at) => (at % 900_000 === 0 ? 'NaN' : 0.5) },
        { ...web, container: 'young', cpu: young, memory: young },
        { ...web, container: 'unmeasured', memory: () => 'NaN' },
        { ...db, cpu: () => 'NaN', memory: () => 'NaN' },
      ],
      replicaSets,
      more: { isPartial: true },
    });
    const found = await documentOf(url);
    expect(found.series).toEqual(['Deployment shop/web app', 'Deployment shop/web unmeasured']);
    expect(found.problems).toEqual([
      expect.stringMatching(/^Deployment shop\/web: the answer is partial: /),
      'Deployment shop/web unmeasured: memory is left out: it covers less than two days',
      'Deployment shop/web young is left out: it covers less than two days',
      expect.stringMatching(/^StatefulSet bank\/db: the answer is partial: /),
      'StatefulSet bank/db is left out: no usage is known of it',
    ]);
  });

  test('one question that is refused leaves out its workload, and no other', async () => {
    const refusal = JSON.stringify({
      status: 'error',
      errorType: 'execution',
      error: 'query processing would load too many samples',
    });
    const { url } = await servePrometheus({
      containers: [web, db],
      replicaSets,
      answer: ({ path, form }) =>
        path.endsWith('query_range') && form.get('query')?.includes('"bank"') === true
          ? { status: 422, body: refusal }
          : undefined,
    });
    const found = await documentOf(url);
    expect(found.series).toEqual(['Deployment shop/web app']);
    expect(found.problems).toEqual([
      expect.stringMatching(
        /^StatefulSet bank\/db is left out: .*HTTP 422: query processing would load too many samples/,
      ),
    ]);
  });

  test.each([
    [
      '401',
      { status: 401, body: 'no' },
      'refuses these credentials; give a file with a bearer token: --prometheus-token FILE',
    ],
    ['500', { status: 500, body: '{}' }, 'answered HTTP 500'],
    ['a page', { status: 200, body: '<html>' }, 'something other than JSON'],
    ['another JSON', { status: 200, body: '{"a":1}' }, 'the answer has no data.result'],
    ['an error', { status: 200, body: '{"status":"error","error":"parse error"}' }, 'parse error'],
    ['a list', { status: 200, body: '[]' }, 'the answer is not a JSON object'],
    ['nothing known', { status: 200, body: '{"status":"success","data":{"result":[]}}' }, 'knows of no pod'],
  ])('%s for an answer is one line', async (_name, answer, message) => {
    const { url } = await servePrometheus({ answer: () => answer });
    const { code, stdout, stderr } = await backtest(url);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/^stowage: --data prometheus: [^\n]*\n$/);
  });

  test('a named workload of which nothing is known is one line', async () => {
    const { url } = await servePrometheus({});
    const { code, stderr } = await backtest(url, '--workload', 'ds/kube-system/agent');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^stowage: .*DaemonSet kube-system\/agent is left out: no usage is known of it[^\n]*\n$/);
  });

  test('nobody listens: one line', async () => {
    const { code, stderr } = await backtest(new URL('http://127.0.0.1:1'));
    expect(code).toBe(1);
    expect(stderr).toMatch(/^stowage: --data prometheus: http:\/\/127\.0\.0\.1:1\S* cannot be reached[^\n]*\n$/);
  });

  test.each([
    ['no address', ['--data', 'prometheus'], 2, 'give its address with --prometheus URL'],
    [
      'no URL',
      ['--data', 'prometheus', '--prometheus', 'localhost:9090'],
      2,
      '"localhost:9090" is not an http or https URL',
    ],
    ['a request', ['--data', 'prometheus', '--request', '1'], 2, 'Prometheus tells it by itself'],
    ['a kind that is none', ['--data', 'prometheus', '--workload', 'job/x'], 2, '"job" is no kind that Stowage sizes'],
    ['too short a time', ['--data', 'prometheus', '--since', '1d'], 2, 'Give more than 2d'],
    ['no time', ['--data', 'prometheus', '--since', 'long'], 2, 'Give more than 2d'],
    [
      'no token',
      ['--data', 'prometheus', '--prometheus', 'http://h', '--prometheus-token', '/nowhere'],
      1,
      '--prometheus-token /nowhere: ',
    ],
    [
      'an address without Prometheus',
      ['--data', '.', '--prometheus', 'http://h'],
      2,
      '--prometheus goes with --data prometheus only',
    ],
    ['a workload without Prometheus', ['--generated', '1', '--workload', 'deploy/x'], 2, '--workload goes with'],
  ])('%s is one line and an exit code', async (_name, args, expected, message) => {
    const { code, stdout, stderr } = await runCommand(['backtest', ...args]);
    expect({ code, stdout }).toEqual({ code: expected, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/^stowage: [^\n]*\n$/);
  });
});
