/** Sends reviews over TLS with a fixed number in flight, each on a kept-alive connection as an API server does. */
import { Agent, request } from 'node:https';
import { parentPort, workerData } from 'node:worker_threads';
import { quantile } from './bench-result.ts';
import { reviewBody } from './webhook-bench-setup.ts';

const { port, ca, inFlight, requests, workloads, uidPrefix } = workerData as {
  port: number;
  ca: string;
  inFlight: number;
  requests: number;
  workloads: number;
  uidPrefix: string;
};

const agent = new Agent({ keepAlive: true, maxSockets: inFlight });

function send(body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const call = request(
      { host: '127.0.0.1', port, path: '/mutate', method: 'POST', agent, ca, headers },
      (response) => {
        response.resume();
        response.once('end', () =>
          response.statusCode === 200 ? resolve() : reject(new Error(`status ${response.statusCode}`)),
        );
      },
    );
    call.once('error', reject);
    call.end(body);
  });
}

let sent = 0;
const latencies: number[] = [];
async function runOne(count: number, isCounted: boolean): Promise<void> {
  while (sent < count) {
    const body = reviewBody(`${uidPrefix}-${sent}`, sent++ % workloads);
    const startedAt = performance.now();
    await send(body);
    if (isCounted) latencies.push(performance.now() - startedAt);
  }
}

const all = (count: number, isCounted: boolean) =>
  Promise.all(Array.from({ length: inFlight }, () => runOne(count, isCounted)));
// Handshakes and the first compilations are not what is measured.
await all(Math.max(inFlight * 2, 200), false);
const warm = sent;
const startedAt = performance.now();
await all(warm + requests, true);
const tookMillis = performance.now() - startedAt;
agent.destroy();
parentPort?.postMessage({
  perSecond: (requests / tookMillis) * 1000,
  p50: quantile(latencies, 0.5),
  p99: quantile(latencies, 0.99),
});
