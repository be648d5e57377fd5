/**
 * Admission decisions: the handler alone and over TLS, with 200 and 5,000 pods in the namespace and 1, 32 and 256 requests
 * in flight. The baseline of the same run is a handler that parses the review and allows the pod as it is.
 * Over TLS in a closed loop, where client and server share the cores and the client's work is part of the latency, and paced at
 * 500 requests/s, where the server's own latency shows.
 * `server_cpu_ms` is the server thread's CPU a request, which other processes on the machine hardly change.
 * Latency alone is counted from the arrival of a whole batch, so it includes waiting for the requests before.
 */
import { Worker } from 'node:worker_threads';
import { createAuthority, issueServerCertificate } from '../../src/lib/certificates.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { createSilentLogger } from '../../src/lib/log.ts';
import { startWebhookServer } from '../../src/webhook/server.ts';
import type { BenchResult } from '../bench-result.ts';
import { quantile } from '../bench-result.ts';
import { createWebhookBench, reviewBody, type WebhookBench } from '../webhook-bench-setup.ts';

type Handle = (body: string) => unknown;

/** Claims that wait for pods never seen would pile up; in a cluster the pods appear. */
const CLAIMS_KEPT = 200;

let nextUid = 0;
const newUid = (): string => `bench-${nextUid++}`;

/** Runs batches of `inFlight` requests that arrive at once. */
async function runAlone(bench: WebhookBench, handle: Handle, inFlight: number, requests: number) {
  const latencies: number[] = [];
  let busyMillis = 0;
  for (let done = 0; done < requests; done += inFlight) {
    const uids = Array.from({ length: inFlight }, newUid);
    const bodies = uids.map((uid, index) => reviewBody(uid, (done + index) % bench.workloads));
    const startedAt = performance.now();
    for (const body of bodies) {
      await handle(body);
      latencies.push(performance.now() - startedAt);
    }
    busyMillis += performance.now() - startedAt;
    for (const uid of uids) bench.ledger.release(uid);
  }
  return { perSecond: (requests / busyMillis) * 1000, p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) };
}

const baseline: Handle = (body) => {
  const review = JSON.parse(body) as { request: { uid: string } };
  const response = { uid: review.request.uid, allowed: true };
  return {
    status: 200,
    body: JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response }),
  };
};

interface TlsFigures {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

interface Load {
  readonly inFlight: number;
  /** Undefined: as fast as answers come. */
  readonly perSecond: number | undefined;
  readonly requests: number;
}

const PACED_PER_SECOND = 500;

/** The client runs in a thread of its own, so that only the server's work is on this one. */
function runClient(port: number, ca: string, load: Load, workloads: number): Promise<TlsFigures> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('../webhook-client-thread.ts', import.meta.url), {
      workerData: { port, ca, ...load, workloads, uidPrefix: `tls-${nextUid++}` },
    });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

async function runTls(
  bench: WebhookBench,
  handle: Handle,
  load: Load,
): Promise<TlsFigures & { readonly cpuMillisPerRequest: number }> {
  const clock = createSystemClock();
  const validity = { notBeforeMillis: clock.now() - 60_000, notAfterMillis: clock.now() + 86_400_000 };
  const authority = await createAuthority({ commonName: 'bench', ...validity });
  const leaf = await issueServerCertificate(authority, {
    commonName: 'localhost',
    ipAddresses: ['127.0.0.1'],
    ...validity,
  });
  const answered: string[] = [];
  let answeredCount = 0;
  const server = await startWebhookServer({
    port: 0,
    host: '127.0.0.1',
    keyPair: { cert: leaf.certificatePem, key: leaf.privateKeyPem },
    clock,
    log: createSilentLogger(),
    handle: (body) => {
      const answer = handle(body);
      answeredCount++;
      answered.push(/"uid":"([^"]+)"/.exec(body)?.[1] ?? '');
      while (answered.length > CLAIMS_KEPT) bench.ledger.release(answered.shift() ?? '');
      return answer as never;
    },
  });
  const before = process.threadCpuUsage();
  const figures = await runClient(server.port, authority.certificatePem, load, bench.workloads);
  const { user, system } = process.threadCpuUsage(before);
  await server.drain({ graceMillis: 1000 });
  return { ...figures, cpuMillisPerRequest: (user + system) / 1000 / answeredCount };
}

const figures: Record<string, number> = {};
for (const pods of [200, 5000]) {
  const bench = createWebhookBench(pods);
  await runAlone(bench, bench.handle, 32, 3200);
  await runAlone(bench, baseline, 32, 3200);
  const ours = await runAlone(bench, bench.handle, 32, 16_000);
  const base = await runAlone(bench, baseline, 32, 16_000);
  figures[`alone_${pods}_pods_per_second`] = ours.perSecond;
  figures[`alone_${pods}_pods_p50_ms`] = ours.p50;
  figures[`alone_${pods}_pods_p99_ms`] = ours.p99;
  figures[`alone_${pods}_pods_to_baseline_ratio`] = base.perSecond / ours.perSecond;
  for (const inFlight of [1, 32, 256]) {
    const requests = inFlight === 1 ? 1500 : 6000;
    const load = { inFlight, perSecond: undefined, requests };
    const tls = await runTls(bench, bench.handle, load);
    const tlsBase = await runTls(bench, baseline, load);
    const name = `tls_${pods}_pods_${inFlight}_in_flight`;
    figures[`${name}_per_second`] = tls.perSecond;
    figures[`${name}_p50_ms`] = tls.p50;
    figures[`${name}_p99_ms`] = tls.p99;
    figures[`${name}_p99_to_baseline_ratio`] = tls.p99 / tlsBase.p99;
    figures[`${name}_server_cpu_ms`] = tls.cpuMillisPerRequest;
    figures[`${name}_server_cpu_to_baseline_ratio`] = tls.cpuMillisPerRequest / tlsBase.cpuMillisPerRequest;
  }
  const load = { inFlight: 32, perSecond: PACED_PER_SECOND, requests: 5000 };
  const paced = await runTls(bench, bench.handle, load);
  const pacedBase = await runTls(bench, baseline, load);
  const name = `tls_${pods}_pods_paced_${PACED_PER_SECOND}_per_second`;
  figures[`${name}_p50_ms`] = paced.p50;
  figures[`${name}_p99_ms`] = paced.p99;
  figures[`${name}_p99_to_baseline_ratio`] = paced.p99 / pacedBase.p99;
}

const result: BenchResult = {
  name: 'webhook',
  figures,
  bars: [
    { key: 'alone_5000_pods_per_second', op: '>=', value: 2000 },
    { key: 'alone_5000_pods_p99_ms', op: '<=', value: 5 },
    { key: 'tls_5000_pods_32_in_flight_p99_ms', op: '<=', value: 20 },
    { key: `tls_5000_pods_paced_${PACED_PER_SECOND}_per_second_p99_ms`, op: '<=', value: 20 },
  ],
};
console.log(JSON.stringify(result));
