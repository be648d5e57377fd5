/** The placement policy in force for one workload: its own annotations, else its namespace's, else the configuration, key by key. */

import { compileLabelSelector } from '../../api/label-selector.ts';
import { InvalidValueError } from '../../lib/errors.ts';
import { type Reason, reason } from '../../lib/reasons.ts';
import { type DisruptionWindow, parseWindow } from '../../lib/schedule.ts';
import type { ClusterView } from '../../model/cluster-view.ts';
import type { PlacementSettings } from '../../model/placement-settings.ts';
import type { Labels, WorkloadRecord } from '../../model/records.ts';
import { parseMinOnDemand, parseSpotPercentage } from './policy-values.ts';
import type { SlotRule } from './slots.ts';

/** Where a value comes from. */
export type PolicySource = 'workload' | 'namespace' | 'config';

export interface PolicySources {
  readonly spotPercentage: PolicySource;
  readonly minOnDemand: PolicySource;
  readonly window: PolicySource;
}

export interface ManagedPolicy {
  readonly state: 'managed';
  readonly rule: SlotRule;
  /** When pods may be moved; undefined is always. */
  readonly window: DisruptionWindow | undefined;
  readonly sources: PolicySources;
}

/** A value that does not follow its grammar. The workload is left alone until it is corrected. */
export interface PolicyProblem {
  readonly source: PolicySource;
  readonly key: string;
  readonly value: string;
  readonly accepted: string;
}

export type PlacementPolicy =
  | ManagedPolicy
  | { readonly state: 'unmanaged'; readonly reason: Reason<'NotEnabled'> }
  /** `problems` holds every one of them, at least one; `reason` is about the first. */
  | {
      readonly state: 'invalid';
      readonly problems: readonly PolicyProblem[];
      readonly reason: Reason<'InvalidConfiguration'>;
    };

export type PolicyReader = (view: ClusterView, workload: WorkloadRecord) => PlacementPolicy;

const SPOT_PERCENTAGE = 'spotalis.io/spot-percentage';
const MIN_ON_DEMAND = 'spotalis.io/min-on-demand';
const SCHEDULE = 'spotalis.io/disruption-schedule';
const DURATION = 'spotalis.io/disruption-duration';
/** Windows are shared by many workloads; beyond this many different ones the memory of them starts anew. */
const MAX_REMEMBERED_WINDOWS = 1000;

/** @throws InvalidValueError when `settings.namespaceSelector` is not a valid selector. */
export function createPolicyReader(settings: PlacementSettings): PolicyReader {
  const { namespaceSelector } = settings;
  const selectsNamespace = namespaceSelector === undefined ? () => true : compileLabelSelector(namespaceSelector);
  const readWindow = createWindowReader();

  return (view, workload) => {
    const namespace = view.namespace(workload.namespace);
    if (namespace === undefined || !namespace.enabled || !selectsNamespace(namespace.labels)) {
      return { state: 'unmanaged', reason: reason('NotEnabled', { where: 'namespace' }) };
    }
    if (!workload.enabled) return { state: 'unmanaged', reason: reason('NotEnabled', { where: 'workload' }) };

    const problems: PolicyProblem[] = [];
    const levels: Levels = [
      ['workload', workload.annotations],
      ['namespace', namespace.annotations],
    ];
    const spot = pick(levels, SPOT_PERCENTAGE, String(settings.defaults.spotPercentage));
    const floor = pick(levels, MIN_ON_DEMAND, settings.defaults.minOnDemand);
    const spotPercentage = read(spot, parseSpotPercentage, problems);
    const minOnDemand = read(floor, parseMinOnDemand, problems);
    const window = readWindow(pickWindow(levels, settings), problems);
    const [first] = problems;
    if (first !== undefined || spotPercentage === undefined || minOnDemand === undefined) {
      return { state: 'invalid', problems, reason: describeProblem(first) };
    }
    return {
      state: 'managed',
      rule: { spotPercentage, minOnDemand, rounding: settings.rounding, basis: settings.basis },
      window: window.window,
      sources: { spotPercentage: spot.source, minOnDemand: floor.source, window: window.source },
    };
  };
}

type Levels = readonly (readonly [PolicySource, Labels])[];

interface Picked {
  readonly source: PolicySource;
  readonly key: string;
  readonly value: string;
}

function pick(levels: Levels, key: string, fallback: string): Picked {
  for (const [source, annotations] of levels) {
    const value = annotations[key];
    if (value !== undefined) return { source, key, value };
  }
  return { source: 'config', key, value: fallback };
}

function read<T>(picked: Picked, parse: (text: string) => T, problems: PolicyProblem[]): T | undefined {
  try {
    return parse(picked.value);
  } catch (error) {
    if (!(error instanceof InvalidValueError)) throw error;
    problems.push({ ...picked, accepted: error.accepted });
    return undefined;
  }
}

interface PickedWindow {
  readonly source: PolicySource;
  readonly schedule: string;
  readonly duration: string;
}

/** The pair counts as one key: a level that sets either half is the one that counts. An empty text is as good as none. */
function pickWindow(levels: Levels, settings: PlacementSettings): PickedWindow {
  for (const [source, annotations] of levels) {
    const schedule = annotations[SCHEDULE] ?? '';
    const duration = annotations[DURATION] ?? '';
    if (schedule !== '' || duration !== '') return { source, schedule, duration };
  }
  return { source: 'config', schedule: settings.window?.schedule ?? '', duration: settings.window?.duration ?? '' };
}

interface ReadWindow {
  readonly source: PolicySource;
  readonly window: DisruptionWindow | undefined;
}

function createWindowReader(): (picked: PickedWindow, problems: PolicyProblem[]) => ReadWindow {
  const remembered = new Map<string, ReturnType<typeof parseWindow>>();
  return ({ source, schedule, duration }, problems) => {
    if (schedule === '' && duration === '') return { source, window: undefined };
    if (schedule === '' || duration === '') {
      const [missing, given] = schedule === '' ? [SCHEDULE, DURATION] : [DURATION, SCHEDULE];
      problems.push({ source, key: missing, value: '', accepted: `a value, as ${given} is set: both or neither` });
      return { source, window: undefined };
    }
    const text = `${schedule}\n${duration}`;
    let result = remembered.get(text);
    if (result === undefined) {
      if (remembered.size >= MAX_REMEMBERED_WINDOWS) remembered.clear();
      result = parseWindow(schedule, duration);
      remembered.set(text, result);
    }
    if (result.ok) return { source, window: result.window };
    for (const { part, value, accepted } of result.problems) {
      problems.push({ source, key: part === 'schedule' ? SCHEDULE : DURATION, value, accepted });
    }
    return { source, window: undefined };
  };
}

function describeProblem(problem: PolicyProblem | undefined): Reason<'InvalidConfiguration'> {
  const { source, key, value, accepted } = problem ?? { source: 'config', key: '', value: '', accepted: '' };
  const where = source === 'config' ? 'configuration' : `${source} annotation`;
  return reason('InvalidConfiguration', { where, key, value: JSON.stringify(value), accepted });
}
