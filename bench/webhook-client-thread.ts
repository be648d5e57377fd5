/**
 * Sends reviews over TLS on kept-alive connections, as an API server does. Closed loop: a fixed number in flight, as fast as
 * answers come. Paced: at a fixed rate whatever the answers do, latency counted from when a request was due, so that a stall
 * shows in every request that fell into it.
 */
import { Agent, request } from 'node:https';
import { parentPort, workerData } from 'node:worker_threads';
import { quantile } from './bench-result.ts';
import { reviewBody } from './webhook-bench-setup.ts';

const { port, ca, inFlight, perSecond, requests, workloads, uidPrefix } = workerData as {
  port: number;
  ca: string;
  /** Connections; in a closed loop also the requests in flight. */
  inFlight: number;
  /** Rate of a paced run; undefined for a closed loop. */
  perSecond: number | undefined;
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

/** Sends what is due each millisecond; timers that fire late send more at once. */
function paced(rate: number): Promise<void> {
  const begun = performance.now();
  let due = 0;
  let answered = 0;
  return new Promise((resolve, reject) => {
    const sendDue = (): void => {
      for (; due < requests && (due * 1000) / rate <= performance.now() - begun; due++) {
        const dueAt = begun + (due * 1000) / rate;
        const body = reviewBody(`${uidPrefix}-${sent}`, sent++ % workloads);
        send(body).then(() => {
          latencies.push(performance.now() - dueAt);
          if (++answered === requests) resolve();
        }, reject);
      }
      if (due < requests) setTimeout(sendDue, 1);
    };
    sendDue();
  });
}

// Handshakes and the first compilations are not what is measured.
await all(Math.max(inFlight * 2, 200), false);
const warm = sent;
const startedAt = performance.now();
if (perSecond === undefined) await all(warm + requests, true);
else await paced(perSecond);
const tookMillis = performance.now() - startedAt;
agent.destroy();
parentPort?.postMessage({
  perSecond: (requests / tookMillis) * 1000,
  p50: quantile(latencies, 0.5),
  p99: quantile(latencies, 0.99),
});
