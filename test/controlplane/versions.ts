/** Which programs make up the control plane, and their versions. The go.mod files beside this one are the only place that names a version. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const componentNames = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
export type ComponentName = (typeof componentNames)[number];

/** What `go build` needs to make one program. */
export interface BuildRecipe {
  /** Folder with the go.mod and go.sum that pin the sources. */
  readonly moduleDirectory: string;
  readonly packagePath: string;
  readonly linkerFlags: readonly string[];
  /** Build tags. Default none. */
  readonly tags?: readonly string[];
  /** Links C libraries. Default false. */
  readonly cgo?: boolean;
}

export interface Versions {
  /** Without the leading `v`, e.g. `1.37.2`. */
  readonly kubernetes: string;
  readonly etcd: string;
}

/** @throws Error when the go.mod does not require the module at a fixed version. */
export function requiredVersion(goMod: string, modulePath: string): string {
  const escaped = modulePath.replaceAll('.', '\\.');
  const version = new RegExp(`^\\s*(?:require\\s+)?${escaped}\\s+v(\\S+)`, 'm').exec(goMod)?.[1];
  if (version === undefined)
    throw new Error(`go.mod requires no version of ${modulePath}: add "require ${modulePath} vX.Y.Z"`);
  return version;
}

const moduleDirectories = {
  kubernetes: join(import.meta.dirname, 'kubernetes'),
  etcd: join(import.meta.dirname, 'etcd'),
};

export function readVersions(): Versions {
  const read = (directory: string, modulePath: string): string =>
    requiredVersion(readFileSync(join(directory, 'go.mod'), 'utf8'), modulePath);
  return {
    kubernetes: read(moduleDirectories.kubernetes, 'k8s.io/kubernetes'),
    etcd: read(moduleDirectories.etcd, 'go.etcd.io/etcd/server/v3'),
  };
}

/** Name of the cache folder: one a set of versions, so that a version change never runs old programs. */
export function cacheKey(versions: Versions): string {
  return `k8s-${versions.kubernetes}-etcd-${versions.etcd}`;
}

export function buildRecipe(component: ComponentName, versions: Versions): BuildRecipe {
  const strip = ['-s', '-w'];
  if (component === 'etcd') {
    return { moduleDirectory: moduleDirectories.etcd, packagePath: 'go.etcd.io/etcd/server/v3', linkerFlags: strip };
  }
  return kubernetesRecipe(component, versions);
}

/** Any program of the Kubernetes module, e.g. `kubelet`. */
export function kubernetesRecipe(program: string, versions: Versions): BuildRecipe {
  const strip = ['-s', '-w'];
  const [major = '', minor = ''] = versions.kubernetes.split('.');
  const stamp = (variable: string, value: string): string[] => [
    '-X',
    `k8s.io/component-base/version.${variable}=${value}`,
  ];
  return {
    moduleDirectory: moduleDirectories.kubernetes,
    packagePath: `k8s.io/kubernetes/cmd/${program}`,
    // Without these /version answers v0.0.0-master+$Format:%H$, which kubectl cannot parse.
    linkerFlags: [
      ...strip,
      ...stamp('gitVersion', `v${versions.kubernetes}`),
      ...stamp('gitMajor', major),
      ...stamp('gitMinor', minor),
    ],
  };
}
