/**
 * The bigger pod has room: in its namespace's bounds and quota, and on its node at every instant until the change is
 * done.
 */

import { type AwaitedIn, awaitedIn, roomKept } from '../../../model/awaited-pods.ts';
import { newestLive } from '../../../model/newest-pod.ts';
import { hasEnded } from '../../../model/owners.ts';
import { applyChanges, heldRequests, raisesMemory, sizeKeys, sizeOfContainer } from '../../../model/pod-size.ts';
import { unmetDemand } from '../../../model/quota-demands.ts';
import { isBeingKilled } from '../../../model/recent-kill.ts';
import type { ComputeResources } from '../../../model/records.ts';
import { declaresExclusiveCpuResize } from '../../../model/resize-support.ts';
import {
  addUse,
  amountText,
  limitRangeProblem,
  noUse,
  type QuotaUse,
  quotaGrowth,
  quotaProblem,
  withLimitDefaults,
} from '../../../model/size-bounds.ts';
import type { ContainerSpecRecord } from '../../../model/sizing-records.ts';
import type { SizedPod } from '../../../model/sizing-view.ts';
import { object } from '../../objection.ts';
import { bornContainers } from '../born-containers.ts';
import {
  type EvictToResizeSubject,
  type InFlightResize,
  namespaceOf,
  podRule,
  type ResizeSubject,
  resizeRule,
  type SizeGuardContext,
  sizeRule,
  turnsBack,
} from '../context.ts';

/** For new pods, too: a template that the LimitRange refuses would make a rollout without pods (rightsizing bug 22). */
export const withinLimitRange = sizeRule(
  'within-limit-range',
  'The API server checks the whole pod, also what is not changed; asking first says which bound it is.',
  (subject, context) => {
    const ranges = context.view.limitRanges(namespaceOf(subject));
    const problem = ranges.length === 0 ? undefined : limitRangeProblem(ranges, bornContainers(subject, context));
    return problem === undefined ? undefined : object('LimitRangeRefuses', { ...problem });
  },
);

/** Also for what is taken or put back: it would be refused like the rest. */
export const completeForQuota = sizeRule(
  'complete-for-quota',
  'A quota wants every container to say what it counts: a pod from before it is refused any resize, and of a template that does not say it no pod is made, whatever is evicted or rolled out for it.',
  (subject, context) => {
    const quotas = context.view.quotas(namespaceOf(subject));
    if (quotas.length === 0 || turnsBack(subject)) return undefined;
    // Quotas tell pods apart: that of a template is as the newest that was made of it.
    const like = subject.kind === 'retemplate' ? newestLive(context.view.podsOf(subject.workload)) : subject.pod;
    // What the pod as a whole asks for speaks for its containers (KEP-2837).
    if (like?.sizing.hasPodLevelResources === true) return undefined;
    const containers =
      subject.kind === 'evict-to-resize' ? replacementOf(subject, context) : bornContainers(subject, context);
    const unmet = like && unmetDemand(quotas, like.sizing, containers);
    return unmet === undefined ? undefined : object('QuotaWantsAmounts', { ...unmet });
  },
);

/** It has what the template and LimitRanges say now, whatever they said when the pod was made. */
function replacementOf(
  { workload, after }: EvictToResizeSubject,
  { view }: SizeGuardContext,
): readonly ContainerSpecRecord[] {
  const sized = after.map((container): ContainerSpecRecord => {
    const { name, size } = container;
    return { ...container, size: { ...sizeOfContainer(workload.containers, name), ...size } };
  });
  return withLimitDefaults(view.limitRanges(workload.namespace), sized);
}

/**
 * The quota is charged at the patch with the largest of spec, allocated and actual, and credited for a decrease only
 * when that is in force: so decreases count as nothing here (KEP-1287).
 */
export const withinQuota = podRule(
  'within-quota',
  'A quota that is full refuses with 403; several increases at once would race for what is left, and with pods that are yet to be made. Of a pod that is evicted the larger replacement would not be made.',
  (subject, context) => {
    const { decision, pod, before, after } = subject;
    const { view, resizes } = context;
    const quotas = view.quotas(pod.pod.namespace);
    if (quotas.length === 0) return undefined;
    const more = quotaGrowth(before, after, pod.sizing.statuses);
    const others = resizes.filter(
      ({ pod: { namespace, uid } }) => namespace === pod.pod.namespace && uid !== decision.pod.uid,
    );
    const underWay = others.reduce<QuotaUse>((sum, resize) => addUse(sum, unseenGrowth(resize, view.pod)), noUse);
    const problem = quotaProblem(quotas, pod.sizing, more, underWay);
    if (problem !== undefined) return object('QuotaRefuses', { ...problem });
    const isBounded = quotas.some(({ hard }) => sizeKeys.some((key) => hard[key] !== undefined && more[key] > 0));
    if (!isBounded || isPressing(subject, context)) return undefined;
    const { awaited, returning } = awaitedBeside(pod.pod.namespace, context);
    for (const quota of awaited.length === 0 ? [] : quotas) {
      const taken = addUse(underWay, roomKept(quota, awaited, underWay, returning));
      const short = quotaProblem([quota], pod.sizing, more, taken);
      if (short !== undefined) return object('QuotaKept', { ...short });
    }
    return undefined;
  },
);

