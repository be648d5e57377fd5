/** What a suite on the real control plane holds in its hand: the product's own client, live nodes, and namespaces that are cleaned up. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, vi } from 'vitest';
import { resources } from '../../src/api/resources.ts';
import { loadConnection } from '../../src/kube/auth/load-connection.ts';
import { createKubeApi, type KubeClient } from '../../src/kube/client.ts';
import { createSystemClock, sleep } from '../../src/lib/clock.ts';
import { createSilentLogger } from '../../src/lib/log.ts';
import { createSystemRandom } from '../../src/lib/random.ts';
import { emptyNamespace } from '../conformance/empty-namespace.ts';
import { connectRealBackend } from '../conformance/real-backend.ts';
import { type NodesOptions, type SimulatedNodes, startNodes } from '../controlplane/nodes.ts';
import { writeUserKubeconfig } from '../controlplane/user-access.ts';

export interface RealCluster {
  /** The product's client with an administrator's rights. */
  readonly api: KubeClient;
  readonly adminKubeconfigPath: string;
  /** Six nodes unless the suite asked for others; their pods run and become ready. */
  readonly nodes: SimulatedNodes;
  /** A client for a kubeconfig, closed with the suite. */
  connect(kubeconfigPath: string): Promise<KubeClient>;
  /** Path of a kubeconfig whose certificate names this user and these groups. */
  kubeconfigFor(user: string, groups?: readonly string[]): Promise<string>;
  /** A new namespace, deleted with everything in it after the suite. */
  namespace(): Promise<string>;
  /** Takes away the workloads and pods of a namespace. */
  empty(namespace: string): Promise<void>;
  /** Retries until `assertion` holds. */
  eventually<T>(assertion: () => Promise<T>, timeoutMillis?: number): Promise<T>;
}

/** A ceiling, not a measure: other suites may have the machine. */
const EVENTUALLY_MILLIS = 150_000;
/** Of a thousand pods, too. */
const EMPTY_MILLIS = 300_000;
const LONGEST_PAUSE_MILLIS = 1_000;

/**
 * A new folder for what a program beside the control plane writes, its process id among it: with the control plane that program is
 * ended, too, also where a run is killed.
 */
export function programFolder(name: string): string {
  return mkdtempSync(join(inject('cluster').own?.directory ?? tmpdir(), `${name}-`));
}

/** Call at the top of a file; the function it returns works inside tests and hooks. */
export function useRealCluster(
  options: Partial<Omit<NodesOptions, 'kubeconfigPath' | 'logDirectory'>> = {},
): () => RealCluster {
  const access = inject('cluster');
  const clock = createSystemClock();
  const clients: KubeClient[] = [];
  const namespaces: string[] = [];
  let scratch: string | undefined;
  let current: RealCluster | undefined;

  const connect = async (kubeconfig: string): Promise<KubeClient> => {
    const connection = await loadConnection({ kubeconfig, env: {}, homeDirectory: homedir(), clock });
    const client = createKubeApi({ connection, clock, random: createSystemRandom(), log: createSilentLogger() });
    clients.push(client);
    return client;
  };
  const eventually: RealCluster['eventually'] = (assertion, timeoutMillis = EVENTUALLY_MILLIS) => {
    const attempt = async () => {
      const began = performance.now();
      try {
        return await assertion();
      } catch (error) {
        // A look at a thousand pods, ten times a second, would take the CPU from what it waits for.
        await sleep(clock, Math.min(3 * (performance.now() - began), LONGEST_PAUSE_MILLIS));
        throw error;
      }
    };
    return vi.waitFor(attempt, { timeout: timeoutMillis, interval: 100 });
  };

  const backend = connectRealBackend(access);
  beforeAll(async () => {
    const logDirectory = access.own?.directory ?? mkdtempSync(join(tmpdir(), 'stowage-nodes-'));
    if (access.own === undefined) scratch = logDirectory;
    const api = await connect(access.kubeconfigPath);
    const nodes = await startNodes({ ...options, kubeconfigPath: access.kubeconfigPath, logDirectory });
    current = {
      api,
      nodes,
      adminKubeconfigPath: access.kubeconfigPath,
      connect,
      kubeconfigFor: (user, groups = []) => writeUserKubeconfig(access, user, groups, clock),
      async namespace() {
        const name = `e2e-${randomBytes(5).toString('hex')}`;
        await api.create(resources.namespaces, { metadata: { name } });
        namespaces.push(name);
        return name;
      },
      async empty(namespace) {
        await eventually(async () => {
          // A controller may have made one more before it heard of its own end.
          await emptyNamespace(backend.admin, namespace);
          expect((await api.list(resources.pods, { namespace })).items).toEqual([]);
        }, EMPTY_MILLIS);
      },
      eventually,
    };
  });
  afterAll(async () => {
    const { api, nodes } = current ?? {};
    try {
      for (const name of namespaces) {
        await api?.delete(resources.namespaces, name);
        await current?.empty(name);
      }
    } finally {
      // Whatever is left: two processes for the nodes of the suites that follow would take their pods from each other.
      await backend.stop();
      await nodes?.stop();
      // Nobody looks after them any more, and the scheduler of the suites that follow must not choose them.
      for (const { name } of options.nodes ?? []) await api?.delete(resources.nodes, name);
      for (const client of clients) client.close();
      if (scratch !== undefined) rmSync(scratch, { recursive: true, force: true });
    }
  });

  return () => {
    if (current === undefined) throw new Error('the cluster is there only while tests run');
    return current;
  };
}
