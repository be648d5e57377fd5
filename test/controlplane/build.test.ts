import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createVirtualClock } from '../../src/lib/virtual-clock.ts';
import { cachedBinaryFolder, ensureBinaries, findBinaries, findBinary, formatElapsed } from './build.ts';
import { existingKubeconfigPath } from './existing-cluster.ts';
import { buildRecipe, cacheKey, componentNames, readVersions, requiredVersion } from './versions.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stowage-assets-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function addPrograms(directory: string, names: readonly string[]): void {
  mkdirSync(directory, { recursive: true });
  for (const name of names) {
    writeFileSync(join(directory, name), '#!/bin/sh\n');
    chmodSync(join(directory, name), 0o755);
  }
}

describe('versions', () => {
  test('come from go.mod, in a single require, a block, or marked indirect', () => {
    expect(requiredVersion('module m\n\nrequire a.io/b v1.2.3\n', 'a.io/b')).toBe('1.2.3');
    expect(requiredVersion('require (\n\ta.io/bc v9.0.0\n\ta.io/b/v3 v3.0.1 // indirect\n)', 'a.io/b/v3')).toBe(
      '3.0.1',
    );
  });

  test('a replace line is no requirement', () => {
    expect(() => requiredVersion('replace a.io/b => a.io/b v1.0.0', 'a.io/b')).toThrow('requires no version of a.io/b');
  });

  test('the modules of this repository pin both', () => {
    const versions = readVersions();
    expect(versions.kubernetes).toMatch(/^1\.\d+\.\d+$/);
    expect(versions.etcd).toMatch(/^3\.\d+\.\d+$/);
    expect(cacheKey(versions)).toBe(`k8s-${versions.kubernetes}-etcd-${versions.etcd}`);
  });

  test('Kubernetes programs are stamped with their version, so that clients can parse /version', () => {
    const { linkerFlags, packagePath } = buildRecipe('kube-scheduler', { kubernetes: '1.37.2', etcd: '3.7.3' });
    expect(packagePath).toBe('k8s.io/kubernetes/cmd/kube-scheduler');
    expect(linkerFlags).toContain('k8s.io/component-base/version.gitVersion=v1.37.2');
    expect(linkerFlags).toContain('k8s.io/component-base/version.gitMajor=1');
    expect(linkerFlags).toContain('k8s.io/component-base/version.gitMinor=37');
  });
});

describe('look-up of the programs', () => {
  test('TEST_ASSET_ wins over KUBEBUILDER_ASSETS, which wins over the cache', () => {
    const env = { XDG_CACHE_HOME: join(root, 'cache') };
    expect(findBinary('etcd', env)).toBeUndefined();
    addPrograms(cachedBinaryFolder(env), ['etcd']);
    expect(findBinary('etcd', env)).toBe(join(cachedBinaryFolder(env), 'etcd'));
    addPrograms(join(root, 'assets'), ['etcd']);
    const withAssets = { ...env, KUBEBUILDER_ASSETS: join(root, 'assets') };
    expect(findBinary('etcd', withAssets)).toBe(join(root, 'assets', 'etcd'));
    addPrograms(root, ['my-etcd']);
    expect(findBinary('etcd', { ...withAssets, TEST_ASSET_ETCD: join(root, 'my-etcd') })).toBe(join(root, 'my-etcd'));
  });

  test('a folder without the program falls through to the next', () => {
    const env = { XDG_CACHE_HOME: join(root, 'cache'), KUBEBUILDER_ASSETS: root };
    addPrograms(cachedBinaryFolder(env), ['kube-scheduler']);
    expect(findBinary('kube-scheduler', env)).toBe(join(cachedBinaryFolder(env), 'kube-scheduler'));
  });

  test('a named program that does not exist is an error, not a reason to look elsewhere', () => {
    const env = { XDG_CACHE_HOME: root, TEST_ASSET_KUBE_APISERVER: '/nowhere/kube-apiserver' };
    expect(() => findBinary('kube-apiserver', env)).toThrow('TEST_ASSET_KUBE_APISERVER is /nowhere/kube-apiserver');
  });

  test('a file that is not executable is no program', () => {
    writeFileSync(join(root, 'etcd'), '');
    expect(findBinary('etcd', { XDG_CACHE_HOME: root, KUBEBUILDER_ASSETS: root })).toBeUndefined();
  });

  test('the set is complete or absent', () => {
    const env = { XDG_CACHE_HOME: root };
    addPrograms(cachedBinaryFolder(env), componentNames.slice(1));
    expect(findBinaries(env)).toBeUndefined();
    addPrograms(cachedBinaryFolder(env), componentNames.slice(0, 1));
    expect(Object.keys(findBinaries(env) ?? {}).toSorted()).toEqual([...componentNames].toSorted());
  });

  test('a complete set is used as it is: no Go needed', async () => {
    const env = { XDG_CACHE_HOME: root, PATH: '' };
    addPrograms(cachedBinaryFolder(env), componentNames);
    const lines: string[] = [];
    await ensureBinaries({ clock: createVirtualClock(0), env, report: (line) => lines.push(line) });
    expect(lines).toEqual([]);
  });

  test('without Go and without programs the error names every way out', async () => {
    const building = ensureBinaries({
      clock: createVirtualClock(0),
      env: { XDG_CACHE_HOME: root, PATH: root },
      report: () => undefined,
    });
    await expect(building).rejects.toThrow(/Go is not installed.*KUBEBUILDER_ASSETS.*USE_EXISTING_CLUSTER/);
  });
});

describe('existing cluster', () => {
  test.each([
    [{ KUBECONFIG: '/a' }, undefined],
    [{ USE_EXISTING_CLUSTER: 'false', KUBECONFIG: '/a' }, undefined],
    [{ USE_EXISTING_CLUSTER: 'true', KUBECONFIG: '/a' }, '/a'],
    [{ USE_EXISTING_CLUSTER: 'true', KUBECONFIG: ':/b:/c' }, '/b'],
  ])('%j -> %s', (env, path) => {
    expect(existingKubeconfigPath(env)).toBe(path);
  });

  test('without KUBECONFIG the file in the home folder', () => {
    expect(existingKubeconfigPath({ USE_EXISTING_CLUSTER: 'true' })).toMatch(/\.kube.config$/);
  });
});

test.each([
  [0, '0 s'],
  [59_999, '59 s'],
  [60_000, '1 min 0 s'],
  [725_000, '12 min 5 s'],
])('%d ms reads as %s', (millis, text) => {
  expect(formatElapsed(millis)).toBe(text);
});
