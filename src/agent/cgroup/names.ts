/**
 * Names of control groups as kubelet and runtimes give them, whichever driver (systemd, cgroupfs) and wherever they are
 * nested (kind and k3s put their own folders above). Source: kubelet cm/cgroup_manager_linux.go and the runtimes'
 * cgroup drivers.
 */

/** `kubepods`, `kubepods.slice`, and nested as `kubelet-kubepods.slice`. */
export function isKubepodsRoot(name: string): boolean {
  return /^(?:[\w.@:\\-]+-)?kubepods(?:\.slice)?$/.test(name);
}

/** A QoS class below a root: `burstable`, `kubepods-besteffort.slice`. Guaranteed pods lie in the root itself. */
export function isQosGroup(name: string): boolean {
  return /^(?:(?:[\w.@:\\-]+-)?kubepods-)?(?:burstable|besteffort|guaranteed)(?:\.slice)?$/.test(name);
}

/**
 * The pod's uid in a folder's name: `pod1234-...`, `kubepods-burstable-pod1234_....slice`. systemd names cannot hold
 * dashes within a part, so the driver writes them as underscores. Static pods have the hash of their file, without
 * dashes.
 */
export function podUidOf(name: string): string | undefined {
  const match = /(?:^|-)pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32})(?:\.slice)?$/i.exec(name);
  return match?.[1]?.replaceAll('_', '-').toLowerCase();
}

/** `containerd://<id>`, `cri-o://<id>`, `docker://<id>`; undefined before the container exists. */
export function containerIdOf(statusId: string | undefined): string | undefined {
  const id = statusId?.slice(statusId.indexOf('://') + 3);
  return id === undefined || id === '' || statusId?.includes('://') !== true ? undefined : id;
}

/**
 * Whether a folder of a pod is that of the container: `<id>`, `cri-containerd-<id>.scope`, `crio-<id>`,
 * `docker-<id>.scope`. CRI-O puts the monitor's group (`crio-conmon-<id>`) beside it; that one is not meant.
 */
export function isContainerGroup(name: string, id: string): boolean {
  const bare = name.endsWith('.scope') ? name.slice(0, -'.scope'.length) : name;
  if (bare === id) return true;
  return bare.endsWith(`-${id}`) && !bare.slice(0, -id.length - 1).endsWith('conmon');
}
