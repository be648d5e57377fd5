/** The product's own client, connected to the cluster under test. */
import { homedir } from 'node:os';
import { loadConnection } from '../../../src/kube/auth/load-connection.ts';
import { createKubeApi, type KubeClient } from '../../../src/kube/client.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { createSilentLogger } from '../../../src/lib/log.ts';
import { createSystemRandom } from '../../../src/lib/random.ts';

/** With limits that no test ever reaches. */
export async function connect(kubeconfig: string, clock: Clock): Promise<KubeClient> {
  const connection = await loadConnection({ kubeconfig, env: {}, homeDirectory: homedir(), clock });
  const limits = { qps: 1000, burst: 2000 };
  return createKubeApi({ connection, clock, random: createSystemRandom(), log: createSilentLogger(), limits });
}
