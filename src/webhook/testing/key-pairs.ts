/** Two pairs of key and certificate of one authority, named `first` and `second`. */
import { type Authority, createAuthority, issueServerCertificate } from '../../lib/certificates.ts';
import type { KeyPair } from '../server.ts';

export const validity = { notBeforeMillis: Date.UTC(2020, 0, 1), notAfterMillis: Date.UTC(2099, 0, 1) };

export interface KeyPairs {
  readonly authority: Authority;
  readonly firstPair: KeyPair;
  readonly secondPair: KeyPair;
}

export async function issueKeyPairs(): Promise<KeyPairs> {
  const authority = await createAuthority({ commonName: 'test-ca', ...validity });
  return { authority, firstPair: await issue(authority, 'first'), secondPair: await issue(authority, 'second') };
}

async function issue(authority: Authority, commonName: string): Promise<KeyPair> {
  const names = { commonName, dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] };
  const pair = await issueServerCertificate(authority, { ...names, ...validity });
  return { cert: pair.certificatePem, key: pair.privateKeyPem };
}
