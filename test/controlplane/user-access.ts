/** Access to the control plane of the global set-up for any user: client certificates signed by its authority. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CertificatePair, issueClientCertificate } from '../../src/lib/certificates.ts';
import type { Clock } from '../../src/lib/clock.ts';
import type { ClusterAccess } from './global-setup.ts';
import { formatKubeconfig } from './kubeconfig.ts';

const HOUR_MILLIS = 3_600_000;

/** @returns undefined on an existing cluster, whose authority is not ours. */
export function issueUserCertificate(
  { own }: ClusterAccess,
  user: string,
  groups: readonly string[],
  clock: Clock,
): Promise<CertificatePair> | undefined {
  if (own === undefined) return undefined;
  const authority = { commonName: 'stowage-test-ca', certificatePem: own.caPem, privateKeyPem: own.caKeyPem };
  return issueClientCertificate(authority, {
    commonName: user,
    organizations: groups,
    notBeforeMillis: clock.now() - HOUR_MILLIS,
    notAfterMillis: clock.now() + HOUR_MILLIS,
  });
}

/**
 * @returns path of a kubeconfig for this user, in the control plane's folder.
 * @throws Error on an existing cluster.
 */
export async function writeUserKubeconfig(
  access: ClusterAccess,
  user: string,
  groups: readonly string[],
  clock: Clock,
): Promise<string> {
  const { own } = access;
  const credentials = await issueUserCertificate(access, user, groups, clock);
  if (own === undefined || credentials === undefined) {
    throw new Error(`no certificate for ${user}: the authority of an existing cluster is not ours`);
  }
  const path = join(own.directory, `user-${user.replaceAll(/[^A-Za-z0-9.-]/g, '_')}.kubeconfig`);
  writeFileSync(path, formatKubeconfig({ url: own.url, caPem: own.caPem, user, credentials }), { mode: 0o600 });
  return path;
}
