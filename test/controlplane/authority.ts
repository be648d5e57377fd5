/** The control plane's own certificate authority. Everything it signs is valid for two days and lives in the run's temporary folder. */
import { generateKeyPairSync } from 'node:crypto';
import {
  type CertificatePair,
  createAuthority,
  issueClientCertificate,
  issueServerCertificate,
  type Validity,
} from '../../src/lib/certificates.ts';
import type { Clock } from '../../src/lib/clock.ts';

const HOUR_MILLIS = 3_600_000;

export interface TestAuthority {
  readonly caPem: string;
  /** The authority's own key: the controller-manager signs certificate requests with it. */
  readonly caKeyPem: string;
  /** Kubernetes reads the user from the common name and the groups from the organizations. */
  issueClient(user: string, groups: readonly string[]): Promise<CertificatePair>;
  /** For a server on this machine; `dnsNames` come on top of localhost and 127.0.0.1. */
  issueServer(dnsNames: readonly string[], ipAddresses?: readonly string[]): Promise<CertificatePair>;
}

export async function createTestAuthority(clock: Clock): Promise<TestAuthority> {
  // An hour back, for clocks that are a little behind.
  const validity = (): Validity => ({
    notBeforeMillis: clock.now() - HOUR_MILLIS,
    notAfterMillis: clock.now() + 48 * HOUR_MILLIS,
  });
  const authority = await createAuthority({ ...validity(), commonName: 'stowage-test-ca' });
  return {
    caPem: authority.certificatePem,
    caKeyPem: authority.privateKeyPem,
    issueClient: (user, groups) =>
      issueClientCertificate(authority, { ...validity(), commonName: user, organizations: groups }),
    issueServer: (dnsNames, ipAddresses = []) =>
      issueServerCertificate(authority, {
        ...validity(),
        commonName: 'stowage-test-server',
        dnsNames: ['localhost', ...dnsNames],
        ipAddresses: ['127.0.0.1', ...ipAddresses],
      }),
  };
}

/** The key pair that signs service-account tokens (RSA: the API server's default token algorithm). */
export function createTokenKeys(): { readonly publicPem: string; readonly privatePem: string } {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  return { publicPem: publicKey, privatePem: privateKey };
}
