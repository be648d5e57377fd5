/** A pod template may be changed now: the kind is ours to write, new pods are allowed, and no rollout is under way. */
import { isManagedKind } from '../../../api/optimization-policy.ts';
import { workloadKey } from '../../../model/cluster-view.ts';
import { type SizeChange, sizeOfContainer } from '../../../model/pod-size.ts';
import { wasJustKilled } from '../../../model/recent-kill.ts';
import type { ContainerSpecRecord } from '../../../model/sizing-records.ts';
import { object } from '../../objection.ts';
import { namespaceOf, newPodsRule, sizeRule, turnsBack } from '../context.ts';

export const kindWritten = newPodsRule(
  'kind-written',
  'Jobs, ReplicaSets and kinds of other controllers are not ours to change.',
  ({ workload: { kind } }) => (isManagedKind(kind) ? undefined : object('KindAdvisedOnly', { kind })),
);

export const recreateAllowed = newPodsRule(
  'recreate-allowed',
  'A new template replaces every pod; the owner must have agreed to that.',
  (_, { policy }) => (policy.allowRecreate ? undefined : object('RecreateNotAllowed', {})),
);

export const newPodsCome = newPodsRule(
  'new-pods-come',
  'A template that reaches no pod would be called applied while nothing changed, and its rollout would hold a place of the budget for ever.',
  ({ decision, workload }) => {
    if (workload.keepsPods === 'Paused') return object('Paused', {});
    // Evictions bring new pods all the same.
    return workload.keepsPods === 'OnDelete' && decision.kind === 'retemplate'
      ? object('TemplateOnDelete', { workload: workloadKey(workload) })
      : undefined;
  },
);

export const notDeleting = sizeRule(
  'not-deleting',
  'A workload on its way out, alone or with its namespace, needs no better size; in a namespace that ends no pod can be made anew.',
  (subject, { view }) => {
    const isEnding = subject.workload?.deleting === true || view.namespace(namespaceOf(subject))?.terminating === true;
    return isEnding ? object('Deleting', {}) : undefined;
  },
);

export const noRollout = newPodsRule(
  'no-rollout',
  'One at a time: a second template would start a second rollout before the first has shown that it works. One of ours that did harm has shown that it does not, and is turned back. So has a pod that is killed for want of memory: whether that one may go to have more is left to the guard of evictions.',
  (subject, { now }) => {
    const { workload, before, changes } = subject;
    if (!workload.isRollingOut || turnsBack(subject)) return undefined;
    const isHelped =
      subject.kind === 'evict-to-resize' &&
      subject.pod.sizing.statuses.some(
        (status) => wasJustKilled(status, now) && hasMoreMemory(status.name, before, changes),
      );
    return isHelped ? undefined : object('TemplateRollout', { workload: workloadKey(workload) });
  },
);

function hasMoreMemory(
  container: string,
  before: readonly ContainerSpecRecord[],
  changes: readonly SizeChange[],
): boolean {
  const from = sizeOfContainer(before, container) ?? {};
  const to = changes.find((change) => change.container === container)?.to ?? {};
  return (
    (to.memoryRequest ?? 0) > (from.memoryRequest ?? 0) ||
    (to.memoryLimit ?? 0) > (from.memoryLimit ?? Number.POSITIVE_INFINITY)
  );
}
