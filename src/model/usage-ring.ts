/**
 * A bounded picture of a rolling window, for sources that only know the present: the window is cut into slots, and each
 * slot keeps one of its samples, each with the same likelihood. Percentiles of those are unbiased and cost under 1 KB a
 * container.
 */
import type { Random } from '../lib/random.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import { percentilesOf, type UsageWindow } from './usage-window.ts';

/** OptiPod keeps 10 samples at most, of one pod and of two minutes. */
const SLOTS = 64;
const MAX_COUNT = 0xffff;

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

export class UsageRing {
  readonly windowMillis: Millis;
  /** 32 bits hold whole millicores up to 16,777 cores. */
  readonly #cpu = new Float32Array(SLOTS);
  readonly #memory = new Float64Array(SLOTS);
  readonly #cpuCounts = new Uint16Array(SLOTS);
  readonly #memoryCounts = new Uint16Array(SLOTS);
  #latest: number | undefined;

  /** @throws RangeError for a window that is not above 0. */
  constructor(windowMillis: Millis, saved?: SavedRing) {
    if (!(windowMillis > 0)) throw new RangeError(`a window of ${windowMillis} ms: it must be above 0`);
    this.windowMillis = windowMillis;
    // Of another window, what was kept stands for other spans of time.
    if (saved?.windowMillis !== windowMillis) return;
    for (const [slot, cpu, cpuCount, memory, memoryCount] of saved.slots) {
      if (!this.#open(slot)) continue;
      const place = placeOf(slot);
      this.#cpu[place] = cpu;
      this.#cpuCounts[place] = cpuCount;
      this.#memory[place] = memory;
      this.#memoryCounts[place] = memoryCount;
    }
  }

  addCpu(value: number, at: EpochMillis, random: Random): void {
    this.#put(this.#cpu, this.#cpuCounts, value, at, random);
  }

  addMemory(value: number, at: EpochMillis, random: Random): void {
    this.#put(this.#memory, this.#memoryCounts, value, at, random);
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
    const latest = this.#latest;
    const slots: SavedRing['slots'][number][] = [];
    if (latest === undefined) return { windowMillis: this.windowMillis, slots };
    for (let slot = latest - SLOTS + 1; slot <= latest; slot++) {
      const place = placeOf(slot);
      const cpuCount = this.#cpuCounts[place] ?? 0;
      const memoryCount = this.#memoryCounts[place] ?? 0;
      if (cpuCount + memoryCount === 0) continue;
      // Without a sample, what is left there is of an older slot.
      const cpu = cpuCount > 0 ? (this.#cpu[place] ?? 0) : 0;
      const memory = memoryCount > 0 ? (this.#memory[place] ?? 0) : 0;
      slots.push([slot, cpu, cpuCount, memory, memoryCount]);
    }
    return { windowMillis: this.windowMillis, slots };
  }

  #slotOf(at: EpochMillis): number {
    return Math.floor((at * SLOTS) / this.windowMillis);
  }

  #put(values: Float32Array | Float64Array, counts: Uint16Array, value: number, at: EpochMillis, random: Random): void {
    if (!(value >= 0) || !Number.isFinite(value) || !Number.isFinite(at)) return;
    const slot = this.#slotOf(at);
    if (!this.#open(slot)) return;
    const place = placeOf(slot);
    const count = Math.min(MAX_COUNT, (counts[place] ?? 0) + 1);
    counts[place] = count;
    // Each of the first n samples is the one kept with a likelihood of 1/n.
    if (random.next() * count < 1) values[place] = value;
  }

  /** Makes the slot one of the window. @returns false when it is too old for that. */
  #open(slot: number): boolean {
    const latest = this.#latest;
    if (latest !== undefined && slot <= latest - SLOTS) return false;
    if (latest === undefined || slot > latest) {
      const first = latest === undefined ? slot - SLOTS + 1 : Math.max(latest + 1, slot - SLOTS + 1);
      for (let fresh = first; fresh <= slot; fresh++) {
        this.#cpuCounts[placeOf(fresh)] = 0;
        this.#memoryCounts[placeOf(fresh)] = 0;
      }
      this.#latest = slot;
    }
    return true;
  }
}

const placeOf = (slot: number): number => ((slot % SLOTS) + SLOTS) % SLOTS;
