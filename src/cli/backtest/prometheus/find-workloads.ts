/** Which workloads there are, and what their containers request now, by what kube-state-metrics tells Prometheus. */
import { ascending } from '../../../lib/ascending.ts';
import type { EpochMillis } from '../../../lib/units.ts';
import { type WorkloadRef, workloadKey, workloadText } from '../../../model/cluster-view.ts';
import { escapeRegex } from '../../../observe/usage/prometheus/pod-pattern.ts';
import { quote } from '../../../observe/usage/prometheus/promql.ts';
import type { VectorSample } from '../../../observe/usage/prometheus/read-vector.ts';
import { CommandError } from '../../cli-error.ts';
import type { UsageHistory } from './open-history.ts';

export interface Requested {
  /** Millicores; undefined: none is requested, or it is not known. */
  readonly cpu: number | undefined;
  /** Bytes. */
  readonly memory: number | undefined;
}

export interface FoundWorkload {
  readonly workload: WorkloadRef;
  /** Names of pods that exist now. */
  readonly pods: readonly string[];
  /** By container; of pods that differ the highest. */
  readonly requested: ReadonlyMap<string, Requested>;
}

export interface FoundWorkloads {
  readonly workloads: readonly FoundWorkload[];
  /** Whose a pod is: by `namespace/name`, the key of the workload. */
  readonly ownerOf: ReadonlyMap<string, string>;
  readonly problems: readonly string[];
}

export interface WhichWorkloads {
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  /** Empty: all Deployments, Rollouts, StatefulSets, DaemonSets and bare ReplicaSets. */
  readonly wanted: readonly WorkloadRef[];
}

/**
 * @throws CommandError when Prometheus does not answer, or knows no workload while none is named. Workloads that are named are
 * found without kube-state-metrics, too.
 */
export async function findWorkloads(
  history: UsageHistory,
  { namespace, wanted }: WhichWorkloads,
  at: EpochMillis,
  signal: AbortSignal,
): Promise<FoundWorkloads> {
  const places =
    wanted.length > 0 ? [...new Set(wanted.map((one) => one.namespace))] : namespace === undefined ? [] : [namespace];
  const inPlace = places.length === 0 ? 'namespace!=""' : `namespace=~${quote(places.map(escapeRegex).join('|'))}`;
  const ask = (labels: string, metric: string, matcher: string): Promise<readonly VectorSample[]> =>
    history.ask(`max by (namespace, ${labels}) (${metric}{${inPlace},${matcher}})`, at, signal);
  const owners = await ask(
    'pod, owner_kind, owner_name',
    'kube_pod_owner',
    'owner_kind=~"ReplicaSet|StatefulSet|DaemonSet"',
  );
  if (owners.length === 0 && wanted.length === 0) {
    const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
    throw new CommandError(
      `--data prometheus: ${history.name} knows of no pod${where} whose it is (kube_pod_owner): have kube-state-metrics scraped with honorLabels, or name workloads with --workload KIND/NAMESPACE/NAME`,
    );
  }
  const replicaSets = await ask(
    'replicaset, owner_kind, owner_name',
    'kube_replicaset_owner',
    'owner_kind=~"Deployment|Rollout"',
  );
  const requests = await ask(
    'pod, container, resource',
    'kube_pod_container_resource_requests',
    'resource=~"cpu|memory"',
  );

  const found = collect(owners, replicaSets, requests);
  const ownerOf = new Map(
    [...found.values()].flatMap(({ workload, pods }) =>
      pods.map((pod) => [`${workload.namespace}/${pod}`, workloadKey(workload)] as const),
    ),
  );
  const chosen = wanted.map(
    (workload) => found.get(workloadKey(workload)) ?? { workload, pods: [], requested: new Map() },
  );
  const workloads = wanted.length > 0 ? chosen : [...found.values()];
  return {
    ownerOf,
    workloads: workloads.toSorted((a, b) => ascending(workloadText(a.workload), workloadText(b.workload))),
    problems:
      requests.length > 0
        ? []
        : ['present requests are not known (kube_pod_container_resource_requests), so there is no row "as is"'],
  };
}

interface Collected extends FoundWorkload {
  readonly pods: string[];
  readonly requested: Map<string, Requested>;
}

function collect(
  owners: readonly VectorSample[],
  replicaSets: readonly VectorSample[],
  requests: readonly VectorSample[],
): Map<string, Collected> {
  const above = new Map(
    replicaSets.map(({ labels }) => [`${text(labels, 'namespace')}/${text(labels, 'replicaset')}`, labels] as const),
  );
  const found = new Map<string, Collected>();
  const ofPod = new Map<string, Collected>();
  for (const { labels } of owners) {
    const namespace = text(labels, 'namespace');
    const direct = { kind: text(labels, 'owner_kind'), name: text(labels, 'owner_name') };
    const upper = direct.kind === 'ReplicaSet' ? above.get(`${namespace}/${direct.name}`) : undefined;
    const owner = upper === undefined ? direct : { kind: text(upper, 'owner_kind'), name: text(upper, 'owner_name') };
    const [pod, workload] = [text(labels, 'pod'), { namespace, ...owner }];
    if (namespace === '' || pod === '' || owner.name === '') continue;
    const known = found.get(workloadKey(workload)) ?? { workload, pods: [], requested: new Map<string, Requested>() };
    found.set(workloadKey(workload), known);
    known.pods.push(pod);
    ofPod.set(`${namespace}/${pod}`, known);
  }
  for (const { labels, value } of requests) {
    const requested = ofPod.get(`${text(labels, 'namespace')}/${text(labels, 'pod')}`)?.requested;
    const container = text(labels, 'container');
    if (requested === undefined || container === '' || value <= 0) continue;
    const known = requested.get(container) ?? { cpu: undefined, memory: undefined };
    const isCpu = labels['resource'] === 'cpu';
    const amount = isCpu ? Math.round(value * 1000) : value;
    const most = Math.max(amount, (isCpu ? known.cpu : known.memory) ?? 0);
    requested.set(container, { ...known, ...(isCpu ? { cpu: most } : { memory: most }) });
  }
  return found;
}

const text = (labels: Readonly<Record<string, string>>, name: string): string => labels[name] ?? '';
