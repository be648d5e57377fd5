/**
 * Gives a workload back: nobody sizes it any more, so no annotation of ours stays on it, and no field of its template
 * is ours. Its pods keep the sizes they have, and its template the values: taking them back would be a change of its
 * own.
 */
import type { HandBackTemplate } from '../../act/restore.ts';
import type { AnnotateWorkload } from '../../act/workload-annotations.ts';
import { isWrittenByOptipod } from '../../api/annotations-rightsizing.ts';
import { sizingKeys } from '../../api/annotations-sizing.ts';
import type { Logger } from '../../lib/log.ts';
import type { Millis } from '../../lib/units.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import type { SizedWorkload } from '../../model/sizing-records.ts';
import type { DisruptionTurns } from '../disruption-turns.ts';
import { noAnnotations } from './annotate.ts';
import type { RightsizingMemory } from './memory.ts';

export interface HandBack {
  /**
   * Harmless where nothing of ours is left. Does not reject for what the API answers: the next look tries again.
   * @returns after how long to look again, where what is on it may be of OptiPod, which runs.
   */
  giveBack(workload: SizedWorkload, signal: AbortSignal): Promise<Millis | undefined>;
  /** Something of ours is on it. */
  isNeeded(workload: SizedWorkload): boolean;
}

export interface HandBackOptions {
  readonly annotate: AnnotateWorkload;
  readonly template: HandBackTemplate;
  /** Nothing is written at all, as in a dry run: it is given back once that is over. */
  readonly isReadOnly: () => boolean;
  /** A pod of OptiPod runs in the cluster (adr/0035). */
  readonly isOptipodRunning: () => boolean;
  readonly memory: RightsizingMemory;
  readonly turns: Pick<DisruptionTurns, 'leave'>;
  readonly log: Logger;
}

/** OptiPod stops when somebody stops it. */
const OPTIPOD_MILLIS: Millis = 120_000;

export function createHandBack(options: HandBackOptions): HandBack {
  const { annotate, template, isReadOnly, isOptipodRunning, memory, turns, log } = options;
  const isTemplateOurs = ({ annotations }: SizedWorkload): boolean =>
    annotations[sizingKeys.originalResources] !== undefined;
  const isNeeded = (workload: SizedWorkload): boolean =>
    isTemplateOurs(workload) || Object.keys(noAnnotations(workload)).length > 0;
  /** Its policies may select what none selects here (adr/0015), and what is taken away it would write again. */
  const mayBeOptipods = (workload: SizedWorkload): boolean =>
    !isTemplateOurs(workload) && Object.keys(noAnnotations(workload)).every(isWrittenByOptipod) && isOptipodRunning();
  /** @returns whether nothing of ours is left on it. */
  const handBack = async (workload: SizedWorkload, signal: AbortSignal): Promise<boolean> => {
    if (isReadOnly()) return false;
    const given = isTemplateOurs(workload) ? await template(workload, signal) : undefined;
    if (given?.result === 'refused') {
      log.warn({ workload: workloadKey(workload), error: given.message }, 'A template could not be handed back');
    }
    const { result } = await annotate(workload, noAnnotations(workload), signal);
    return given?.result !== 'refused' && (result === 'written' || result === 'unchanged');
  };
  /**
   * A policy's pass and the workload's own look come to it in one moment, or before the view has heard of the other's
   * write: one state of it is given back once.
   */
  const given = new WeakMap<SizedWorkload, Promise<boolean>>();
  return {
    isNeeded,
    async giveBack(workload, signal) {
      memory.letGo(workload.uid);
      turns.leave('rightsizing', workloadKey(workload));
      if (!isNeeded(workload)) return undefined;
      if (mayBeOptipods(workload)) return OPTIPOD_MILLIS;
      const work = given.get(workload) ?? handBack(workload, signal);
      given.set(workload, work);
      if (!(await work)) given.delete(workload);
      return undefined;
    },
  };
}
