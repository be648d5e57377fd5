/** The embedded cluster of the demo, served over TLS on loopback, with a kubeconfig for whoever asks. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Cluster, createCluster } from '../../cluster/cluster.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { Random } from '../../lib/random.ts';
import type { Cleanup } from './cleanup.ts';
import type { DemoCertificates } from './demo-certificates.ts';
import { kubeconfigText } from './demo-kubeconfig.ts';
import { demoBehaviour, demoPools } from './demo-settings.ts';

export interface DemoCluster {
  readonly cluster: Cluster;
  /** Writes a kubeconfig for a user of these groups and returns its path. */
  writeKubeconfig(file: string, user: string, groups: readonly string[]): string;
}

export interface DemoClusterOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** For the kubeconfigs. */
  readonly folder: string;
  readonly certificates: DemoCertificates;
  readonly cleanup: Cleanup;
}

/** Resolves when the cluster answers and its kubeconfig is written. What is to be undone is deferred to `options.cleanup`. */
export async function startDemoCluster(options: DemoClusterOptions): Promise<DemoCluster> {
  const { clock, random, log, folder, certificates, cleanup } = options;
  const cluster = createCluster({
    clock,
    random,
    log,
    pools: demoPools,
    kubelet: { behaviour: demoBehaviour },
    metricsServer: { resolutionMillis: 5_000 },
  });
  cleanup.defer(() => cluster.stop());
  await cluster.start(new AbortController().signal);
  const { certificatePem: cert, privateKeyPem: key } = certificates.apiServer;
  const { url } = await cluster.server.listen({ tls: { cert, key } });
  return {
    cluster,
    writeKubeconfig(file, user, groups) {
      const token = randomBytes(24).toString('base64url');
      cluster.server.authentication.addToken(token, { name: user, groups: [...groups, 'system:authenticated'] });
      const path = join(folder, file);
      writeFileSync(path, kubeconfigText({ url, authority: certificates.authority, user, token }), { mode: 0o600 });
      return path;
    },
  };
}
