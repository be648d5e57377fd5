/**
 * All that is remembered of one container of a workload, over all its replicas and across rollouts: at most 3 KB, of
 * which there are tens of thousands. CPU and memory are remembered by themselves, so that either may be missing
 * (rightsizing bugs 4 and 32).
 */

import { InvalidValueError } from '../lib/errors.ts';
import { isCount, isFiniteNumber, isRecord } from '../lib/is-record.ts';
import { isInstant } from '../lib/rfc3339.ts';
import { tryParseJson } from '../lib/try-parse-json.ts';
import type { Bytes, EpochMillis, Millicores, Millis } from '../lib/units.ts';
import { CpuHistory, type CpuHistoryOptions, type SavedCpuHistory, type SavedDay } from './usage-cpu.ts';
import { MemoryHistory, type SavedMemoryHistory } from './usage-memory.ts';

export interface ProfileOptions extends CpuHistoryOptions {
  /**
   * CPU used this long after a start says how the program starts, not what it needs. Memory counts from the first byte.
   */
  readonly startupExclusionMillis: Millis;
}

/** What one replica of the container used at one instant. Either may be missing: partial data gives partial advice. */
export interface UsageSample {
  readonly at: EpochMillis;
  readonly cpu?: Millicores;
  readonly memory?: Bytes;
  /** When this replica's container last started, where that is known. */
  readonly startedAt?: EpochMillis;
}

/** Changes when the saved form does; other versions are refused rather than misread. */
const VERSION = 2;

/** Whether the text is a profile that a later version of Stowage saved: nothing to be read here, nor to be written over. */
export function isNewerProfile(text: string): boolean {
  return Number(/^\{"v":(\d{1,9})[,}]/.exec(text)?.[1]) > VERSION;
}

export class UsageProfile {
  readonly cpu: CpuHistory;
  readonly memory: MemoryHistory;
  readonly #startupExclusionMillis: Millis;

  /**
   * @param text what {@link save} returned earlier.
   * @throws InvalidValueError when it is not that, or of another version.
   */
  constructor(options: ProfileOptions, text?: string) {
    const saved = text === undefined ? undefined : readSaved(text);
    this.cpu = new CpuHistory(options, saved?.cpu);
    this.memory = new MemoryHistory(saved?.memory);
    this.#startupExclusionMillis = options.startupExclusionMillis;
  }

  add(sample: UsageSample): void {
    const { at, startedAt } = sample;
    const isStarting = isWithinStart(at, startedAt, this.#startupExclusionMillis);
    if (sample.cpu !== undefined && !isStarting) this.cpu.add(sample.cpu, sample.at);
    if (sample.memory !== undefined) this.memory.add(sample.memory, sample.at);
  }

  /** The same history under other options: what a policy that changes goes on with. */
  retuned(options: ProfileOptions): UsageProfile {
    const cpu = this.cpu.saveForOtherHalfLife();
    return new UsageProfile(options, JSON.stringify({ v: VERSION, cpu, memory: this.memory.save() }));
  }

  /** The text to keep: a profile made from it is the same to the last bit. */
  save(): string {
    return JSON.stringify({ v: VERSION, cpu: this.cpu.save(), memory: this.memory.save() });
  }
}

/** A sample of before the start is of an earlier run, whose own start is not known. */
export function isWithinStart(at: EpochMillis, startedAt: EpochMillis | undefined, exclusionMillis: Millis): boolean {
  return startedAt !== undefined && at >= startedAt && at - startedAt < exclusionMillis;
}

function readSaved(text: string): { readonly cpu: SavedCpuHistory; readonly memory: SavedMemoryHistory } {
  const value = tryParseJson(text);
  if (isRecord(value) && value['v'] === VERSION && isSavedCpu(value['cpu']) && isSavedMemory(value['memory'])) {
    return { cpu: value['cpu'], memory: value['memory'] };
  }
  const shown = text.length > 40 ? `${text.slice(0, 40)}...` : text;
  throw new InvalidValueError('saved usage profile', shown, `a profile saved by Stowage, version ${VERSION}`);
}

/** Of before 1970, too, and with parts of a millisecond: what can be written as a time. */
const isTime = (value: unknown): value is number => isFiniteNumber(value) && isInstant(Math.floor(Math.abs(value)));
/** An average has a fraction, and nothing says how large it may be. */
const isAmount = (value: unknown): value is Bytes => isFiniteNumber(value) && value >= 0;
const isMissingOrTime = (value: unknown): value is number | undefined => value === undefined || isTime(value);

function isSavedCpu(value: unknown): value is SavedCpuHistory {
  return (
    isRecord(value) &&
    typeof value['usual'] === 'string' &&
    isSavedDay(value['day']) &&
    isCount(value['samples']) &&
    isMissingOrTime(value['firstAt']) &&
    isMissingOrTime(value['lastAt'])
  );
}

function isSavedDay(value: unknown): value is SavedDay {
  if (!isRecord(value) || !Array.isArray(value['spans']) || !isCount(value['first'])) return false;
  return value['spans'].every(Number.isSafeInteger) && typeof value['counts'] === 'string';
}

function isSavedMemory(value: unknown): value is SavedMemoryHistory {
  if (!isRecord(value) || !Array.isArray(value['peaks']) || !isMissingOrTime(value['lastAt'])) return false;
  const { samples } = value;
  if (!isMissingOrTime(value['firstAt']) || (samples !== undefined && !isCount(samples))) return false;
  const oom = value['oom'];
  const isOom =
    oom === undefined ||
    (isRecord(oom) && isAmount(oom['bytes']) && isTime(oom['at']) && isCount(oom['count']) && oom['count'] > 0);
  return isOom && value['peaks'].every(isSavedPeak);
}

function isSavedPeak(peak: unknown): boolean {
  return Array.isArray(peak) && peak.length === 2 && Number.isSafeInteger(peak[0]) && isAmount(peak[1]);
}
