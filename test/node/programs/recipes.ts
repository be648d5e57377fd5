/** Which programs make up a real node, and how each is built. The go.mod files under modules/ and in test/controlplane are the only places that name a version. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type BuildRecipe,
  cacheKey,
  kubernetesRecipe,
  readVersions,
  requiredVersion,
} from '../../controlplane/versions.ts';

export const nodeProgramNames = [
  'kubelet',
  'kube-proxy',
  'containerd',
  'containerd-shim-runc-v2',
  'ctr',
  'runc',
  'bridge',
  'host-local',
  'loopback',
  'metrics-server',
] as const;
export type NodeProgram = (typeof nodeProgramNames)[number];

const CONTAINERD = 'github.com/containerd/containerd/v2';
const RUNC = 'github.com/opencontainers/runc';
const PLUGINS = 'github.com/containernetworking/plugins';
const METRICS_SERVER = 'sigs.k8s.io/metrics-server';
const STRIP = ['-s', '-w'];

const moduleDirectory = (name: string): string => join(import.meta.dirname, '..', 'modules', name);

function versionOf(module: string, path: string): string {
  return requiredVersion(readFileSync(join(moduleDirectory(module), 'go.mod'), 'utf8'), path);
}

/** Name of the cache folder: one a set of versions. */
export function nodeCacheKey(): string {
  const parts = {
    containerd: versionOf('containerd', CONTAINERD),
    runc: versionOf('runc', RUNC),
    cni: versionOf('cni', PLUGINS),
    metrics: versionOf('metrics-server', METRICS_SERVER),
  };
  const named = Object.entries(parts).map(([name, version]) => `${name}-${version}`);
  return [cacheKey(readVersions()), ...named].join('-');
}

/** @param withSeccomp false where libseccomp cannot be had: containers then run without seccomp profiles. */
export function nodeRecipe(program: NodeProgram, withSeccomp: boolean): BuildRecipe {
  switch (program) {
    case 'kubelet':
    case 'kube-proxy':
      return kubernetesRecipe(program, readVersions());
    case 'containerd':
    case 'containerd-shim-runc-v2':
    case 'ctr':
      return {
        moduleDirectory: moduleDirectory('containerd'),
        packagePath: `${CONTAINERD}/cmd/${program}`,
        linkerFlags: [...STRIP, '-X', `${CONTAINERD}/version.Version=v${versionOf('containerd', CONTAINERD)}`],
        tags: ['no_btrfs', 'no_devmapper', 'no_zfs', 'netgo', 'osusergo'],
      };
    case 'runc':
      return {
        moduleDirectory: moduleDirectory('runc'),
        packagePath: RUNC,
        linkerFlags: [...STRIP, '-X', `main.version=${versionOf('runc', RUNC)}`, '-extldflags', '-static'],
        tags: [...(withSeccomp ? ['seccomp'] : []), 'netgo', 'osusergo'],
        // runc enters namespaces in C before the Go runtime starts.
        cgo: true,
      };
    case 'bridge':
    case 'loopback':
      return {
        moduleDirectory: moduleDirectory('cni'),
        packagePath: `${PLUGINS}/plugins/main/${program}`,
        linkerFlags: STRIP,
      };
    case 'host-local':
      return {
        moduleDirectory: moduleDirectory('cni'),
        packagePath: `${PLUGINS}/plugins/ipam/${program}`,
        linkerFlags: STRIP,
      };
    case 'metrics-server':
      return {
        moduleDirectory: moduleDirectory('metrics-server'),
        packagePath: `${METRICS_SERVER}/cmd/metrics-server`,
        linkerFlags: STRIP,
      };
  }
}
