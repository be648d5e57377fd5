/** What the API server would say about the pod's PodDisruptionBudgets, asked before rather than after. */
import { compileLabelSelector } from '../../api/label-selector.ts';
import { InvalidValueError } from '../../lib/errors.ts';
import { ordinalOf } from '../../model/owners.ts';
import type { Labels, PdbRecord, PodRecord } from '../../model/records.ts';
import type { Objection } from '../context.ts';
import { disruptionRule, object } from '../objection.ts';

/** Hazard H22, karpenter#2361: what cannot be evicted is skipped and told; it holds up no other workload. */
export const pdbAllows = disruptionRule(
  'pdb-allows',
  'The budget of the owners. Asking first keeps 429 answers, and the 500 for several budgets, out of the API server.',
  ({ pod }, { view }) => objectToPdbs(view.pdbs(pod.namespace), pod),
);

/**
 * Why the budgets do not let the pod go, by the rules of the eviction API (kubernetes
 * pkg/registry/core/pod/storage/eviction.go): for a pod that is still Pending no budget is looked for; of others one
 * budget at most may select the pod, as the API could not take from several at once.
 * @param pdbs of the pod's namespace, whether or not they select it.
 */
export function objectToPdbs(pdbs: readonly PdbRecord[], pod: PodRecord): Objection {
  if (pod.phase === 'Pending') return undefined;
  const [pdb, ...others] = pdbsOf(pdbs, pod);
  if (pdb === undefined) return undefined;
  if (others.length > 0) {
    const names = [pdb, ...others].map(({ name }) => name).join(', ');
    return object('MultiplePdbs', { pod: pod.name, pdbs: names });
  }
  return allowsDisruption(pdb, pod) ? undefined : object('BlockedByPdb', { pdb: pdb.name });
}

/**
 * An unready pod may go where the budget is met without it, or always where `unhealthyPodEvictionPolicy` says so.
 * Unlike the API server we believe neither figure of a status that lags behind.
 */
function allowsDisruption(pdb: PdbRecord, pod: PodRecord): boolean {
  if (!pdb.observed) return false;
  if (
    !pod.ready &&
    (pdb.alwaysAllowUnhealthy || (pdb.currentHealthy >= pdb.desiredHealthy && pdb.desiredHealthy > 0))
  ) {
    return true;
  }
  return pdb.disruptionsAllowed > 0;
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
