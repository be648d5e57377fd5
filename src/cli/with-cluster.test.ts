import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { resources } from '../api/resources.ts';
import { describeError } from '../lib/errors.ts';
import { createSeededRandom } from '../lib/random.ts';
import { eventually } from '../lib/testing/eventually.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import type { CliIo, Terminal } from './cli-context.ts';
import { withCluster } from './with-cluster.ts';

test('a credential plugin that does not end is told as such, not an API server that nobody has asked', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-cluster-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const waits = join(folder, 'waits');
  await writeFile(join(folder, 'plugin.sh'), `#!/bin/sh\ntouch ${waits}\nexec sleep 600\n`, { mode: 0o755 });
  const kubeconfig = join(folder, 'config');
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: './plugin.sh' };
  const config = {
    'current-context': 'c',
    clusters: [{ name: 'k', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name: 'u', user: { exec } }],
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
  };
  await writeFile(kubeconfig, JSON.stringify(config));
  const clock = createVirtualClock(Date.UTC(2026, 0, 2, 12));
  const terminal: Terminal = { write() {}, isTerminal: false, size: () => undefined };
  const io: CliIo = {
    out: terminal,
    err: terminal,
    readStdin: async () => '',
    env: { PATH: process.env['PATH'] },
    clock,
    random: createSeededRandom(1),
    signal: new AbortController().signal,
  };
  const global = { kubeconfig, context: undefined, namespace: undefined, output: 'table', debug: false } as const;
  const failed = withCluster({ io, global }, (api) => api.get(resources.namespaces, 'shop')).catch(describeError);
  await eventually(() => access(waits));
  await clock.advance(60_000);
  expect(await failed).toMatch(/plugin "\S+plugin\.sh" of user "u" did not end within 60 s\. Check --kubeconfig/);
});
