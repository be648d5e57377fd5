/**
 * Usage of 1,000 workloads of 10 containers read from a Prometheus that costs nothing: how much is asked for, and what the
 * book of it all takes in memory.
 */
import { defaultProfileOptions } from '../src/decide/rightsizing/policy.ts';
import { createSemaphore } from '../src/kube/transport/semaphore.ts';
import { createSystemClock } from '../src/lib/clock.ts';
import { createSeededRandom } from '../src/lib/random.ts';
import type { SizedWorkload } from '../src/model/sizing-records.ts';
import { UsageBook } from '../src/model/usage-book.ts';
import type { UsageSettings } from '../src/model/usage-settings.ts';
import { type CollectContext, collectOne } from '../src/observe/usage/collect-one.ts';
import type { HttpExchange } from '../src/observe/usage/http-exchange.ts';
import { createPrometheusSource } from '../src/observe/usage/prometheus/prometheus-source.ts';
import { defaultLabelNames } from '../src/observe/usage/prometheus/promql.ts';

const WORKLOADS = 1000;
const CONTAINERS = 10;
const DAY_MILLIS = 86_400_000;
const STEP_MILLIS = 300_000;
const NOW = 20_000 * DAY_MILLIS;

interface Asked {
  requests: number;
  maxPoints: number;
  maxQueryBytes: number;
}

const settings: UsageSettings = {
  policy: { group: 'optipod.io', namespace: 'shop', name: 'all' },
  provider: 'prometheus',
  rollingWindowMillis: 7 * DAY_MILLIS,
  profile: defaultProfileOptions,
  needsWindow: true,
};

const containerNames = Array.from({ length: CONTAINERS }, (_, index) => `container-${index}`);

function workloadOf(index: number): SizedWorkload {
  const containers = containerNames.map((name) => ({
    name,
    isSidecar: false,
    size: {},
    cpuRestart: 'NotRequired' as const,
    memoryRestart: 'NotRequired' as const,
    hasReadinessProbe: false,
  }));
  const name = `workload-${index}`;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    namespace: 'shop',
    name,
    uid: name,
    resourceVersion: '1',
    createdAt: 0,
    deleting: false,
    labels: {},
    annotations: {},
    replicas: 1,
    isRollingOut: false,
    selector: undefined,
    containers,
    templateManagers: {},
  };
}

/** Answers each question with a day of samples at most: what is asked for counts, not what is computed for it. */
function countingExchange(asked: Asked): HttpExchange {
  const random = createSeededRandom(2);
  const bodies = new Map<string, Buffer>();
  const answer = (isCpu: boolean, start: number, end: number, step: number): Buffer => {
    const key = `${isCpu} ${start} ${end}`;
    const known = bodies.get(key);
    if (known !== undefined) return known;
    const result = containerNames.map((container) => {
      const level = isCpu ? 0.01 + 2 * random.next() : 1e7 + 1e9 * random.next();
      const values: [number, string][] = [];
      for (let at = Math.max(start, end - DAY_MILLIS / 1000); at <= end; at += step) {
        const wave = 1 + 0.6 * Math.sin((2 * Math.PI * at) / 86_400) + 0.3 * random.next();
        values.push([at, String(level * wave)]);
      }
      return { metric: { pod: 'workload-0-7d4f9c5b8-x2k7p', container }, values };
    });
    const body = Buffer.from(JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } }));
    bodies.set(key, body);
    return body;
  };
  return {
    send({ body = '' }) {
      const form = new URLSearchParams(body);
      const [start, end, step] = ['start', 'end', 'step'].map((name) => Number(form.get(name)));
      const query = form.get('query') ?? '';
      asked.requests++;
      asked.maxPoints = Math.max(asked.maxPoints, ((end ?? 0) - (start ?? 0)) / (step ?? 1) + 1);
      asked.maxQueryBytes = Math.max(asked.maxQueryBytes, Buffer.byteLength(query));
      const isCpu = query.includes('container_cpu');
      return Promise.resolve({ ok: true, status: 200, body: answer(isCpu, start ?? 0, end ?? 0, step ?? 1) });
    },
    close: () => {},
  };
}

const heapUsed = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
};

/** @returns figures by name. */
export async function measureCollectedUsage(): Promise<Record<string, number>> {
  const asked: Asked = { requests: 0, maxPoints: 0, maxQueryBytes: 0 };
  const { signal } = new AbortController();
  const source = createPrometheusSource({
    name: 'prometheus',
    url: new URL('http://prometheus'),
    labels: {},
    tuning: {
      stepMillis: STEP_MILLIS,
      scrapeMillis: 30_000,
      rateMillis: undefined,
      sampleBudget: 100_000,
      timeoutMillis: 30_000,
      names: defaultLabelNames,
    },
    credentials: {
      read: () => Promise.resolve({ ok: true, credentials: { headers: {}, ca: undefined } }),
      refused: () => {},
    },
    exchange: countingExchange(asked),
    permits: createSemaphore(8),
  });
  const book = new UsageBook({ random: createSeededRandom(3), retentionMillis: DAY_MILLIS });
  const context: CollectContext = {
    book,
    view: { podsOf: () => [], pod: () => undefined, workloadOf: () => undefined },
    takenOfPods: new Map(),
  };
  const targets = Array.from({ length: WORKLOADS }, (_, index) => ({ workload: workloadOf(index), settings }));
  // Answers are kept for all workloads: the first one fills them, so that they are not counted as the book's.
  await collectOne(
    { ...context, book: new UsageBook({ random: createSeededRandom(3), retentionMillis: DAY_MILLIS }) },
    { target: { workload: workloadOf(0), settings }, source, now: NOW },
    signal,
  );
  Object.assign(asked, { requests: 0 });
  const before = heapUsed();
  const clock = createSystemClock();
  const startedAt = clock.now();
  for (const target of targets) await collectOne(context, { target, source, now: NOW }, signal);
  const firstMillis = clock.now() - startedAt;
  const first = asked.requests;
  const bytesPerContainer = (heapUsed() - before) / (WORKLOADS * CONTAINERS);
  for (const target of targets) await collectOne(context, { target, source, now: NOW + STEP_MILLIS }, signal);
  return {
    collected_containers: book.size(),
    first_requests_per_workload: first / WORKLOADS,
    later_requests_per_workload: (asked.requests - first) / WORKLOADS,
    max_points_per_range: asked.maxPoints,
    max_query_bytes: asked.maxQueryBytes,
    collect_all_ms: firstMillis,
    heap_bytes_per_collected_container: bytesPerContainer,
  };
}
