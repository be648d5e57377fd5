/** What the API server would say about the pod's PodDisruptionBudgets, asked before rather than after. */
import { compileLabelSelector } from '../../api/label-selector.ts';
import { InvalidValueError } from '../../lib/errors.ts';
import { hasEnded, isLive, ordinalOf, podsOf } from '../../model/owners.ts';
import type { Labels, PdbRecord, PodRecord } from '../../model/records.ts';
import type { InFlightEviction, Objection } from '../context.ts';
import { disruptionRule, object } from '../objection.ts';

/** Hazard H22, karpenter#2361: what cannot be evicted is skipped and told; it holds up no other workload. */
export const pdbAllows = disruptionRule(
  'pdb-allows',
  'The budget of the owners. Asking first keeps 429 answers, and the 500 for several budgets, out of the API server.',
  ({ pod }, { view, inFlight }) => {
    const disrupted = disruptedPods(inFlight, (workloadUid) => {
      const workload = view.workloadByUid(workloadUid);
      return workload === undefined ? [] : podsOf(view, workload);
    });
    return objectToPdbs(view.pdbs(pod.namespace), pod, disrupted);
  },
);

/**
 * Pods that are being disrupted by us and do not look like it yet: what a budget allows does not tell of them. The API
 * server subtracts evictions at once, and a restart never.
 */
export function disruptedPods(
  inFlight: readonly InFlightEviction[],
  podsOfWorkload: (workloadUid: string) => readonly PodRecord[],
): readonly PodRecord[] {
  return inFlight.flatMap(({ workloadUid, podUid }) =>
    podsOfWorkload(workloadUid).filter((pod) => pod.uid === podUid && pod.ready && isLive(pod)),
  );
}

/**
 * Why the budgets do not let the pod go, by the rules of the eviction API (kubernetes
 * pkg/registry/core/pod/storage/eviction.go): for a pod that is still Pending, or has ended, no budget is looked for; of
 * others one budget at most may select the pod, as the API could not take from several at once.
 * @param pdbs of the pod's namespace, whether or not they select it.
 * @param disrupted see {@link disruptedPods}; of any workload and namespace.
 */
export function objectToPdbs(pdbs: readonly PdbRecord[], pod: PodRecord, disrupted: readonly PodRecord[]): Objection {
  if (pod.phase === 'Pending' || hasEnded(pod)) return undefined;
  const [pdb, ...further] = pdbsOf(pdbs, pod);
  if (pdb === undefined) return undefined;
  if (further.length > 0) {
    const names = [pdb, ...further].map(({ name }) => name).join(', ');
    return object('MultiplePdbs', { pod: pod.name, pdbs: names });
  }
  const others = disrupted.filter(({ uid, namespace }) => uid !== pod.uid && namespace === pod.namespace);
  const taken = others.filter((other) => pdbsOf([pdb], other).length > 0).length;
  return allowsDisruption(pdb, pod, taken) ? undefined : object('BlockedByPdb', { pdb: pdb.name });
}

/**
 * An unready pod may go where the budget is met without it, or always where `unhealthyPodEvictionPolicy` says so, which
 * is no matter of status. Unlike the API server we believe neither figure of a status that lags behind.
 * @param taken disruptions that the status does not tell of yet.
 */
function allowsDisruption(pdb: PdbRecord, pod: PodRecord, taken: number): boolean {
  if (!pod.ready && pdb.alwaysAllowUnhealthy) return true;
  if (!pdb.observed) return false;
  const { currentHealthy, desiredHealthy, disruptionsAllowed } = pdb;
  if (!pod.ready && desiredHealthy > 0 && currentHealthy - taken >= desiredHealthy) return true;
  return disruptionsAllowed - taken > 0;
}

/** The budgets that select the pod. An unreadable selector counts as selecting it: better one block too many. */
export function pdbsOf(pdbs: readonly PdbRecord[], pod: PodRecord): readonly PdbRecord[] {
  if (pdbs.length === 0) return pdbs;
  const labels = labelsOf(pod);
  return pdbs.filter((pdb) => {
    try {
      return compileLabelSelector(pdb.selector)(labels);
    } catch (error) {
      if (error instanceof InvalidValueError) return true;
      throw error;
    }
  });
}

/** The labels of the template and those a StatefulSet gives each pod. */
function labelsOf(pod: PodRecord): Labels {
  if (pod.owner?.kind !== 'StatefulSet') return pod.template.labels;
  const ordinal = ordinalOf(pod.name, pod.owner.name);
  return {
    ...pod.template.labels,
    'statefulset.kubernetes.io/pod-name': pod.name,
    ...(ordinal === undefined ? {} : { 'apps.kubernetes.io/pod-index': String(ordinal) }),
  };
}
