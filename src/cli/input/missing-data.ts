/** What the input does not hold, and what that means for the result: silence would look like "all is well". */
import { type ClusterInput, type InputKind, kindNames } from './cluster-input.ts';

/** What may be missing, in the words of messages. All but the kinds of a dump are missed only where a right is. */
export type MissingName =
  | InputKind
  | 'pods of other namespaces'
  | 'optimizationpolicies'
  | 'optimizationpolicies of other namespaces'
  | 'daemonsets'
  | 'podallocations';

export interface MissingData {
  readonly data: MissingName;
  /** What the result cannot say, or takes for granted, without it. */
  readonly meaning: string;
}

/** Prints a dump that holds everything `stowage plan` looks at. */
export const DUMP_COMMAND =
  'kubectl get namespaces,nodes,pods,replicasets,deployments,statefulsets,pdb,pvc,pv --all-namespaces -o json';

type Meaning = string | ((input: ClusterInput) => string | undefined);

const has = ({ counts }: ClusterInput, kind: InputKind): boolean => (counts[kind] ?? 0) > 0;
const usesVolumes = ({ records }: ClusterInput): boolean => records.pods?.some((pod) => pod.claims.length > 0) === true;

const NO_NAMESPACE =
  'no namespace is known to be labelled spotalis.io/enabled: "true", so no workload counts as managed';
const NO_REPLICA_SETS = 'pods cannot be traced to their Deployment, which then looks as if it had none';
const NO_CLAIMS = 'no pod with a volume is moved, as where its volume can be reached is not known';

/** Of a dump: what is not in it. Undefined where that does not matter. */
const fileMeanings: Readonly<Partial<Record<MissingName, Meaning>>> = {
  namespaces: NO_NAMESPACE,
  pods: 'nothing runs yet: shown is the split that admission would give new pods',
  nodes: (input) =>
    has(input, 'pods')
      ? 'where pods run is unknown: no pod counts as misplaced'
      : 'it is unknown whether either side has room',
  replicasets: (input) => (has(input, 'pods') && has(input, 'deployments') ? NO_REPLICA_SETS : undefined),
  poddisruptionbudgets: (input) =>
    has(input, 'pods') ? 'it is taken that there are none; a real eviction may be refused by one' : undefined,
  persistentvolumeclaims: (input) => (usesVolumes(input) ? NO_CLAIMS : undefined),
  persistentvolumes: (input) => (has(input, 'persistentvolumeclaims') ? NO_CLAIMS : undefined),
};

/** Of a cluster: what whoever asks may not read. What is not known there is never taken to be harmless. */
const liveMeanings: Readonly<Record<MissingName, Meaning>> = {
  namespaces: NO_NAMESPACE,
  // Refused, they end the command.
  pods: 'nothing is known of what runs',
  nodes:
    'the side of a node is known only where a pod runs that is pinned to one, other pods count for neither side; and no move counts as possible, as a node may be full, or leaving',
  'pods of other namespaces':
    'what nodes have left is not known, so no move counts on it; shares of CPU are those that agents asked for',
  deployments: 'Deployments are left out',
  statefulsets: 'StatefulSets are left out',
  replicasets: (input) => (has(input, 'deployments') ? NO_REPLICA_SETS : undefined),
  poddisruptionbudgets: 'no move counts as possible, as one of them may forbid it',
  persistentvolumeclaims: (input) => (usesVolumes(input) ? NO_CLAIMS : undefined),
  persistentvolumes: (input) => (has(input, 'persistentvolumeclaims') ? NO_CLAIMS : undefined),
  optimizationpolicies: 'nothing is said of sizes',
  'optimizationpolicies of other namespaces':
    'where the operator lets one of them size workloads here, these look as if no policy, or another, had the say',
  daemonsets: 'nothing is said of the sizes of DaemonSets',
  podallocations: 'nothing is said of what agents asked for',
};

/** The kinds of which a dump has not one object, where that matters. */
export function missingFromFiles(input: ClusterInput): MissingData[] {
  const absent = kindNames.filter((kind) => !has(input, kind));
  return absent.flatMap((data) => withMeaning(data, fileMeanings[data], input));
}

/** @param unreadable what a live API server refused; all else of which it shows nothing is not there. */
export function missingFromCluster(input: ClusterInput, unreadable: readonly MissingName[]): MissingData[] {
  return unreadable.flatMap((data) => withMeaning(data, liveMeanings[data], input));
}

function withMeaning(data: MissingName, meaning: Meaning | undefined, input: ClusterInput): MissingData[] {
  const text = typeof meaning === 'function' ? meaning(input) : meaning;
  return text === undefined ? [] : [{ data, meaning: text }];
}
