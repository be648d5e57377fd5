/** An admission webhook for tests: answers as the test says, and remembers what it was asked. */
import { createServer } from 'node:https';
import { createAuthority, issueServerCertificate } from '../../src/lib/certificates.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { at, textAt } from './cluster.ts';
import type { Json } from './endpoint.ts';

const HOUR_MILLIS = 3_600_000;

export interface WebhookServer {
  readonly url: string;
  readonly caPem: string;
  /** `request` of each AdmissionReview received, oldest first. */
  readonly requests: Json[];
  close(): Promise<void>;
}

/** What to answer; `never` leaves the connection open without a word. */
export type Verdict = { readonly response: Json } | { readonly status: number } | 'never';

/** An answer that adds an annotation by JSON patch. */
export function annotate(request: Json, key: string, value: string): Json {
  const escaped = key.replaceAll('~', '~0').replaceAll('/', '~1');
  const hasAnnotations = at(request, 'object', 'metadata', 'annotations') !== undefined;
  const patch = hasAnnotations
    ? [{ op: 'add', path: `/metadata/annotations/${escaped}`, value }]
    : [{ op: 'add', path: '/metadata/annotations', value: { [key]: value } }];
  return patching(request, patch);
}

/** An answer with this JSON patch. */
export function patching(request: Json, patch: readonly Json[]): Json {
  return {
    uid: textAt(request, 'uid'),
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
  };
}

export async function startWebhookServer(answer: (request: Json) => Verdict): Promise<WebhookServer> {
  const nowMillis = createSystemClock().now();
  const validity = { notBeforeMillis: nowMillis - HOUR_MILLIS, notAfterMillis: nowMillis + HOUR_MILLIS };
  const authority = await createAuthority({ ...validity, commonName: 'conformance-webhook-ca' });
  const pair = await issueServerCertificate(authority, {
    ...validity,
    commonName: 'webhook',
    ipAddresses: ['127.0.0.1'],
  });
  const requests: Json[] = [];
  const server = createServer({ cert: pair.certificatePem, key: pair.privateKeyPem }, (incoming, outgoing) => {
    let text = '';
    incoming.setEncoding('utf8');
    incoming.on('data', (chunk: string) => {
      text += chunk;
    });
    incoming.on('end', () => {
      const request: Json = Object(at(JSON.parse(text), 'request'));
      requests.push(request);
      const verdict = answer(request);
      if (verdict === 'never') return;
      if ('status' in verdict) {
        outgoing.writeHead(verdict.status).end('no');
        return;
      }
      outgoing.writeHead(200, { 'content-type': 'application/json' });
      outgoing.end(
        JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: verdict.response }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the webhook has no port');
  return {
    url: `https://127.0.0.1:${address.port}/mutate`,
    caPem: authority.certificatePem,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
