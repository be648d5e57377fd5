/** The placement policy in force for one workload, and whether it has one at all. */
import {
  parseWindowSetting,
  parseWorkloadSettings,
  type SettingDefaults,
  type SettingProblem,
  type WorkloadSettings,
} from '../../api/annotations-settings.ts';
import { compileLabelSelector } from '../../api/label-selector.ts';
import { type Reason, reason } from '../../lib/reasons.ts';
import { createWindowParser, type DisruptionWindow } from '../../lib/schedule.ts';
import type { ClusterView } from '../../model/cluster-view.ts';
import type { PlacementSettings } from '../../model/placement-settings.ts';
import type { WorkloadRecord } from '../../model/records.ts';
import type { SlotRule } from './slots.ts';

/** Both labels are set and every value could be read. */
export interface ManagedPolicy {
  readonly state: 'managed';
  readonly rule: SlotRule;
  /** When pods may be moved; undefined is always. */
  readonly window: DisruptionWindow | undefined;
  /** Which of workload, namespace and configuration each value comes from, key by key. */
  readonly sources: WorkloadSettings['sources'];
}

export type PlacementPolicy =
  | ManagedPolicy
  | { readonly state: 'unmanaged'; readonly reason: Reason<'NotEnabled'> }
  /**
   * The workload is left alone until its values are corrected. `problems` holds every one; `reason` is about the first.
   */
  | {
      readonly state: 'invalid';
      readonly problems: readonly SettingProblem[];
      readonly reason: Reason<'InvalidConfiguration'>;
    };

export type PolicyReader = (view: ClusterView, workload: WorkloadRecord) => PlacementPolicy;

/** When a workload may be disrupted, by whichever engine and whether or not placement manages it. */
export interface DisruptionTimes {
  /** Undefined is always. */
  readonly window: DisruptionWindow | undefined;
  /** What somebody wrote cannot be read: never, until it is corrected. */
  readonly unreadable?: Reason<'InvalidConfiguration'> | undefined;
}

/** @param workload undefined for one of which nothing is known: what the configuration says. */
export type TimesReader = (
  view: Pick<ClusterView, 'namespace'>,
  workload: Pick<WorkloadRecord, 'namespace' | 'annotations'> | undefined,
) => DisruptionTimes;

/**
 * Compiles the operator's settings once. One reader for webhook, controllers and CLI: where the webhook and the
 * controllers asked for different labels, pods were evicted and came back unsteered for ever (Spotalis B3, B4). Managed
 * is what carries the label on the workload and on its namespace, where the namespace is also among those the
 * configuration selects.
 * @throws InvalidValueError when `settings.namespaceSelector` is not a valid selector.
 */
export function createPolicyReader(settings: PlacementSettings): PolicyReader {
  const { namespaceSelector } = settings;
  const selectsNamespace = namespaceSelector === undefined ? () => true : compileLabelSelector(namespaceSelector);
  const readWindow = createWindowParser();
  const defaults = defaultsOf(settings);

  return (view, workload) => {
    const namespace = view.namespace(workload.namespace);
    if (namespace === undefined || !namespace.enabled || !selectsNamespace(namespace.labels)) {
      return { state: 'unmanaged', reason: reason('NotEnabled', { where: 'namespace' }) };
    }
    if (!workload.enabled) return { state: 'unmanaged', reason: reason('NotEnabled', { where: 'workload' }) };
    const texts = { workload: workload.annotations, namespace: namespace.annotations, defaults };
    const result = parseWorkloadSettings(texts, readWindow);
    if (!result.ok) return { state: 'invalid', problems: result.problems, reason: describe(result.problems) };
    const { spotPercentage, minOnDemand, window, sources } = result.settings;
    const rule = { spotPercentage, minOnDemand, rounding: settings.rounding, basis: settings.basis };
    return { state: 'managed', rule, window, sources };
  };
}

/** Compiles the operator's settings once. */
export function createTimesReader(settings: PlacementSettings): TimesReader {
  const readWindow = createWindowParser();
  const defaults = defaultsOf(settings);
  return (view, workload) => {
    const namespace = workload && view.namespace(workload.namespace)?.annotations;
    const result = parseWindowSetting({ workload: workload?.annotations, namespace, defaults }, readWindow);
    return result.ok ? { window: result.window } : { window: undefined, unreadable: describe(result.problems) };
  };
}

function defaultsOf({ defaults, window }: PlacementSettings): SettingDefaults {
  return {
    spotPercentage: String(defaults.spotPercentage),
    minOnDemand: defaults.minOnDemand,
    schedule: window?.schedule ?? '',
    duration: window?.duration ?? '',
  };
}

function describe(problems: readonly SettingProblem[]): Reason<'InvalidConfiguration'> {
  const [first] = problems;
  const { where, key, value, accepted } = first ?? { where: 'config', key: '', value: '', accepted: '' };
  const place = where === 'config' ? 'configuration' : `${where} annotation`;
  return reason('InvalidConfiguration', { where: place, key, value: JSON.stringify(value), accepted });
}
