/** What a suite on real nodes holds in its hand: the cluster's administrator, namespaces that are cleaned up, pods of ours and plain HTTP to them. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, vi } from 'vitest';
import { isNotFound, unless } from '../../src/api/kube-error.ts';
import { resources } from '../../src/api/resources.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import type { RealNodesAccess } from './global-setup.ts';
import { connect } from './runtime/connect.ts';

export interface RealNodesKit {
  readonly access: RealNodesAccess;
  readonly api: KubeClient;
  /** A new namespace, deleted with everything in it after the suite. */
  namespace(labels?: Readonly<Record<string, string>>): Promise<string>;
  /** Retries until `assertion` holds. */
  eventually<T>(assertion: () => Promise<T> | T, timeoutMillis?: number): Promise<T>;
}

/** A ceiling, not a measure: other suites may have the machine. */
const EVENTUALLY_MILLIS = 150_000;

/** Call at the top of a file; the function it returns works inside tests and hooks. */
export function useRealNodes(): () => RealNodesKit {
  const access = inject('realNodes');
  const namespaces: string[] = [];
  let current: RealNodesKit | undefined;
  const eventually: RealNodesKit['eventually'] = (assertion, timeoutMillis = EVENTUALLY_MILLIS) =>
    vi.waitFor(assertion, { timeout: timeoutMillis, interval: 50 });

  beforeAll(async () => {
    const api = await connect(access.kubeconfigPath, createSystemClock());
    current = {
      access,
      api,
      eventually,
      async namespace(labels = {}) {
        const name = `suite-${randomBytes(4).toString('hex')}`;
        await api.create(resources.namespaces, { metadata: { name, labels } });
        namespaces.push(name);
        return name;
      },
    };
  });
  afterAll(async () => {
    if (current === undefined) return;
    await removeNamespaces(current, namespaces);
    current.api.close();
  });
  return () => {
    if (current === undefined) throw new Error('the nodes are there only while tests run');
    return current;
  };
}

/** Deletes namespaces and waits until the kubelets have ended their pods: the next suite starts on free nodes. */
export async function removeNamespaces({ api, eventually }: RealNodesKit, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await unless(isNotFound, api.delete(resources.namespaces, name));
  }
  for (const namespace of names) {
    await eventually(async () => expect((await api.list(resources.pods, { namespace })).items).toEqual([]));
  }
}

/** What the pods of a namespace have written so far, also those that are gone, as long as the kubelet keeps it. */
export function podLogs({ access }: RealNodesKit, namespace: string): string {
  return access.nodes
    .flatMap(({ name }) => {
      const pods = join(access.runDirectory, name, 'log', 'pods');
      return readdirSync(pods, { recursive: true, encoding: 'utf8' })
        .filter((path) => path.startsWith(`${namespace}_`) && path.endsWith('.log'))
        .map((path) => readFileSync(join(pods, path), 'utf8'));
    })
    .join('');
}
