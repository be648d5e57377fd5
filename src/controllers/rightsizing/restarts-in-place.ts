/**
 * Resizes that restart containers: each takes a place of the budget of all disruptions, from before it is asked for
 * until it is over.
 */
import type { ResizeDecision } from '../../decide/size-decision.ts';
import type { Clock } from '../../lib/clock.ts';
import { sizesInForce } from '../../model/granted-size.ts';
import { effectiveChanges } from '../../model/pod-size.ts';
import { restartedContainer } from '../../model/restart-on-resize.ts';
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import type { SizedPod, SizingView } from '../../model/sizing-view.ts';
import type { Disruptions } from '../disruptions.ts';

/** Keeps which pods hold a place; a pod holds one at most. */
export interface RestartsInPlace {
  /** It restarts a container, so that {@link begin} takes a place. */
  takesPlace(decision: ResizeDecision): boolean;
  /**
   * Call before the patch is sent. Takes no place for what restarts nothing, and for what takes back a resize that was
   * not granted.
   */
  begin(decision: ResizeDecision): void;
  /**
   * Call for a resize that is in the pod's spec already, asked for by a predecessor.
   * @returns whether it took a place.
   */
  adopt(decision: ResizeDecision): boolean;
  /** @param wasDone the container may have restarted: the workload's cooldown begins. */
  end(podUid: string, wasDone: boolean): void;
}

type SizesOf = (sizing: SizedPod['sizing']) => readonly ContainerSpecRecord[];

export interface RestartsInPlaceOptions {
  readonly view: Pick<SizingView, 'pod'>;
  readonly disruptions: Pick<Disruptions, 'history' | 'inFlight'>;
  readonly clock: Clock;
}

export function createRestartsInPlace({ view, disruptions, clock }: RestartsInPlaceOptions): RestartsInPlace {
  const workloadOfPod = new Map<string, string>();

  /**
   * The pod, where the resize restarts a container of it.
   * @param sizesOf what the pod has before the change, so that only what really changes counts.
   */
  const restarted = (
    { pod, workloadUid, changes, isWithdrawal }: ResizeDecision,
    sizesOf: SizesOf,
  ): SizedPod | undefined => {
    const found = view.pod(pod.namespace, pod.name);
    if (workloadUid === undefined || found === undefined || isWithdrawal === true) return undefined;
    const before = sizesOf(found.sizing);
    return restartedContainer(before, effectiveChanges(before, changes)) === undefined ? undefined : found;
  };
  const take = (decision: ResizeDecision, sizesOf: SizesOf): boolean => {
    const { pod, workloadUid } = decision;
    const found = restarted(decision, sizesOf);
    if (workloadUid === undefined || found === undefined) return false;
    workloadOfPod.set(pod.uid, workloadUid);
    // A container that is restarted is given the time that the pod has for its end.
    const graceMillis = found.pod.template.terminationGraceSeconds * 1000;
    disruptions.inFlight.add({ workloadUid, podUid: pod.uid, since: clock.now(), graceMillis });
    return true;
  };
  const inSpec: SizesOf = ({ containers }) => containers;

  return {
    takesPlace: (decision) => restarted(decision, inSpec) !== undefined,
    begin: (decision) => void take(decision, inSpec),
    // Its spec says what was asked for; only what is in force tells what is still to change.
    adopt: (decision) => take(decision, sizesInForce),
    end(podUid, wasDone) {
      const workloadUid = workloadOfPod.get(podUid);
      if (workloadUid === undefined) return;
      workloadOfPod.delete(podUid);
      const { inFlight, history } = disruptions;
      inFlight.remove(podUid);
      if (wasDone) history.recordDisruption(workloadUid, clock.now());
    },
  };
}
