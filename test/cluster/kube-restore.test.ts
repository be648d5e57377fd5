/** The product's own informer on a real API server whose store is put back to what it was before. */
import { cpSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ConfigMap } from '../../src/api/core.ts';
import { resources } from '../../src/api/resources.ts';
import { loadConnection } from '../../src/kube/auth/load-connection.ts';
import { createKubeApi } from '../../src/kube/client.ts';
import { createInformer } from '../../src/kube/informer.ts';
import { startFreezableProxy } from '../../src/kube/testing/freezable-proxy.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { createSilentLogger } from '../../src/lib/log.ts';
import { createSystemRandom } from '../../src/lib/random.ts';
import { ensureBinaries } from '../controlplane/build.ts';
import { startControlPlane } from '../controlplane/control-plane.ts';

const clock = createSystemClock();
const random = createSystemRandom();
const namespace = 'default';
const eventually = <T>(assertion: () => Promise<T> | T, interval = 100): Promise<T> =>
  vi.waitFor(assertion, { timeout: 150_000, interval });
const configMap = (name: string, value: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { value },
});

test('a backup that was restored is noticed, though watches from what is still to come are accepted, and each is cut', async () => {
  const binaries = await ensureBinaries({ clock, env: process.env, report: () => undefined });
  const controlPlane = await startControlPlane({ binaries, clock, controllers: false });
  onTestFinished(() => controlPlane.stop());
  const { adminKubeconfigPath: kubeconfig, directory } = controlPlane;
  /** While nothing is written to the store. */
  const offline = async (work: () => void): Promise<void> => {
    await controlPlane.kill('kube-apiserver');
    await controlPlane.kill('etcd');
    work();
    await controlPlane.restart('etcd');
    await controlPlane.restart('kube-apiserver');
  };
  const copy = (from: string, to: string): void =>
    cpSync(join(directory, from), join(directory, to), { recursive: true });

  const proxy = await startFreezableProxy(Number(new URL(controlPlane.url).port));
  onTestFinished(() => proxy.close());
  const connection = await loadConnection({ kubeconfig, env: {}, homeDirectory: homedir(), clock });
  const server = new URL(`https://127.0.0.1:${proxy.port}`);
  const log = createSilentLogger();
  const limits = { qps: 1_000, burst: 1_000 };
  const api = createKubeApi({ connection: { ...connection, server }, clock, random, log, limits });
  onTestFinished(() => api.close());
  const write = async (name: string, value: string): Promise<void> => {
    const body = configMap(name, value);
    await api.patch(resources.configMaps, name, { type: 'apply', body }, { namespace, fieldManager: 'test' });
  };
  await write('kept', 'then');
  await offline(() => copy('etcd', 'backup'));

  const told: string[] = [];
  const note = ({ error }: { readonly error?: unknown }): void => void told.push(String(error));
  const informer = createInformer({
    api,
    type: resources.configMaps,
    project: ({ data }) => data?.['value'],
    clock,
    random,
    log: { ...log, info: note, warn: note },
    selection: { namespace },
    retryPolicy: { initialMillis: 200, factor: 1, maxMillis: 200, jitter: 0 },
  });
  const stopper = new AbortController();
  const running = informer.run(stopper.signal);
  onTestFinished(async () => {
    stopper.abort();
    await running;
  });
  const known = (name: string): string | undefined => informer.store.get(`${namespace}/${name}`);
  // Further than the API server comes by itself until this is over.
  for (let round = 0; round < 20; round++)
    await Promise.all(Array.from({ length: 50 }, (_, index) => write(`load-${index}`, String(round))));
  await write('kept', 'now');
  await eventually(() => expect(known('kept')).toBe('now'));

  await offline(() => {
    rmSync(join(directory, 'etcd'), { recursive: true });
    copy('backup', 'etcd');
  });
  await eventually(() => {
    proxy.reset();
    expect(known('kept')).toBe('then');
  }, 1_000);
  await eventually(() => expect(informer.freshness()).toBe('fresh'));
  expect(known('load-0')).toBeUndefined();
  expect(told.join('\n')).toContain('a backup was restored');
  await write('kept', 'later');
  await eventually(() => expect(known('kept')).toBe('later'));
});
