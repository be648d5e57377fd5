/** Writes kubeconfig files that carry everything inside, so that any client can use them from anywhere. */
import type { CertificatePair } from '../../src/lib/certificates.ts';

export interface KubeconfigInput {
  readonly url: string;
  readonly caPem: string;
  readonly user: string;
  readonly credentials: CertificatePair;
}

/** JSON text, which is YAML as well. */
export function formatKubeconfig({ url, caPem, user, credentials }: KubeconfigInput): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server: url, 'certificate-authority-data': base64(caPem) } }],
    users: [
      {
        name: user,
        user: {
          'client-certificate-data': base64(credentials.certificatePem),
          'client-key-data': base64(credentials.privateKeyPem),
        },
      },
    ],
    contexts: [{ name: 'test', context: { cluster: 'test', user } }],
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
