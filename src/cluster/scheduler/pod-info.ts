/** A pod as the scheduler sees it: everything derived from its spec once, not once a node. */
import type { LabelSelector, Pod } from '../../api/core.ts';
import { controllerOf, namespaceOf, uidOf } from '../objects.ts';
import { type Amounts, effectiveRequests } from '../pod-requests.ts';

type PodSpec = NonNullable<Pod['spec']>;

/** Pods counted together: those of one namespace that match a selector, or those of one controller. */
export interface PodGroup {
  /** Equal keys mean equal groups. */
  readonly key: string;
  readonly namespaces: readonly string[];
  readonly selector: LabelSelector | undefined;
  /** Instead of a selector: uid of the controller. */
  readonly controllerUid: string | undefined;
  /** Terminating pods count: for affinity, as they are still there; not for spreading. */
  readonly countsTerminating: boolean;
}

export interface SpreadConstraint {
  readonly group: PodGroup;
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  /** DoNotSchedule; otherwise it is only a preference. */
  readonly isHard: boolean;
  /** Nodes the pod's own selectors refuse are no domains (`nodeAffinityPolicy: Honor`). */
  readonly honorsAffinity: boolean;
  /** Nodes with untolerated taints are no domains (`nodeTaintsPolicy: Honor`). */
  readonly honorsTaints: boolean;
}

/** A port of the node's own that a container takes. */
export interface HostPort {
  readonly port: number;
  readonly protocol: string;
  /** `0.0.0.0` is every address of the node. */
  readonly address: string;
}

export interface AffinityTerm {
  /** Without those of namespaces that only `namespaceSelector` picks: see {@link ClusterState.groupOf}. */
  readonly group: PodGroup;
  readonly namespaceSelector: LabelSelector | undefined;
  readonly topologyKey: string;
}

/** Lives as long as the version of the pod it was made from. */
export interface PodInfo {
  readonly pod: Pod;
  readonly uid: string;
  readonly spec: PodSpec;
  readonly requests: Amounts;
  readonly spread: readonly SpreadConstraint[];
  readonly affinity: readonly AffinityTerm[];
  readonly antiAffinity: readonly AffinityTerm[];
  readonly claimNames: readonly string[];
  readonly hostPorts: readonly HostPort[];
}

export const ANY_ADDRESS = '0.0.0.0';
const EMPTY_SPEC: PodSpec = { containers: [] };

export function podInfoOf(pod: Pod): PodInfo {
  const spec = pod.spec ?? EMPTY_SPEC;
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
  return {
    pod,
    uid: uidOf(pod),
    spec,
    requests: effectiveRequests(pod),
    spread: spreadOf(pod, spec),
    affinity: termsOf(pod, podAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    antiAffinity: termsOf(pod, podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    claimNames: (spec.volumes ?? []).flatMap((volume) => volume.persistentVolumeClaim?.claimName ?? []),
    hostPorts: hostPortsOf(spec),
  };
}

/** Of the containers that run as long as the pod. Source: kubernetes pkg/scheduler/util/utils.go `GetHostPorts`. */
function hostPortsOf({ containers, initContainers = [] }: PodSpec): HostPort[] {
  const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always');
  const ports = [...sidecars, ...containers].flatMap((container) => container.ports ?? []);
  return ports.flatMap(({ hostPort: port = 0, protocol = 'TCP', hostIP }) =>
    port > 0 ? [{ port, protocol, address: hostIP || ANY_ADDRESS }] : [],
  );
}

/** Pods of a controller that ask for nothing are still spread a little, as the default constraints of Kubernetes do. */
function spreadOf(pod: Pod, spec: PodSpec): SpreadConstraint[] {
  const constraints = spec.topologySpreadConstraints ?? [];
  if (constraints.length === 0) return defaultSpread(pod);
  return constraints.map((constraint) => ({
    // The API server has put what the pod says under `matchLabelKeys` into the selector (apiserver/rules/label-keys.ts).
    group: selectorGroup([namespaceOf(pod)], constraint.labelSelector, false),
    topologyKey: constraint.topologyKey,
    maxSkew: constraint.maxSkew,
    minDomains: constraint.minDomains ?? 1,
    isHard: constraint.whenUnsatisfiable === 'DoNotSchedule',
    honorsAffinity: constraint.nodeAffinityPolicy !== 'Ignore',
    honorsTaints: constraint.nodeTaintsPolicy === 'Honor',
  }));
}

function defaultSpread(pod: Pod): SpreadConstraint[] {
  const owner = controllerOf(pod);
  if (owner === undefined) return [];
  const group: PodGroup = {
    key: `controller:${owner.uid}`,
    namespaces: [namespaceOf(pod)],
    selector: undefined,
    controllerUid: owner.uid,
    countsTerminating: false,
  };
  const soft = { group, minDomains: 1, isHard: false, honorsAffinity: true, honorsTaints: false };
  return [
    { ...soft, topologyKey: 'kubernetes.io/hostname', maxSkew: 3 },
    { ...soft, topologyKey: 'topology.kubernetes.io/zone', maxSkew: 5 },
  ];
}

type RequiredTerms = NonNullable<
  NonNullable<NonNullable<PodSpec['affinity']>['podAntiAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
>;

/**
 * Namespaces that are named and those that are selected are meant; with neither, the pod's own.
 * Source: kubernetes pkg/scheduler/framework/types.go `getNamespacesFromPodAffinityTerm`.
 */
function termsOf(pod: Pod, terms: RequiredTerms | undefined): AffinityTerm[] {
  return (terms ?? []).map(({ namespaces = [], namespaceSelector, labelSelector, topologyKey }) => {
    const meant = namespaces.length === 0 && namespaceSelector === undefined ? [namespaceOf(pod)] : namespaces;
    return { group: selectorGroup(meant, labelSelector, true), namespaceSelector, topologyKey };
  });
}

/** Pods of these namespaces that match a selector; undefined matches none. */
export function selectorGroup(
  namespaces: readonly string[],
  selector: LabelSelector | undefined,
  countsTerminating: boolean,
): PodGroup {
  return {
    key: `selector:${countsTerminating}:${namespaces.join(',')}:${JSON.stringify(selector ?? null)}`,
    namespaces,
    selector,
    controllerUid: undefined,
    countsTerminating,
  };
}
