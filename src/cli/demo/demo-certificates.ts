/** Certificates of one demo run: an authority nobody else knows, for the API server and the webhook on loopback. */
import {
  type Authority,
  type CertificatePair,
  createAuthority,
  issueServerCertificate,
  type Validity,
} from '../../lib/certificates.ts';
import type { EpochMillis } from '../../lib/units.ts';

export interface DemoCertificates {
  /** PEM of the authority both are signed by. */
  readonly authority: string;
  readonly apiServer: CertificatePair;
  readonly webhook: CertificatePair;
}

const LOOPBACK = '127.0.0.1';
const SKEW_MILLIS = 300_000;
/** Longer than any demo runs. */
const LIFE_MILLIS = 30 * 86_400_000;

export async function createDemoCertificates(now: EpochMillis): Promise<DemoCertificates> {
  const validity: Validity = { notBeforeMillis: now - SKEW_MILLIS, notAfterMillis: now + LIFE_MILLIS };
  const authority = await createAuthority({ ...validity, commonName: 'stowage-demo' });
  const [apiServer, webhook] = await Promise.all([
    serverCertificate(authority, 'stowage-demo-apiserver', validity),
    serverCertificate(authority, 'stowage-demo-webhook', validity),
  ]);
  return { authority: authority.certificatePem, apiServer, webhook };
}

function serverCertificate(authority: Authority, commonName: string, validity: Validity): Promise<CertificatePair> {
  return issueServerCertificate(authority, {
    ...validity,
    commonName,
    dnsNames: ['localhost'],
    ipAddresses: [LOOPBACK],
  });
}
