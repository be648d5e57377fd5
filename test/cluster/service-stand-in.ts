/**
 * Stand-in of a Service: one loopback port, each connection passed on to one of the endpoints that can be reached. In a thread of
 * its own: a test that is busy reading pods must not slow down the admission of pods.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export interface ServiceStandIn {
  readonly port: number;
  /** Replaces the ports that connections go to, in turns; those open already stay where they are. */
  setEndpoints(ports: readonly number[]): void;
  /** Closes all connections. */
  close(): Promise<void>;
}

export async function startServiceStandIn(): Promise<ServiceStandIn> {
  // The test runner's own flags are not meant for this thread.
  const thread = new Worker(new URL('service-stand-in-thread.ts', import.meta.url), { execArgv: [] });
  const [port] = await once(thread, 'message');
  if (typeof port !== 'number') throw new Error('the system gave no port');
  return {
    port,
    setEndpoints: (ports) => thread.postMessage(ports),
    close: async () => void (await thread.terminate()),
  };
}
