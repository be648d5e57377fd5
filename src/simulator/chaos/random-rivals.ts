/** What is drawn of other writers, of an autoscaler that follows what resizes do to its target, and of an API server whose watches and answers are lost all at once. */
import { treeAt } from '../policy-book.ts';
import type { ScenarioEventInput } from '../scenario/events.ts';
import type { ScenarioInput } from '../scenario/schema.ts';
import type { Draw } from './draw.ts';
import type { Engines, WorkloadInput } from './random-sizing.ts';

/** @returns events that belong together. */
export function randomRivals(draw: Draw, minutes: number): ScenarioEventInput[] {
  // The last quarter is left to come to rest in.
  const last = Math.floor(minutes * 0.75);
  const begins = draw.between(2, last);
  const at = `${begins}m`;
  const briefly = `${draw.between(2, 90)}s`;
  const storm: ScenarioEventInput = { at, do: 'watch-storm', for: briefly };
  const restart: ScenarioEventInput = { at, do: 'restart-api', for: briefly };
  const rival: ScenarioEventInput = {
    at,
    do: 'rival',
    who: draw.pick(['resizer', 'applier', 'replacer']),
    for: `${draw.between(1, Math.max(1, last - begins))}m`,
  };
  return draw.pick([
    [rival],
    [rival],
    [storm],
    [restart],
    // One control plane is upgraded, replica by replica.
    [0, 1, 2].map((index): ScenarioEventInput => ({ ...restart, at: `${begins + 2 * index}m` })),
    [rival, storm],
  ]);
}

/** Who resizes pods, and who writes templates, beside an engine that does: early enough and long enough for both to meet. */
export function randomSizeRivals(
  draw: Draw,
  minutes: number,
  { rightsizing, allocation }: Engines,
): ScenarioEventInput[] {
  if (!(rightsizing || allocation) || !draw.chance(0.5)) return [];
  const last = Math.floor(minutes * 0.75);
  return Array.from({ length: draw.between(1, 3) }, (): ScenarioEventInput => {
    const begins = draw.between(2, Math.ceil(last / 2));
    const who = draw.pick(['resizer', 'resizer', 'applier', 'replacer'] as const);
    return { at: `${begins}m`, do: 'rival', who, for: `${draw.between(5, last - begins)}m` };
  });
}

/** Replicas of a workload that is scaled by its use mostly share the work: what each uses, and asks for, falls with their number. */
export function randomSharedLoad(
  draw: Draw,
  workloads: readonly WorkloadInput[],
  objects: NonNullable<ScenarioInput['objects']>,
): readonly WorkloadInput[] {
  const autoscaler = objects.find(({ kind }) => kind === 'HorizontalPodAutoscaler');
  const { name } = treeAt(autoscaler ?? {}, 'spec', 'scaleTargetRef');
  if (name === undefined || !draw.chance(0.7)) return workloads;
  const shared = draw.pick(['300m', '1', '2500m']);
  return workloads.map((workload) => {
    if (workload.name !== name || workload.use === undefined) return workload;
    const { memory } = workload.use;
    return { ...workload, use: { shared, ...(memory !== undefined && { memory }) } };
  });
}
