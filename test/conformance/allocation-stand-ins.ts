/** Stand-ins for allocation on either API server: a kubelet's reports, an agent's counters, a Prometheus. */
import { createServer, type Server } from 'node:http';
import { type CounterRing, createCounterRing } from '../../src/agent/cgroup/counter-ring.ts';
import type { GroupUse } from '../../src/agent/followed-group.ts';
import type { Sampler } from '../../src/agent/sampler.ts';
import type { Pod } from '../../src/api/core.ts';

const MINUTE = 60_000;
const HOUR = 3_600_000;

/** What a kubelet would report of a pod that runs with what its spec says. */
export function kubeletStatus({ metadata, spec }: Pod, isReady: boolean) {
  // Long ago: whoever has just started, or become ready, is held as it is for a minute; who is unready for long counts as dead.
  const at = ago(metadata, HOUR);
  const ready = isReady ? 'True' : 'False';
  return {
    phase: 'Running',
    observedGeneration: metadata?.generation ?? 1,
    startTime: at,
    conditions: ['Ready', 'ContainersReady'].map((type) => ({
      type,
      status: ready,
      lastTransitionTime: isReady ? at : ago(metadata, 2 * MINUTE),
    })),
    containerStatuses: (spec?.containers ?? []).map((container) => ({
      name: container.name,
      image: container.image ?? '',
      imageID: '',
      ready: isReady,
      started: true,
      restartCount: 0,
      containerID: `containerd://${(metadata?.uid ?? '').replaceAll('-', '').padEnd(64, '0')}`,
      state: { running: { startedAt: at } },
      resources: container.resources,
      allocatedResources: container.resources?.requests,
    })),
  };
}

const ago = (metadata: Pod['metadata'], millis: number): string =>
  new Date(Date.parse(metadata?.creationTimestamp ?? '') - millis).toISOString().replace('.000Z', 'Z');

export function isToldAlready({ status }: Pod, next: ReturnType<typeof kubeletStatus>): boolean {
  const told = status?.containerStatuses?.[0];
  const wanted = next.containerStatuses[0];
  const hasObserved = Reflect.get(status ?? {}, 'observedGeneration') === next.observedGeneration;
  const isReady = status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  return (
    hasObserved &&
    isReady === next.conditions[0]?.status &&
    told?.ready === wanted?.ready &&
    JSON.stringify(told?.resources) === JSON.stringify(wanted?.resources)
  );
}

/** A node whose pods use what `loads` says, by namespace and app (the name of a pod begins with its app's). */
export function createLoadSampler(loads: ReadonlyMap<string, number>, monotonic: () => number): Sampler {
  const pods = new Map<string, { label: string; ring: CounterRing; micros: number; at: number }>();
  let samples = 0;
  const useOf = (ring: CounterRing): GroupUse => ({
    window: ring.window,
    settings: () => undefined,
    lastMillis: () => ring.lastMillis,
  });
  return {
    track(tracked) {
      const wanted = new Set(tracked.map(({ groupUid }) => groupUid));
      for (const uid of pods.keys()) if (!wanted.has(uid)) pods.delete(uid);
      for (const { groupUid, label } of tracked) {
        if (!pods.has(groupUid))
          pods.set(groupUid, { label, ring: createCounterRing(128), micros: 0, at: monotonic() });
      }
    },
    sample() {
      samples++;
      const now = monotonic();
      for (const pod of pods.values()) {
        const load = [...loads].find(([key]) => pod.label.startsWith(`${key}-`))?.[1] ?? 0;
        pod.micros += load * (now - pod.at);
        pod.at = now;
        const counters = { usageMicros: pod.micros, periods: 0, throttledPeriods: 0, throttledMicros: 0 };
        pod.ring.push(now, { ...counters, pressureMicros: undefined });
      }
    },
    pod(groupUid) {
      const pod = pods.get(groupUid);
      return pod === undefined ? undefined : { ...useOf(pod.ring), container: () => useOf(pod.ring) };
    },
    node: () => ({ total: undefined, pods: undefined, system: undefined }),
    problems: () => [],
    isReading: () => true,
    get samples() {
      return samples;
    },
    describe: () => 'loads of a test',
    close: () => {},
  };
}

/** Answers every query with one value for the pods it names (`$pods` stands in the query as a regular expression). */
export async function startPrometheus(
  value: () => number | undefined,
  loads: ReadonlyMap<string, number>,
): Promise<{ server: Server; url: string }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const query = new URLSearchParams(Buffer.concat(chunks).toString()).get('query') ?? '';
      const names = /pod=~"([^"]*)"/.exec(query)?.[1]?.split('|') ?? [];
      const now = value();
      const result = names.flatMap((pod) => {
        const namespace = [...loads.keys()].find((key) => pod.startsWith(`${key.split('/')[1]}-`))?.split('/')[0];
        return now === undefined ? [] : [{ metric: { namespace, pod }, value: [Date.now() / 1000, String(now)] }];
      });
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { server, url: `http://127.0.0.1:${port}` };
}
