import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { useKubeconfigs } from '../testing/kubeconfig-fixture.ts';
import { loadConnection } from './load-connection.ts';

const fixture = useKubeconfigs();

describe('in the cluster', () => {
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };

  test('token, CA and namespace come from the service account; a kubeconfig of the home fixture.folder does not matter', async () => {
    for (const [name, text] of [
      ['token', 't1\n'],
      ['ca.crt', 'CA'],
      ['namespace', 'stowage-system\n'],
    ] as const) {
      await writeFile(join(fixture.folder, name), text);
    }
    const connection = await loadConnection({
      env,
      homeDirectory: fixture.folder,
      clock: fixture.clock,
      serviceAccountDirectory: fixture.folder,
    });
    expect(connection.server.href).toBe('https://[fd00::1]/');
    expect(connection.namespace).toBe('stowage-system');
    expect(await connection.credentials.current()).toEqual({ token: 't1' });
    expect(await connection.trust.current()).toEqual({ ca: 'CA' });
    // CA rotation: read again once a connection was refused.
    await writeFile(join(fixture.folder, 'ca.crt'), 'NEXT CA');
    expect(await connection.trust.current()).toEqual({ ca: 'CA' });
    connection.trust.invalidate();
    expect(await connection.trust.current()).toEqual({ ca: 'NEXT CA' });
  });

  test('a pod without a mounted token is told so', async () => {
    await expect(
      loadConnection({
        env,
        homeDirectory: fixture.folder,
        clock: fixture.clock,
        serviceAccountDirectory: fixture.folder,
      }),
    ).rejects.toThrow(/Cannot read the service account token at/);
  });

  test('outside, ~/.kube/config is used', async () => {
    await mkdir(join(fixture.folder, '.kube'));
    await fixture.write({ user: { token: 'home' } }, '.kube/config');
    const connection = await loadConnection({ env: {}, homeDirectory: fixture.folder, clock: fixture.clock });
    expect(await connection.credentials.current()).toEqual({ token: 'home' });
  });
});
