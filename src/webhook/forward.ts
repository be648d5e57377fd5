/** Sends admission reviews to the leader's webhook over its own TLS. */
import { Agent, request as httpsRequest } from 'node:https';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Millis } from '../lib/units.ts';
import type { Forward } from './coordinate.ts';
import type { HttpAnswer } from './http-answer.ts';
import { FORWARDED_HEADER } from './server.ts';

export interface LeaderAddress {
  readonly host: string;
  readonly port: number;
}

export interface ForwarderOptions {
  /** Where the leader is; undefined while nobody leads or it tells no address. */
  readonly leader: () => LeaderAddress | undefined;
  /** PEM of the own certificate: all replicas serve the same one, so it is all that has to be trusted. */
  readonly certificate: () => string;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Forwarder {
  readonly forward: Forward;
  close(): void;
}

/** The leader is given up when nothing at all has come from it for so long; answers to others show that it is only busy. */
const SILENCE_MILLIS: Millis = 100;
/** Well within the webhook's own timeout of 2 s. */
const LIMIT_MILLIS: Millis = 1_000;

export function createForwarder({ leader, certificate, clock, log }: ForwarderOptions): Forwarder {
  let agent: { readonly certificate: string; readonly agent: Agent } | undefined;
  let lastAnswerMillis = Number.NEGATIVE_INFINITY;

  const agentFor = (pem: string): Agent => {
    if (agent?.certificate !== pem) {
      agent?.agent.destroy();
      const tls = { ca: pem, allowPartialTrustChain: true, checkServerIdentity: () => undefined };
      agent = {
        certificate: pem,
        agent: new Agent({ ...tls, keepAlive: true, maxSockets: 64, minVersion: 'TLSv1.2' }),
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
          lastAnswerMillis = clock.now();
          const status = response.statusCode ?? 500;
          // What the leader calls malformed is malformed; its own faults are no answer.
          resolve(status < 500 ? { status, body: Buffer.concat(chunks).toString('utf8') } : undefined);
        });
        response.on('error', reject);
      });
      request.on('error', reject);
      request.end(body);
    });

  return {
    async forward(body) {
      const address = leader();
      if (address === undefined) return undefined;
      const giveUp = new AbortController();
      const startedAt = clock.now();
      const arm = () => clock.setTimer(nextCheckMillis(), check);
      const nextCheckMillis = (): Millis => {
        const now = clock.now();
        const quietUntil = Math.max(startedAt, lastAnswerMillis) + SILENCE_MILLIS;
        return Math.min(quietUntil, startedAt + LIMIT_MILLIS) - now;
      };
      const check = (): void => {
        if (nextCheckMillis() > 0) timer = arm();
        else giveUp.abort(new Error('the leader did not answer in time'));
      };
      let timer = arm();
      try {
        return await send(address, body, giveUp.signal);
      } catch (error) {
        log.debug({ ...address, error }, 'A review could not be sent to the leader; it is decided here');
        return undefined;
      } finally {
        timer.cancel();
      }
    },
    close: () => agent?.agent.destroy(),
  };
}
