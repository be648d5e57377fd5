/** The usage source against a real Prometheus that scrapes an exporter of ours. */
import { rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ascending } from '../../src/lib/ascending.ts';
import { createSystemClock, sleep } from '../../src/lib/clock.ts';
import type { UsageSettings } from '../../src/model/usage-settings.ts';
import { defaultLabelNames } from '../../src/observe/usage/prometheus/promql.ts';
import { createUsageSources, type UsageSources } from '../../src/observe/usage/usage-providers.ts';
import type { UsageSource } from '../../src/observe/usage/usage-source.ts';
import { type RunningPrometheus, startPrometheus } from '../prometheus/prometheus.ts';
import { programFolder } from './real-cluster.ts';

const MIB = 1024 * 1024;
const clock = createSystemClock();
const { signal } = new AbortController();
const startedAt = clock.now();
let exporter: Server;
let prometheus: RunningPrometheus;
let sources: UsageSources;
let dir = '';

/**
 * What a kubelet says of two pods of `web`, one of `web-api`, and its own totals. CPU is 0.25 cores, and 0.5 for the second pod. Each
 * figure comes with its time, as from a kubelet: of answers that come late rates are exact, too.
 */
function exposition(): string {
  const now = clock.now();
  const elapsed = (now - startedAt) / 1000;
  const cpu = (pod: string, container: string, cores: number) =>
    `container_cpu_usage_seconds_total{namespace="shop",pod="${pod}",container="${container}",cpu="total",id="/${pod}/${container}",image="i"} ${cores * elapsed} ${now}`;
  const memory = (pod: string, container: string, bytes: number) =>
    `container_memory_working_set_bytes{namespace="shop",pod="${pod}",container="${container}",id="/${pod}/${container}",image="i"} ${bytes} ${now}`;
  const periods = (what: string, pod: string, container: string, aSecond: number) =>
    `container_cpu_cfs_${what}_total{namespace="shop",pod="${pod}",container="${container}",id="/${pod}/${container}",image="i"} ${aSecond * Math.trunc(elapsed)} ${now}`;
  return [
    '# TYPE container_cpu_usage_seconds_total counter',
    cpu('web-7d4f9c5b8-x2k7p', 'app', 0.25),
    cpu('web-7d4f9c5b8-b4d9z', 'app', 0.5),
    cpu('web-7d4f9c5b8-b4d9z', 'proxy', 0.01),
    cpu('web-7d4f9c5b8-b4d9z', '', 0.51),
    cpu('web-7d4f9c5b8-b4d9z', 'POD', 0.001),
    cpu('web-api-7d4f9c5b8-b4d9z', 'app', 3),
    '# TYPE container_cpu_cfs_periods_total counter',
    periods('periods', 'web-7d4f9c5b8-b4d9z', 'app', 10),
    periods('periods', 'web-7d4f9c5b8-x2k7p', 'app', 10),
    '# TYPE container_cpu_cfs_throttled_periods_total counter',
    periods('throttled_periods', 'web-7d4f9c5b8-b4d9z', 'app', 4),
    periods('throttled_periods', 'web-7d4f9c5b8-x2k7p', 'app', 1),
    '# TYPE container_memory_working_set_bytes gauge',
    memory('web-7d4f9c5b8-x2k7p', 'app', 100 * MIB),
    memory('web-7d4f9c5b8-b4d9z', 'app', 600 * MIB),
    memory('web-7d4f9c5b8-b4d9z', 'proxy', 20 * MIB),
    memory('web-api-7d4f9c5b8-b4d9z', 'app', 900 * MIB),
    '',
  ].join('\n');
}

const settings: UsageSettings = {
  policy: { group: 'optipod.io', namespace: 'shop', name: 'small' },
  provider: 'prometheus',
  rollingWindowMillis: 3_600_000,
  profile: { usualHalfLifeMillis: 8 * 3_600_000, startupExclusionMillis: 0 },
  needsWindow: false,
};

function source(): UsageSource {
  const chosen = sources.sourceFor(settings);
  if (!chosen.ok) throw new Error(chosen.problem.message);
  return chosen.source;
}

function ask(from = clock.now() - 3_600_000) {
  const workload = { kind: 'Deployment', namespace: 'shop', name: 'web' };
  const pods = ['web-7d4f9c5b8-x2k7p'];
  const to = clock.now();
  return source().fetch(
    { workload, pods, containers: ['app', 'proxy'], from: { cpu: from, memory: from }, to },
    signal,
  );
}

