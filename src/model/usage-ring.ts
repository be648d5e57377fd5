/**
 * A bounded picture of a rolling window, for sources that only know the present: the window is cut into slots, and each
 * slot keeps one of its samples, each with the same likelihood. Percentiles of those are unbiased and cost 0.8 KB a
 * container when the window is full.
 */

import { packNumbers, unpackNumbers } from '../lib/packed-numbers.ts';
import type { Random } from '../lib/random.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import { percentilesOf, type UsageWindow } from './usage-window.ts';

/** OptiPod keeps 10 samples at most, of one pod and of two minutes. */
const SLOTS = 64;
/** A slot has room for no more samples seen: one more hardly changes what the next one's chance is. */
const MAX_COUNT = 2 ** 14 - 1;

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

/** One slot: the sample kept of each resource, in whole millicores and bytes, and how many were seen. */
interface Slot {
  /** Spans of a slot's length since the epoch. */
  readonly number: number;
  cpu: number;
  cpuCount: number;
  memory: number;
  memoryCount: number;
}

/** Of a packed slot: how far it is before the latest, then {@link Slot} from `cpu` on. */
const NUMBERS_A_SLOT = 5;

/** A class, because there may be one of each container. Nearly all samples are of the latest slot: the others are packed. */
export class UsageRing {
  readonly windowMillis: Millis;
  #latest: Slot | undefined;
  /** The other slots in which anything was seen, the oldest first. */
  #past = '';

  /** @throws RangeError for a window that is not above 0. */
  constructor(windowMillis: Millis, saved?: SavedRing) {
    if (!(windowMillis > 0)) throw new RangeError(`a window of ${windowMillis} ms: it must be above 0`);
    this.windowMillis = windowMillis;
    // Of another window, what was kept stands for other spans of time.
    if (saved?.windowMillis !== windowMillis) return;
    this.#keep(
      saved.slots.map(([number, cpu, cpuCount, memory, memoryCount]) => ({
        number,
        cpu: Math.round(cpu),
        cpuCount: Math.min(MAX_COUNT, cpuCount),
        memory: Math.round(memory),
        memoryCount: Math.min(MAX_COUNT, memoryCount),
      })),
    );
  }

  addCpu(value: number, at: EpochMillis, random: Random): void {
    this.#change(value, at, (slot) => {
      if (isDrawn(slot.cpuCount + 1, random)) slot.cpu = Math.round(value);
      slot.cpuCount = Math.min(MAX_COUNT, slot.cpuCount + 1);
    });
  }

  addMemory(value: number, at: EpochMillis, random: Random): void {
    this.#change(value, at, (slot) => {
      if (isDrawn(slot.memoryCount + 1, random)) slot.memory = Math.round(value);
      slot.memoryCount = Math.min(MAX_COUNT, slot.memoryCount + 1);
    });
  }

  /** The percentiles of what is left of the window at `now`. */
  window(now: EpochMillis): UsageWindow {
    const oldest = this.#numberOf(now) - SLOTS;
    const slots = this.#slots().filter(({ number }) => number > oldest);
    const ofCpu = slots.filter(({ cpuCount }) => cpuCount > 0);
    const ofMemory = slots.filter(({ memoryCount }) => memoryCount > 0);
    const cpu = percentilesOf(ofCpu.map((slot) => slot.cpu));
    const memory = percentilesOf(ofMemory.map((slot) => slot.memory));
    const since = {
      ...(ofCpu[0] !== undefined && { cpu: this.#startOf(ofCpu[0]) }),
      ...(ofMemory[0] !== undefined && { memory: this.#startOf(ofMemory[0]) }),
    };
    return { from: now - this.windowMillis, to: now, cpu, memory, since, isSampled: true };
  }

  save(): SavedRing {
    const slots = this.#slots().map(
      ({ number, cpu, cpuCount, memory, memoryCount }) => [number, cpu, cpuCount, memory, memoryCount] as const,
    );
    return { windowMillis: this.windowMillis, slots };
  }

  #numberOf(at: EpochMillis): number {
    return Math.floor((at * SLOTS) / this.windowMillis);
  }

  #startOf({ number }: Slot): EpochMillis {
    return (number * this.windowMillis) / SLOTS;
  }

  /** Nothing for what is no amount, or too old. */
  #change(value: number, at: EpochMillis, draw: (slot: Slot) => void): void {
    if (!(value >= 0) || !Number.isFinite(value) || !Number.isFinite(at)) return;
    const number = this.#numberOf(at);
    if (this.#latest?.number === number) {
      draw(this.#latest);
      return;
    }
    const slots = this.#slots();
    const known = slots.find((slot) => slot.number === number);
    const slot = known ?? { number, cpu: 0, cpuCount: 0, memory: 0, memoryCount: 0 };
    draw(slot);
    this.#keep(known === undefined ? [...slots, slot] : slots);
  }

  /** Those in which anything was seen, the oldest first. */
  #slots(): Slot[] {
    if (this.#latest === undefined) return [];
    const slots: Slot[] = [];
    const numbers = unpackNumbers(this.#past);
    for (let at = 0; at < numbers.length; at += NUMBERS_A_SLOT) {
      slots.push({
        number: this.#latest.number - (numbers[at] ?? 0),
        cpu: numbers[at + 1] ?? 0,
        cpuCount: numbers[at + 2] ?? 0,
        memory: numbers[at + 3] ?? 0,
        memoryCount: numbers[at + 4] ?? 0,
      });
    }
    return [...slots, this.#latest];
  }

  /** Keeps what is in the window that ends with the latest of these. */
  #keep(slots: readonly Slot[]): void {
    const seen = slots.filter(({ cpuCount, memoryCount }) => cpuCount + memoryCount > 0);
    const inOrder = seen.sort((one, other) => one.number - other.number);
    const latest = inOrder.pop();
    if (latest === undefined) return;
    const past = inOrder.filter(({ number }) => latest.number - number < SLOTS);
    this.#latest = latest;
    this.#past = packNumbers(
      past.flatMap(({ number, cpu, cpuCount, memory, memoryCount }) => [
        latest.number - number,
        cpu,
        cpuCount,
        memory,
        memoryCount,
      ]),
    );
  }
}

/** Each of the first n samples is the one kept with a likelihood of 1/n. */
function isDrawn(count: number, random: Random): boolean {
  return random.next() * Math.min(MAX_COUNT, count) < 1;
}