/** Who is killed for want of memory, or was harmed by less, needs it more than who is not there yet. */
function isPressing(
  { decision, pod: { sizing }, before, after }: ResizeSubject | EvictToResizeSubject,
  { now }: SizeGuardContext,
): boolean {
  return decision.isRestore === true || (isBeingKilled(sizing, now) && raisesMemory(before, after));
}

function awaitedBeside(namespace: string, { view, resizes, evictions, now }: SizeGuardContext): AwaitedIn {
  // A restart in place takes a place of the same budget, and its pod stays.
  const staying = new Set(resizes.map(({ pod }) => pod.uid));
  const leaving = evictions.filter(({ podUid }) => !staying.has(podUid));
  const going = new Map(leaving.map(({ podUid, workloadUid }) => [podUid, workloadUid]));
  return awaitedIn(view, namespace, going, now);
}

/** What a resize under way adds that the spec of its pod does not show yet: the quota may not count it either. */
function unseenGrowth(
  { pod, changes }: InFlightResize,
  find: (namespace: string, name: string) => SizedPod | undefined,
): QuotaUse {
  const known = find(pod.namespace, pod.name);
  if (known === undefined || known.pod.uid !== pod.uid) return noUse;
  const { containers, statuses } = known.sizing;
  return quotaGrowth(containers, applyChanges(containers, changes), statuses);
}

/**
 * Rightsizing bug 11. For an amount, only asking for as much or more in everything repeats it; for a static CPU or
 * Memory Manager policy any amount of the resource does, unless the node says that it can (KEP-5554).
 */
export const notInfeasibleBefore = resizeRule(
  'not-infeasible-before',
  'What a node can never give is not asked of it again; only less of it, or another node.',
  (subject, { history }) => {
    const { decision, pod, node } = subject;
    const nodeName = pod.pod.nodeName ?? '';
    const known = history.infeasible(pod.pod.uid, nodeName);
    if (known === undefined || decision.isWithdrawal === true || decision.isRestore === true) return undefined;
    const isPolicy = /Manager policy/.test(known.detail);
    const repeats = isPolicy
      ? !declaresExclusiveCpuResize(node) && touchesSameResource(subject, known.detail)
      : known.changes.every(({ container, to }) => {
          const size = sizeOfContainer(subject.after, container) ?? {};
          return sizeKeys.every((key) => to[key] === undefined || (size[key] ?? 0) >= to[key]);
        });
    return repeats
      ? object('InfeasibleBefore', { node: nodeName, pod: pod.pod.name, detail: known.detail })
      : undefined;
  },
);

function touchesSameResource({ changes }: ResizeSubject, detail: string): boolean {
  return changes.some(({ to }) =>
    /Memory Manager/.test(detail)
      ? to.memoryRequest !== undefined || to.memoryLimit !== undefined
      : to.cpuRequest !== undefined || to.cpuLimit !== undefined,
  );
}

/**
 * Of two kinds of no: `WaitsForDecrease` where decreases under way will make room, so that downs come before ups and
 * the sum stays within allocatable at every instant (P16); `NodeHasNoRoom` where waiting does not help (rightsizing bug
 * 28: a Deferred resize holds what it asks for, kubernetes#135107).
 */
export const fitsNode = resizeRule(
  'fits-node',
  'An increase counts on its node from the moment it is asked, a decrease until it is done; what does not fit would wait as Deferred, and hold room that nobody gets.',
  ({ decision, pod, node, changes }, context) => {
    if (node === undefined) return undefined;
    const asked = heldRequests(pod, changes);
    const before = heldRequests(pod);
    const { held, releasing } = nodeUse(node.name, context, decision.pod.uid);
    for (const [resource, key] of [
      ['cpu', 'cpuMillis'],
      ['memory', 'memoryBytes'],
    ] as const) {
      const more = asked[key] - before[key];
      const free = node.allocatable[key] - held[key] - before[key];
      if (more <= 0 || more <= free) continue;
      return more <= free + releasing[key]
        ? object('WaitsForDecrease', { node: node.name })
        : object('NodeHasNoRoom', {
            node: node.name,
            resource,
            asked: amountText(resource, more),
            free: amountText(resource, Math.max(0, free)),
          });
    }
    return undefined;
  },
);

/** What the other pods of a node hold, and what of it comes free when the decreases under way are done. */
function nodeUse(
  nodeName: string,
  { view, resizes }: SizeGuardContext,
  exceptUid: string,
): { readonly held: ComputeResources; readonly releasing: ComputeResources } {
  const held = { cpuMillis: 0, memoryBytes: 0 };
  const releasing = { cpuMillis: 0, memoryBytes: 0 };
  for (const each of view.podsOnNode(nodeName)) {
    if (each.pod.uid === exceptUid || hasEnded(each.pod)) continue;
    const changes = resizes.find(({ pod }) => pod.uid === each.pod.uid)?.changes ?? [];
    const now = heldRequests(each, changes);
    const { sizing } = each;
    const spec = applyChanges(sizing.containers, changes);
    held.cpuMillis += now.cpuMillis;
    held.memoryBytes += now.memoryBytes;
    for (const { name, size } of spec) {
      const status = sizing.statuses.find((status) => status.name === name);
      const over = (key: 'cpuRequest' | 'memoryRequest'): number =>
        Math.max(0, Math.max(status?.allocated?.[key] ?? 0, status?.actual?.[key] ?? 0) - (size[key] ?? 0));
      releasing.cpuMillis += over('cpuRequest');
      releasing.memoryBytes += over('memoryRequest');
    }
  }
  return { held, releasing };
}
