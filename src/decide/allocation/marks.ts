/** What people write on a pod about its CPU: labels and annotations `mbcas.io/...`, read leniently and never guessed at. */
import { tryParseMillicores } from '../../lib/quantity.ts';
import { shortened } from '../../lib/shortened.ts';
import type { Millicores } from '../../lib/units.ts';
import type { Labels } from '../../model/records.ts';

export type HpaMode = 'auto' | 'limits-only' | 'off' | 'ignore';

/** Label of pods and namespaces. */
export const MANAGED_LABEL = 'mbcas.io/managed';
/** Opted in, or out. */
export type Managed = 'true' | 'false';

export interface PodMarks {
  readonly managed: Managed | undefined;
  readonly minCpu: Millicores | undefined;
  readonly maxCpu: Millicores | undefined;
  /** Multiplies the weight; clamped to [1/64, 64]. */
  readonly weight: number | undefined;
  /** Replaces the factor of the PriorityClass. */
  readonly priorityMultiplier: number | undefined;
  readonly coalition: string | undefined;
  /** Guaranteed pods are managed only with `mbcas.io/skip-guaranteed: "false"`. */
  readonly managesGuaranteed: boolean;
  readonly isLatencySensitive: boolean;
  readonly isBatch: boolean;
  readonly hpaMode: HpaMode;
  readonly metric: { readonly name: string; readonly target: number; readonly isAuthoritative: boolean } | undefined;
  /** One sentence for each value that was not understood and is ignored. */
  readonly problems: readonly string[];
}

/** Names are keys, and are written into PodAllocations: an annotation may be a quarter of a megabyte. */
const LONGEST_NAME = 100;

const hpaModes: readonly HpaMode[] = ['auto', 'limits-only', 'off', 'ignore'];
/** `mbcas.io/priority-class`, which the public documents name. */
const classWeights = { critical: 1.5, normal: 1, low: 0.7 } as const;

/** The query of `mbcas.io/target-latency-ms`: agents know one of this name, and administrators may put another. */
export const LATENCY_METRIC = 'target-latency-ms';

/** Never throws: people may write anything, and what is not understood counts as not written. */
export function readMarks(marks: Labels): PodMarks {
  const problems: string[] = [];
  const reject = (key: string, accepted: string): undefined => {
    const value = shortened(marks[`mbcas.io/${key}`] ?? '', LONGEST_NAME);
    problems.push(`mbcas.io/${key}: "${value}" is not valid and ignored; accepted: ${accepted}`);
    return undefined;
  };
  const quantity = (key: string): Millicores | undefined => {
    const text = marks[`mbcas.io/${key}`];
    if (text === undefined) return undefined;
    const milli = milliOf(text);
    return milli === undefined ? reject(key, 'an amount of CPU above zero such as 250m') : milli;
  };
  const positive = (key: string): number | undefined => {
    const text = marks[`mbcas.io/${key}`];
    if (text === undefined) return undefined;
    const value = Number(text);
    return text.trim() !== '' && Number.isFinite(value) && value > 0 ? value : reject(key, 'a number above zero');
  };
  const oneOf =
    <Word extends string>(...accepted: readonly Word[]) =>
    (key: string): Word | undefined => {
      const text = marks[`mbcas.io/${key}`];
      if (text === undefined) return undefined;
      return accepted.find((each) => each === text) ?? reject(key, accepted.join(', '));
    };
  const flag = oneOf('true', 'false');
  const name = (key: string): string | undefined => {
    const text = marks[`mbcas.io/${key}`];
    const accepted = `a name of at most ${LONGEST_NAME} characters`;
    return text !== undefined && text.length > LONGEST_NAME ? reject(key, accepted) : text || undefined;
  };
  const metric = name('demand-metric');
  const target = positive('demand-target');
  const isAuthoritative = flag('demand-authoritative') === 'true';
  const hasMetric = marks['mbcas.io/demand-metric'] !== undefined;
  const hasTarget = marks['mbcas.io/demand-target'] !== undefined;
  if (hasMetric && !hasTarget) reject('demand-metric', 'a name, with mbcas.io/demand-target beside it');
  if (hasTarget && !hasMetric) reject('demand-target', 'a number, with mbcas.io/demand-metric beside it');
  const type = oneOf('latency', 'batch')('workload-type');
  const latencyTarget = positive('target-latency-ms');
  const className = oneOf('critical', 'normal', 'low')('priority-class');
  const weight = positive('weight');
  const mode = oneOf(...hpaModes)('hpa-mode') ?? 'auto';
  return {
    managed: flag('managed'),
    minCpu: quantity('min-cpu') ?? quantity('min-acceptable-cpu'),
    maxCpu: quantity('max-cpu'),
    weight: weight ?? (className && classWeights[className]),
    priorityMultiplier: positive('priority-multiplier'),
    coalition: name('coalition'),
    managesGuaranteed: flag('skip-guaranteed') === 'false',
    isLatencySensitive: type === 'latency' || latencyTarget !== undefined,
    isBatch: type === 'batch',
    hpaMode: flag('hpa-coordination') === 'false' ? 'ignore' : mode,
    metric:
      metric !== undefined && target !== undefined
        ? { name: metric, target, isAuthoritative }
        : latencyMetric(latencyTarget),
    problems,
  };
}

/** A latency says that more is needed, never that less would do. */
function latencyMetric(target: number | undefined): PodMarks['metric'] {
  return target === undefined ? undefined : { name: LATENCY_METRIC, target, isAuthoritative: false };
}

/** Of the labels of a pod or a namespace; undefined where they say neither `true` nor `false`. */
export function managedOf(labels: Labels | undefined): Managed | undefined {
  const value = labels?.[MANAGED_LABEL];
  return value === 'true' || value === 'false' ? value : undefined;
}

function milliOf(text: string): Millicores | undefined {
  const milli = tryParseMillicores(text);
  return milli !== undefined && milli > 0 && Number.isSafeInteger(milli) ? milli : undefined;
}
