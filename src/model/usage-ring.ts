/**
 * A bounded picture of a rolling window, for sources that only know the present: the window is cut into slots, and each
 * slot keeps one of its samples, each with the same likelihood. Percentiles of those are unbiased and cost 1.1 KB a
 * container when the window is full.
 */
import type { Random } from '../lib/random.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import { percentilesOf, type UsageWindow } from './usage-window.ts';

/** OptiPod keeps 10 samples at most, of one pod and of two minutes. */
const SLOTS = 64;
/** A place has CPU and both counts in one number: 24, 14 and 14 bits of it, and a number has 53. */
const MAX_CPU = 2 ** 24 - 1;
const MAX_COUNT = 2 ** 14 - 1;
const CPU_SEEN = MAX_CPU + 1;
const MEMORY_SEEN = CPU_SEEN * (MAX_COUNT + 1);

export interface SavedRing {
  readonly windowMillis: Millis;
  /** Number of the slot, then value and number of samples seen, of CPU and of memory; count 0 where there is none. */
  readonly slots: readonly (readonly [
    slot: number,
    cpu: number,
    cpuCount: number,
    memory: number,
    memoryCount: number,
  ])[];
}

/** A class, because there may be one of each container. Plain lists of what is there: a typed array has a buffer besides. */
export class UsageRing {
  readonly windowMillis: Millis;
  /** Slot of the first place; those after it follow, also those without a sample. At most {@link SLOTS}. */
  #first = 0;
  /** Whole millicores, up to 16,777 cores; samples seen of CPU in {@link CPU_SEEN}, and of memory in {@link MEMORY_SEEN}. */
  #cells: number[] = [];
  #memory: number[] = [];

  /** @throws RangeError for a window that is not above 0. */
  constructor(windowMillis: Millis, saved?: SavedRing) {
    if (!(windowMillis > 0)) throw new RangeError(`a window of ${windowMillis} ms: it must be above 0`);
    this.windowMillis = windowMillis;
    // Of another window, what was kept stands for other spans of time.
    if (saved?.windowMillis !== windowMillis) return;
    for (const [slot, cpu, cpuCount, memory, memoryCount] of saved.slots) {
      const place = this.#open(slot);
      if (place === undefined) continue;
      this.#cells[place] = cellOf({ cpu, cpuCount, memoryCount });
      this.#memory[place] = memory;
    }
  }

  addCpu(value: number, at: EpochMillis, random: Random): void {
    const place = this.#placeOf(value, at);
    if (place === undefined) return;
    const { cpu, cpuCount, memoryCount } = partsOf(this.#cells[place]);
    const isKept = isDrawn(cpuCount + 1, random);
    this.#cells[place] = cellOf({ cpu: isKept ? value : cpu, cpuCount: cpuCount + 1, memoryCount });
  }

  addMemory(value: number, at: EpochMillis, random: Random): void {
    const place = this.#placeOf(value, at);
    if (place === undefined) return;
    const { memoryCount, ...rest } = partsOf(this.#cells[place]);
    if (isDrawn(memoryCount + 1, random)) this.#memory[place] = value;
    this.#cells[place] = cellOf({ ...rest, memoryCount: memoryCount + 1 });
  }

  /** The percentiles of what is left of the window at `now`. */
  window(now: EpochMillis): UsageWindow {
    const oldest = this.#slotOf(now) - SLOTS;
    const cpu: number[] = [];
    const memory: number[] = [];
    for (const [slot, cpuValue, cpuCount, memoryValue, memoryCount] of this.save().slots) {
      if (slot <= oldest) continue;
      if (cpuCount > 0) cpu.push(cpuValue);
      if (memoryCount > 0) memory.push(memoryValue);
    }
    const percentiles = { cpu: percentilesOf(cpu), memory: percentilesOf(memory) };
    return { from: now - this.windowMillis, to: now, ...percentiles, isSampled: true };
  }

  save(): SavedRing {
    const slots: SavedRing['slots'][number][] = [];
    for (const [place, cell] of this.#cells.entries()) {
      if (cell === 0) continue;
      const { cpu, cpuCount, memoryCount } = partsOf(cell);
      slots.push([this.#first + place, cpu, cpuCount, this.#memory[place] ?? 0, memoryCount]);
    }
    return { windowMillis: this.windowMillis, slots };
  }

  #slotOf(at: EpochMillis): number {
    return Math.floor((at * SLOTS) / this.windowMillis);
  }

  /** Undefined for what is no amount, or too old. */
  #placeOf(value: number, at: EpochMillis): number | undefined {
    if (!(value >= 0) || !Number.isFinite(value) || !Number.isFinite(at)) return undefined;
    return this.#open(this.#slotOf(at));
  }

  /** Makes the slot one of the window. @returns its place; undefined when it is too old for that. */
  #open(slot: number): number | undefined {
    const isEmpty = this.#cells.length === 0;
    const latest = this.#first + this.#cells.length - 1;
    if (isEmpty) this.#reshape(slot, slot);
    else if (slot <= latest - SLOTS) return undefined;
    else if (slot > latest) this.#reshape(Math.max(this.#first, slot - SLOTS + 1), slot);
    else if (slot < this.#first) this.#reshape(slot, latest);
    return slot - this.#first;
  }

  /** Forgets what is not of these slots, both included. */
  #reshape(first: number, latest: number): void {
    const reshaped = (list: readonly number[]): number[] =>
      Array.from({ length: latest - first + 1 }, (_, place) => list[first - this.#first + place] ?? 0);
    this.#cells = reshaped(this.#cells);
    this.#memory = reshaped(this.#memory);
    this.#first = first;
  }
}

/** Of one slot: samples seen, and the one of CPU that was kept. */
interface CellParts {
  readonly cpu: number;
  readonly cpuCount: number;
  readonly memoryCount: number;
}

function cellOf({ cpu, cpuCount, memoryCount }: CellParts): number {
  const [seen, memorySeen] = [Math.min(MAX_COUNT, cpuCount), Math.min(MAX_COUNT, memoryCount)];
  return Math.min(MAX_CPU, Math.round(cpu)) + seen * CPU_SEEN + memorySeen * MEMORY_SEEN;
}

function partsOf(cell = 0): CellParts {
  const memoryCount = Math.floor(cell / MEMORY_SEEN);
  const rest = cell - memoryCount * MEMORY_SEEN;
  const cpuCount = Math.floor(rest / CPU_SEEN);
  return { cpu: rest - cpuCount * CPU_SEEN, cpuCount, memoryCount };
}

/** Each of the first n samples is the one kept with a likelihood of 1/n. */
function isDrawn(count: number, random: Random): boolean {
  return random.next() * Math.min(MAX_COUNT, count) < 1;
}
