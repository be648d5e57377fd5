/** The settings of one workload, read from its annotations, those of its namespace, and the configuration, in that order, key by key. */
import { InvalidValueError } from '../lib/errors.ts';
import { type DisruptionWindow, parseWindow, type WindowResult } from '../lib/schedule.ts';
import type { Percent } from '../lib/units.ts';
import { placementKeys } from './annotations.ts';
import { type MinOnDemand, parseMinOnDemand, parseSpotPercentage } from './annotations-values.ts';
import type { Labels } from './label-selector.ts';

/** Where a value comes from. */
type SettingSource = 'workload' | 'namespace' | 'config';

/** What holds for a workload, each value with where it was found. */
export interface WorkloadSettings {
  readonly spotPercentage: Percent;
  readonly minOnDemand: MinOnDemand;
  /** When pods may be moved; undefined is always. */
  readonly window: DisruptionWindow | undefined;
  readonly sources: Readonly<Record<'spotPercentage' | 'minOnDemand' | 'window', SettingSource>>;
}

/** When a workload may be disrupted; undefined is always. */
export type WindowSetting =
  | { readonly ok: true; readonly window: DisruptionWindow | undefined }
  /** At least one. */
  | { readonly ok: false; readonly problems: readonly SettingProblem[] };

/** A value that does not follow its grammar. */
export interface SettingProblem {
  readonly key: string;
  readonly value: string;
  readonly where: SettingSource;
  readonly accepted: string;
}

export type WorkloadSettingsResult =
  | { readonly ok: true; readonly settings: WorkloadSettings }
  /** Every problem, at least one. */
  | { readonly ok: false; readonly problems: readonly SettingProblem[] };

/** The configuration's defaults, as texts of the same grammar. */
export interface SettingDefaults {
  readonly spotPercentage: string;
  readonly minOnDemand: string;
  readonly schedule: string;
  readonly duration: string;
}

export interface SettingTexts {
  readonly workload: Labels | undefined;
  readonly namespace: Labels | undefined;
  readonly defaults: SettingDefaults;
}

/**
 * Reads the settings in force. An invalid value never falls through to the next level: it is a problem, and with any problem there are
 * no settings at all, so the workload is left alone until it is corrected.
 * @param readWindow parses windows; pass a remembering one (`createWindowParser`) where many workloads are read.
 */
export function parseWorkloadSettings(
  texts: SettingTexts,
  readWindow: (schedule: string, duration: string) => WindowResult = parseWindow,
): WorkloadSettingsResult {
  const problems: SettingProblem[] = [];
  const { defaults } = texts;
  const spot = pick(texts, placementKeys.spotPercentage, defaults.spotPercentage);
  const floor = pick(texts, placementKeys.minOnDemand, defaults.minOnDemand);
  const pair = pickWindow(texts);
  const spotPercentage = read(spot, parseSpotPercentage, problems);
  const minOnDemand = read(floor, parseMinOnDemand, problems);
  const window = readPair(pair, readWindow, problems);
  if (problems.length > 0 || spotPercentage === undefined || minOnDemand === undefined) return { ok: false, problems };
  const sources = { spotPercentage: spot.where, minOnDemand: floor.where, window: pair.where };
  return { ok: true, settings: { spotPercentage, minOnDemand, window, sources } };
}

/** The window alone: it holds for every engine, also where the other settings are not asked for, or cannot be read. */
export function parseWindowSetting(
  texts: SettingTexts,
  readWindow: (schedule: string, duration: string) => WindowResult = parseWindow,
): WindowSetting {
  const problems: SettingProblem[] = [];
  const window = readPair(pickWindow(texts), readWindow, problems);
  return problems.length > 0 ? { ok: false, problems } : { ok: true, window };
}

type Picked = Pick<SettingProblem, 'key' | 'value' | 'where'>;

function pick({ workload, namespace }: SettingTexts, key: string, fallback: string): Picked {
  if (workload?.[key] !== undefined) return { key, value: workload[key], where: 'workload' };
  if (namespace?.[key] !== undefined) return { key, value: namespace[key], where: 'namespace' };
  return { key, value: fallback, where: 'config' };
}

function read<T>(picked: Picked, parse: (text: string) => T, problems: SettingProblem[]): T | undefined {
  try {
    return parse(picked.value);
  } catch (error) {
    if (!(error instanceof InvalidValueError)) throw error;
    problems.push({ ...picked, accepted: error.accepted });
    return undefined;
  }
}

interface PickedWindow {
  readonly schedule: string;
  readonly duration: string;
  readonly where: SettingSource;
}

/** The pair counts as one key: the level that sets either half is the one that counts. Empty text is as good as none. */
function pickWindow({ workload, namespace, defaults }: SettingTexts): PickedWindow {
  const levels = [
    ['workload', workload],
    ['namespace', namespace],
  ] as const;
  for (const [where, annotations] of levels) {
    const schedule = annotations?.[placementKeys.disruptionSchedule] ?? '';
    const duration = annotations?.[placementKeys.disruptionDuration] ?? '';
    if (schedule !== '' || duration !== '') return { schedule, duration, where };
  }
  return { schedule: defaults.schedule, duration: defaults.duration, where: 'config' };
}

function readPair(
  { schedule, duration, where }: PickedWindow,
  readWindow: (schedule: string, duration: string) => WindowResult,
  problems: SettingProblem[],
): DisruptionWindow | undefined {
  if (schedule === '' && duration === '') return undefined;
  const { disruptionSchedule, disruptionDuration } = placementKeys;
  if (schedule === '' || duration === '') {
    const [key, other] =
      schedule === '' ? [disruptionSchedule, disruptionDuration] : [disruptionDuration, disruptionSchedule];
    problems.push({
      key,
      value: '',
      where,
      accepted: `a value, because ${other} is set: both must be specified together`,
    });
    return undefined;
  }
  const result = readWindow(schedule, duration);
  if (result.ok) return result.window;
  for (const { part, value, accepted } of result.problems) {
    problems.push({ key: part === 'schedule' ? disruptionSchedule : disruptionDuration, value, where, accepted });
  }
  return undefined;
}
