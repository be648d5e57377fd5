/** The real control plane that the runner's global set-up has started, or the existing cluster it was told to use. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { CertificatePair } from '../../src/lib/certificates.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { compactHistory } from '../controlplane/etcd.ts';
import type { ClusterAccess } from '../controlplane/global-setup.ts';
import { issueUserCertificate } from '../controlplane/user-access.ts';
import { type Backend, textAt } from './cluster.ts';
import { createEndpoint } from './endpoint.ts';

/** Reads a kubeconfig with embedded client certificates: ours, kind's and minikube's (with --embed-certs) are of that form. */
function readKubeconfig(path: string): { url: string; caPem: string; credentials: CertificatePair } {
  const config: unknown = parse(readFileSync(path, 'utf8'));
  const decode = (...keys: (string | number)[]): string => Buffer.from(textAt(config, ...keys), 'base64').toString();
  return {
    url: textAt(config, 'clusters', 0, 'cluster', 'server'),
    caPem: decode('clusters', 0, 'cluster', 'certificate-authority-data'),
    credentials: {
      certificatePem: decode('users', 0, 'user', 'client-certificate-data'),
      privateKeyPem: decode('users', 0, 'user', 'client-key-data'),
    },
  };
}

export function connectRealBackend(access: ClusterAccess): Backend {
  const { url, caPem, credentials } = readKubeconfig(access.kubeconfigPath);
  const { own } = access;
  const admin = createEndpoint({ url, caPem, credentials });
  const anonymous = createEndpoint({ url, caPem });
  const others = [anonymous];
  const clock = createSystemClock();
  return {
    name: 'real',
    admin,
    anonymous,
    endpointFor:
      own === undefined
        ? undefined
        : async (user, groups) => {
            const pair = await issueUserCertificate(access, user, groups, clock);
            const endpoint = createEndpoint({ url, caPem, ...(pair && { credentials: pair }) });
            others.push(endpoint);
            return endpoint;
          },
    compact: own === undefined ? undefined : () => compactHistory(own.etcdUrl),
    endsWithRun: own !== undefined,
    async stop() {
      admin.close();
      for (const endpoint of others) endpoint.close();
    },
  };
}
