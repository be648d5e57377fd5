/** Kubeconfigs in a temporary folder, removed after each test. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { stringify } from 'yaml';
import { createVirtualClock, type VirtualClock } from '../../lib/virtual-clock.ts';
import { loadConnection } from '../auth/load-connection.ts';
import type { Connection, CredentialSource } from '../connection.ts';

export const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** What differs from a plain kubeconfig with cluster `k`, user `u` and context `c`. */
export interface KubeconfigParts {
  readonly cluster?: object;
  readonly user?: object;
  readonly context?: object;
  readonly current?: string;
}

export interface KubeconfigFixture {
  /** The temporary folder of the running test. */
  readonly folder: string;
  readonly clock: VirtualClock;
  /** Writes a kubeconfig and returns its path. */
  write(parts: KubeconfigParts, file?: string): Promise<string>;
  load(path: string): Promise<Connection>;
  loadUser(user: object): Promise<CredentialSource>;
}

/** Call once in a test file. */
export function useKubeconfigs(): KubeconfigFixture {
  let folder = '';
  const clock = createVirtualClock(1_700_000_000_000);
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stowage-auth-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const write = async (
    { cluster = {}, user = {}, context = {}, current = 'c' }: KubeconfigParts,
    file = 'config',
  ): Promise<string> => {
    const path = join(folder, file);
    const document = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': current,
      clusters: [{ name: 'k', cluster: { server: 'https://api.example:6443', ...cluster } }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'c', context: { cluster: 'k', user: 'u', ...context } }],
    };
    await writeFile(path, stringify(document));
    return path;
  };
  const load = (path: string): Promise<Connection> =>
    loadConnection({ kubeconfig: path, env: { PATH: process.env['PATH'] }, homeDirectory: folder, clock });

  return {
    get folder() {
      return folder;
    },
    clock,
    write,
    load,
    loadUser: async (user) => (await load(await write({ user }))).credentials,
  };
}
