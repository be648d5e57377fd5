/** Waits until a program answers, and says why it does not. */
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { CertificatePair } from '../../src/lib/certificates.ts';
import { type Clock, sleep } from '../../src/lib/clock.ts';

const POLL_MILLIS = 100;
const PROBE_TIMEOUT_MILLIS = 2_000;
/** For a program to get ready. A ceiling, not a measure: other suites may have the machine. */
export const START_TIMEOUT_MILLIS = 150_000;

export interface Probe {
  readonly url: string;
  readonly caPem?: string;
  readonly credentials?: CertificatePair;
  readonly method?: string;
  readonly body?: string;
}

/** @returns status and body; status 0 when there was no answer (the body then says why). */
export function probeOnce(probe: Probe): Promise<{ status: number; body: string }> {
  return new Promise((resolve) => {
    const request = probe.url.startsWith('https:') ? httpsRequest : httpRequest;
    const outgoing = request(
      probe.url,
      {
        method: probe.method ?? 'GET',
        timeout: PROBE_TIMEOUT_MILLIS,
        agent: false,
        ...(probe.caPem === undefined ? {} : { ca: probe.caPem }),
        ...(probe.credentials === undefined
          ? {}
          : { cert: probe.credentials.certificatePem, key: probe.credentials.privateKeyPem }),
      },
      (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (text: string) => {
          body += text;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
        response.on('error', (error) => resolve({ status: 0, body: error.message }));
      },
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')));
    outgoing.on('error', (error) => resolve({ status: 0, body: error.message }));
    outgoing.end(probe.body);
  });
}

/**
 * Polls until the answer is 200.
 * @param timeoutMillis default {@link START_TIMEOUT_MILLIS}.
 * @param isAlive when it turns false, waiting is pointless and ends at once.
 * @throws Error with the last answer after `timeoutMillis`, or as soon as the program is dead.
 */
export async function waitUntilReady(
  name: string,
  probe: Probe,
  options: { readonly clock: Clock; readonly timeoutMillis?: number; readonly isAlive: () => boolean },
): Promise<void> {
  const { timeoutMillis = START_TIMEOUT_MILLIS } = options;
  const deadline = options.clock.now() + timeoutMillis;
  for (;;) {
    const { status, body } = await probeOnce(probe);
    if (status === 200) return;
    const last = status === 0 ? body : `HTTP ${status} ${body.slice(0, 500)}`;
    if (!options.isAlive()) throw new Error(`${name} ended while starting; last answer: ${last}`);
    if (options.clock.now() > deadline)
      throw new Error(`${name} was not ready after ${timeoutMillis / 1000} s; last answer: ${last}`);
    await sleep(options.clock, POLL_MILLIS);
  }
}
