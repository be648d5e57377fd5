/** The configuration files of containerd, the network plugin and the kubelet of one node. Every value that is not plainly a path says why it is there. */

export const CLUSTER_DOMAIN = 'cluster.local';

export interface NodeFileInput {
  readonly name: string;
  /** Control group of the node, relative to each hierarchy's root. */
  readonly cgroup: string;
  /** Folder of the run with the node's certificates. */
  readonly certificates: string;
  readonly plugins: string;
  readonly runc: string;
  readonly pauseImage: string;
  /** Distinct for each node: they share one network namespace. */
  readonly index: number;
  readonly reserved: { readonly cpu: string; readonly memory: string };
  /** Merged over our kubelet configuration. */
  readonly kubelet?: Readonly<Record<string, unknown>>;
  readonly resolvConf: string;
  /** Where pods ask for names. */
  readonly nameServer: string;
}

export function kubeletPort({ index }: { readonly index: number }): number {
  return 10_250 + 10 * index;
}

export function kubeletHealthPort({ index }: { readonly index: number }): number {
  return 10_248 + 10 * index;
}

/** @param restrictOomScore true where nobody may lower an oom_score_adj (no CAP_SYS_RESOURCE): runc fails otherwise. */
export function containerdConfig(input: NodeFileInput, restrictOomScore: boolean): string {
  return `version = 3
disabled_plugins = ["io.containerd.nri.v1.nri", "io.containerd.snapshotter.v1.blockfile", "io.containerd.snapshotter.v1.erofs"]

[plugins.'io.containerd.cri.v1.images']
  snapshotter = "overlayfs"
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = "${input.pauseImage}"

[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = ${restrictOomScore}
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ["${input.plugins}"]
    conf_dir = "/var/lib/cni/conf"
  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = "runc"
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
        BinaryName = "${input.runc}"
        SystemdCgroup = false
`;
}

export function networkConfig({ index }: NodeFileInput): string {
  return JSON.stringify({
    cniVersion: '1.0.0',
    name: 'stowage',
    plugins: [
      {
        type: 'bridge',
        bridge: `pods${index}`,
        // Pods need a default route to reach Services and the nodes.
        isDefaultGateway: true,
        ipMasq: false,
        // A pod may reach itself through its Service.
        hairpinMode: true,
        ipam: { type: 'host-local', ranges: [[{ subnet: `10.244.${index}.0/24` }]] },
      },
    ],
  });
}

export function kubeletConfig(input: NodeFileInput): string {
  const { name, cgroup, certificates, reserved } = input;
  const file = (suffix: string): string => `${certificates}/${suffix}`;
  return JSON.stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: '0.0.0.0',
    port: kubeletPort(input),
    healthzPort: kubeletHealthPort(input),
    readOnlyPort: 0,
    tlsCertFile: file(`${name}-serving.crt`),
    tlsPrivateKeyFile: file(`${name}-serving.key`),
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: file('ca.crt') },
    },
    authorization: { mode: 'Webhook' },
    // cAdvisor has this very path built in: with another one /metrics/cadvisor has no series of containers.
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${cgroup}`,
    failCgroupV1: false,
    failSwapOn: false,
    resolvConf: input.resolvConf,
    clusterDNS: [input.nameServer],
    clusterDomain: CLUSTER_DOMAIN,
    evictionHard: {
      'memory.available': '100Mi',
      'nodefs.available': '1%',
      'nodefs.inodesFree': '1%',
      'imagefs.available': '1%',
    },
    // Images come from an archive; one that is collected as garbage could not be pulled again.
    imageGCHighThresholdPercent: 100,
    systemReserved: reserved,
    ...input.kubelet,
  });
}
