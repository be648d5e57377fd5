/** A client on a scripted transport in virtual time. */
import { createSilentLogger } from '../../lib/log.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { createKubeApi, type KubeClientOptions } from '../client.ts';
import type { Credentials } from '../connection.ts';
import { createScriptedTransport } from './scripted-transport.ts';

export function scriptedClient(options: Partial<KubeClientOptions> = {}) {
  const scripted = createScriptedTransport();
  const clock = createVirtualClock(1_700_000_000_000);
  let credentials: Credentials = { token: 'first' };
  const refused: Credentials[] = [];
  const connection = {
    server: new URL('https://api.example:6443/k8s/clusters/c-1/'),
    description: 'test',
    namespace: 'default',
    trust: { current: async () => ({}), invalidate() {} },
    credentials: { current: async () => credentials, invalidate: (which: Credentials) => void refused.push(which) },
  };
  const api = createKubeApi({
    connection,
    clock,
    random: createSeededRandom(1),
    log: createSilentLogger(),
    transport: scripted.transport,
    ...options,
  });
  return { api, scripted, clock, connection, refused, useCredentials: (next: Credentials) => (credentials = next) };
}

/** Lets virtual time pass until the promise is settled. */
export async function inTime<T>(clock: { advance(millis: number): Promise<void> }, promise: Promise<T>): Promise<T> {
  let isSettled = false;
  promise.finally(() => (isSettled = true)).catch(() => {});
  while (!isSettled) await clock.advance(100);
  return await promise;
}