beforeAll(async () => {
  dir = programFolder('prometheus');
  exporter = createServer((_, response) =>
    response.setHeader('content-type', 'text/plain; version=0.0.4').end(exposition()),
  );
  await new Promise<void>((resolve) => exporter.listen(0, '127.0.0.1', resolve));
  const address = exporter.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  // Two jobs scrape the same kubelet: every series is there twice.
  const target = { static_configs: [{ targets: [`127.0.0.1:${port}`] }] };
  prometheus = await startPrometheus({
    dir,
    scrapeConfigs: [
      { job_name: 'kubelet', ...target },
      { job_name: 'kubelet-again', ...target },
    ],
  });
  sources = createUsageSources({
    api: {
      get: () => Promise.reject(new Error('no Secret is named')),
      list: () => Promise.reject(new Error('unused')),
    },
    clock,
    prometheus: {
      url: prometheus.url,
      allowedUrls: [],
      stepMillis: 1_000,
      scrapeMillis: 1_000,
      rateMillis: undefined,
      sampleBudget: 200_000,
      timeoutMillis: 10_000,
      names: defaultLabelNames,
    },
    metricsServerIntervalMillis: 30_000,
    custom: {},
    fallbackProvider: undefined,
    maxRequests: 4,
    maxBytes: 1 << 25,
  });
  // A rate needs four scrapes, all of them in its window.
  for (let tries = 0; tries < 240; tries++) {
    const answer = await ask();
    if (answer.ok && answer.series.some(({ cpu }) => cpu.length >= 6)) return;
    await sleep(clock, 500);
  }
  throw new Error('Prometheus scraped nothing');
});

afterAll(async () => {
  sources.close();
  await prometheus.stop();
  exporter.close();
  rmSync(dir, { recursive: true, force: true });
});

test('one question brings the share of throttled periods, of the pod where it is highest', async () => {
  const workload = { kind: 'Deployment', namespace: 'shop', name: 'web' };
  const asked = { workload, pods: ['web-7d4f9c5b8-x2k7p'], containers: ['app', 'proxy'], windowMillis: 60_000 };
  const answer = await source().throttling?.({ ...asked, agoMillis: 0 }, signal);
  if (answer?.ok !== true) throw new Error(answer?.problem.message ?? 'it is not asked at all');
  // A container without a limit has no periods.
  expect([...answer.shares.keys()]).toEqual(['app']);
  expect(answer.shares.get('app')).toBeCloseTo(0.4, 5);
});

test('two questions bring CPU and memory of all pods and containers of one workload, and of no other', async () => {
  const answer = await ask();
  if (!answer.ok) throw new Error(answer.problem.message);
  expect(answer.warnings).toEqual([]);
  // Where a scrape came late the rate is too low, never too high.
  const seen = answer.series.map(({ pod, container, cpu, memory }) => ({
    of: `${pod}/${container}`,
    cpu: Math.max(...cpu.map(({ value }) => value)),
    memory: (memory.at(-1)?.value ?? 0) / MIB,
  }));
  expect(seen.sort((a, b) => ascending(a.of, b.of))).toEqual([
    { of: 'web-7d4f9c5b8-b4d9z/app', cpu: expect.closeTo(500, -2), memory: 600 },
    { of: 'web-7d4f9c5b8-b4d9z/proxy', cpu: expect.closeTo(10, -1), memory: 20 },
    { of: 'web-7d4f9c5b8-x2k7p/app', cpu: expect.closeTo(250, -2), memory: 100 },
  ]);
});

test('what is read next begins where the last answer ended', async () => {
  const first = await ask();
  if (!first.ok) throw new Error(first.problem.message);
  const { memory = 0 } = first.readTo;
  await sleep(clock, 2_000);
  const second = await ask(memory);
  if (!second.ok) throw new Error(second.problem.message);
  const instants = second.series.flatMap((series) => series.memory.map(({ at }) => at));
  expect(Math.min(...instants)).toBe(memory + 1_000);
});

test('it is healthy, and says so', async () => {
  expect(await source().health(signal)).toEqual({ ok: true });
});

test('labels of the policy narrow the question; one that matches nothing brings nothing', async () => {
  const chosen = sources.sourceFor({ ...settings, prometheus: { labels: { job: 'kubelet-"\\again' } } });
  if (!chosen.ok) throw new Error(chosen.problem.message);
  const now = clock.now();
  const answer = await chosen.source.fetch(
    {
      workload: { kind: 'Deployment', namespace: 'shop', name: 'web' },
      pods: [],
      containers: ['app'],
      from: { cpu: now - 60_000, memory: now - 60_000 },
      to: now,
    },
    signal,
  );
  expect(answer).toEqual({ ok: true, series: [], readTo: {}, warnings: [] });
});
