/** What is remembered of one container, as it is saved, exported and imported. */
import { isCount, isFiniteNumber, isRecord } from '../lib/is-record.ts';
import { isInstant } from '../lib/rfc3339.ts';
import type { EpochMillis } from '../lib/units.ts';
import type { WorkloadRef } from './cluster-view.ts';
import type { ProfileOptions } from './usage-profile.ts';
import type { SavedRing } from './usage-ring.ts';
import type { ResourceInstants } from './usage-series.ts';
import type { UsageWindow } from './usage-window.ts';

export interface SavedUsage {
  readonly workload: WorkloadRef;
  readonly container: string;
  /** Text of `UsageProfile.save()`. */
  readonly profile: string;
  /** What the profile was made with: its weights mean nothing under another half-life. */
  readonly options: ProfileOptions;
  /** The source was read up to here. */
  readonly readTo: ResourceInstants;
  /** When the workload was last seen with this container. */
  readonly seenAt: EpochMillis;
  /** Out-of-memory kills that are in the profile, by pod and time: none counts twice. */
  readonly kills: readonly string[];
  readonly window?: UsageWindow;
  readonly ring?: SavedRing;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isMissingOr = (value: unknown, check: (value: unknown) => boolean): boolean =>
  value === undefined || check(value);

/**
 * Whether a value read from elsewhere has the shape of a {@link SavedUsage}. The profile's text is checked when it is
 * opened.
 */
export function isSavedUsage(value: unknown): value is SavedUsage {
  if (!isRecord(value) || !isRecord(value['workload'])) return false;
  const { workload, kills } = value;
  return (
    isText(workload['kind']) &&
    isText(workload['namespace']) &&
    isText(workload['name']) &&
    isText(value['container']) &&
    isText(value['profile']) &&
    isOptions(value['options']) &&
    isTime(value['seenAt']) &&
    isInstants(value['readTo']) &&
    Array.isArray(kills) &&
    kills.every(isText) &&
    isMissingOr(value['window'], isWindow) &&
    isMissingOr(value['ring'], isRing)
  );
}

/** Clocks of sources may tell parts of a millisecond. */
const isTime = (value: unknown): boolean => isFiniteNumber(value) && isInstant(Math.floor(value));

function isOptions(value: unknown): boolean {
  if (!isRecord(value) || !isFiniteNumber(value['startupExclusionMillis'])) return false;
  return isFiniteNumber(value['usualHalfLifeMillis']) && value['usualHalfLifeMillis'] > 0;
}

function isWindow(value: unknown): boolean {
  return (
    isRecord(value) &&
    isTime(value['from']) &&
    isTime(value['to']) &&
    isMissingOr(value['cpu'], isPercentiles) &&
    isMissingOr(value['memory'], isPercentiles) &&
    isMissingOr(value['since'], isInstants)
  );
}

function isInstants(value: unknown): boolean {
  return isRecord(value) && isMissingOr(value['cpu'], isTime) && isMissingOr(value['memory'], isTime);
}

function isPercentiles(value: unknown): boolean {
  return isRecord(value) && ['p50', 'p90', 'p95', 'p99', 'max', 'samples'].every((key) => isFiniteNumber(value[key]));
}

/** Slots are counted one by one, which beyond whole numbers comes to no end. */
function isRing(value: unknown): boolean {
  if (!isRecord(value) || !isCount(value['windowMillis']) || value['windowMillis'] === 0) return false;
  return Array.isArray(value['slots']) && value['slots'].every(isSlot);
}

function isSlot(slot: unknown): boolean {
  if (!Array.isArray(slot) || slot.length !== 5) return false;
  const [number, cpu, cpuCount, memory, memoryCount]: unknown[] = slot;
  return Number.isSafeInteger(number) && [cpu, memory].every(isUsage) && [cpuCount, memoryCount].every(isCount);
}

const isUsage = (value: unknown): boolean => isFiniteNumber(value) && value >= 0;
