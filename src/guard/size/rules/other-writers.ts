/** Nobody else is at work on the same pod: an eviction, another resize, a VPA, another tool, the other engine. */
import { actingVpa } from '../../../model/acting-vpa.ts';
import { workloadKey } from '../../../model/cluster-view.ts';
import { otherResizer } from '../../../model/size-managers.ts';
import { object } from '../../objection.ts';
import { podRule, resizeRule, sizeRule, turnsBack } from '../context.ts';

export const writersKnown = sizeRule(
  'writers-known',
  'What may not be read is not known to be absent: where an autoscaler of sizes could be at work, nothing is changed beside it.',
  (_, { view }) => {
    const [what] = view.unreadable();
    return what === undefined ? undefined : object('RightMissing', { what });
  },
);

export const noVpa = sizeRule(
  'no-vpa',
  'Two writers of one size undo each other for ever. Only what was not granted is still taken back.',
  ({ decision, workload }, { view }) => {
    const isWithdrawal = decision.kind === 'resize' && decision.isWithdrawal === true;
    if (workload === undefined || isWithdrawal) return undefined;
    const vpa = actingVpa(view.vpas(workload.namespace), workload);
    return vpa === undefined ? undefined : object('VpaSizesWorkload', { vpa: vpa.name });
  },
);

export const noOtherResizer = podRule(
  'no-other-resizer',
  'Whoever owns the resources through pods/resize changed them after us; the pod is theirs until it is replaced. To evict it for that would be a fight without end.',
  ({ decision, pod: { pod, sizing } }) => {
    // What we put there ourselves is taken back whoever came later to another container.
    const other = otherResizer(sizing);
    const isWithdrawal = decision.kind === 'resize' && decision.isWithdrawal === true;
    return other === undefined || isWithdrawal ? undefined : object('OtherResizer', { manager: other, pod: pod.name });
  },
);

/** A rule between engines (DESIGN 1): memory stays rightsizing's, in the same decision or in one of its own. */
export const cpuOfOneEngine = resizeRule(
  'cpu-of-one-engine',
  'Where allocation shares out the CPU of a pod, the advice of rightsizing is its claim and not written.',
  ({ decision, pod, changes }, { isAllocated }) =>
    decision.engine === 'rightsizing' &&
    changes.some(({ to }) => to.cpuRequest !== undefined || to.cpuLimit !== undefined) &&
    isAllocated(pod)
      ? object('CpuIsAllocated', { pod: pod.pod.name })
      : undefined,
);

/**
 * The other half of the rule between engines: placement's `not-resizing` keeps it from evicting what is being resized.
 */
export const noEviction = sizeRule(
  'no-eviction',
  'A pod that is being moved is not resized: its replacement gets the right size.',
  (subject, { evictions }) => {
    const { decision } = subject;
    if (decision.kind !== 'resize') {
      const isMoving = evictions.some(
        ({ workloadUid, isRollout }) =>
          workloadUid === decision.workloadUid && !(turnsBack(subject) && isRollout === true),
      );
      return isMoving ? object('EvictionInFlight', { pod: `of ${workloadKey(decision.workload)}` }) : undefined;
    }
    const { name, uid } = decision.pod;
    return evictions.some(({ podUid }) => podUid === uid) ? object('EvictionInFlight', { pod: name }) : undefined;
  },
);

/** Quick A to B to A left pods half way between (kubernetes#125205). */
export const oneResizeAtATime = resizeRule(
  'one-resize-at-a-time',
  'The latest size wins, so a second resize would hide how the first one ended. Only taking it back may overtake it.',
  ({ decision, pod: { pod, sizing } }, { resizes }) => {
    if (decision.isWithdrawal === true) return undefined;
    const isAsked = resizes.some((each) => each.pod.uid === pod.uid);
    const { pending, inProgress } = sizing.resize;
    // Infeasible is for good on this node: another size may be asked for. Of what is deferred nothing is done yet: where
    // nobody follows it, as on an uninstall, it keeps no pod from what it had.
    const isPending = pending?.reason === 'Deferred' && decision.isRestore !== true;
    return isAsked || isPending || inProgress !== undefined ? object('ResizeInFlight', { pod: pod.name }) : undefined;
  },
);
