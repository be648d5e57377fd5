/** Sends admission reviews to the leader's webhook over its own TLS. */
import { Agent, request as httpsRequest } from 'node:https';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Millis } from '../lib/units.ts';
import type { Forward } from './coordinated-handler.ts';
import type { HttpAnswer } from './http-answer.ts';
import { createLeaderPatience } from './leader-patience.ts';
import { FORWARDED_HEADER } from './server.ts';

export interface LeaderAddress {
  readonly host: string;
  readonly port: number;
}

export interface ForwarderOptions {
  /** Where the leader is; undefined while nobody leads or it tells no address. */
  readonly leader: () => LeaderAddress | undefined;
  /**
   * PEM of what the leader may serve. All replicas serve the same certificate, so the own one is all that has to be
   * trusted.
   */
  readonly certificate: () => string;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Forwarder {
  readonly forward: Forward;
  /** Ends the connections; what is under way is decided here. */
  close(): void;
}

/**
 * A leader on a crowded machine may say nothing for a few hundred milliseconds, and to decide without it costs an
 * eviction later. One that has been silent for so long hangs: nobody waits that long for it again. One that is gone
 * refuses at once.
 */
const SILENCE_MILLIS: Millis = 500;
const MUTED_SILENCE_MILLIS: Millis = 100;
/** Well within the webhook's own timeout of 2 s. */
const LIMIT_MILLIS: Millis = 1_000;
/**
 * The leader decides one review at a time; more connections would only cost it handshakes in the first moments of a
 * burst.
 */
const MAX_CONNECTIONS = 8;

export function createForwarder({ leader, certificate, clock, log }: ForwarderOptions): Forwarder {
  let agent: { readonly certificate: string; readonly agent: Agent } | undefined;
  const patience = createLeaderPatience({
    clock,
    silenceMillis: SILENCE_MILLIS,
    mutedSilenceMillis: MUTED_SILENCE_MILLIS,
    limitMillis: LIMIT_MILLIS,
  });

  const agentFor = (pem: string): Agent => {
    if (agent?.certificate !== pem) {
      agent?.agent.destroy();
      // Trust is in the certificate itself, so the name it is for does not matter: replicas are reached by their pod
      // addresses.
      const tls = { ca: pem, allowPartialTrustChain: true, checkServerIdentity: () => undefined };
      agent = {
        certificate: pem,
        agent: new Agent({ ...tls, keepAlive: true, maxSockets: MAX_CONNECTIONS, minVersion: 'TLSv1.2' }),
      };
    }
    return agent.agent;
  };

  const send = ({ host, port }: LeaderAddress, body: string, signal: AbortSignal): Promise<HttpAnswer | undefined> =>
    new Promise((resolve, reject) => {
      const headers = {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
        [FORWARDED_HEADER]: '1',
      };
      const options = { agent: agentFor(certificate()), host, port, path: '/mutate', method: 'POST', headers, signal };
      const request = httpsRequest(options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          patience.signOfLife();
          const status = response.statusCode ?? 500;
          // What the leader calls malformed is malformed; its own faults are no answer.
          resolve(status < 500 ? { status, body: Buffer.concat(chunks).toString('utf8') } : undefined);
        });
        response.on('error', reject);
      });
      request.on('socket', (socket) => {
        if (socket.connecting) socket.once('secureConnect', patience.signOfLife);
      });
      request.on('error', reject);
      request.end(body);
    });

  return {
    async forward(body) {
      const address = leader();
      if (address === undefined) return undefined;
      const waiting = patience.wait();
      try {
        return await send(address, body, waiting.signal);
      } catch (error) {
        log.debug({ ...address, error }, 'A review could not be sent to the leader; it is decided here');
        return undefined;
      } finally {
        waiting.end();
      }
    },
    close: () => agent?.agent.destroy(),
  };
}
