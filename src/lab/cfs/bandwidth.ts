/**
 * CFS bandwidth control of one group (kernel/sched/fair.c, Documentation/scheduler/sched-bwc.rst): a quota refilled each
 * period, handed out to the CPUs in slices. Time is in milliseconds of CPU.
 */
import type { Millicores, Millis } from '../../lib/units.ts';

export const PERIOD_MILLIS: Millis = 100;
/** `sched_cfs_bandwidth_slice_us`. */
const SLICE_MILLIS: Millis = 5;
/** What a CPU may keep of its slice when it has nothing left to run (`min_cfs_rq_runtime`). */
const KEPT_MILLIS: Millis = 1;

/** As in `cpu.stat`. */
export interface BandwidthCounters {
  /** Periods that passed with work to do. */
  readonly periods: number;
  readonly throttledPeriods: number;
  /** Summed over the CPUs that waited. */
  readonly throttledMillis: number;
}

export class Bandwidth {
  #quotaMillis: number | undefined;
  #burstMillis = 0;
  #pool = 0;
  readonly #slices: number[];
  readonly #isThrottled: boolean[];
  #wasThrottled = false;
  #isActive = false;
  #periods = 0;
  #throttledPeriods = 0;
  #throttledMillis = 0;

  constructor(cpus: number) {
    this.#slices = new Array<number>(cpus).fill(0);
    this.#isThrottled = new Array<boolean>(cpus).fill(false);
  }

  /**
   * Writes `cpu.max`: whatever was written before, the group has a full quota now and nothing of it waits, so an unchanged
   * value must not be written (it would be more CPU than the quota says).
   */
  set(quota: Millicores | undefined, burst: Millicores = 0): void {
    this.#quotaMillis = quota === undefined ? undefined : (quota * PERIOD_MILLIS) / 1000;
    this.#burstMillis = (burst * PERIOD_MILLIS) / 1000;
    this.#pool = this.#quotaMillis ?? 0;
    this.#slices.fill(0);
    this.#isThrottled.fill(false);
  }

  counters(): BandwidthCounters {
    return {
      periods: this.#periods,
      throttledPeriods: this.#throttledPeriods,
      throttledMillis: this.#throttledMillis,
    };
  }

  /** The end of a period: what is counted per period is counted, and the quota is full again. */
  refill(): void {
    const quota = this.#quotaMillis;
    if (quota !== undefined && this.#isActive) {
      this.#periods++;
      if (this.#wasThrottled) this.#throttledPeriods++;
    }
    this.#isActive = false;
    this.#wasThrottled = false;
    if (quota === undefined) return;
    this.#pool = this.#burstMillis === 0 ? quota : Math.min(quota + this.#burstMillis, this.#pool + quota);
    this.#isThrottled.fill(false);
  }

  /** How long the group may run on this CPU now, at most `wanted`; 0 throttles it there until the next refill. */
  grant(cpu: number, wanted: Millis): Millis {
    if (this.#quotaMillis === undefined) return wanted;
    this.#isActive = true;
    if (this.#isThrottled[cpu] === true) return 0;
    const missing = wanted - (this.#slices[cpu] ?? 0);
    if (missing > 0) {
      const taken = Math.min(this.#pool, Math.max(SLICE_MILLIS, missing));
      this.#pool -= taken;
      this.#slices[cpu] = (this.#slices[cpu] ?? 0) + taken;
    }
    const granted = Math.min(wanted, this.#slices[cpu] ?? 0);
    if (granted <= 1e-9) {
      this.#isThrottled[cpu] = true;
      this.#wasThrottled = true;
      return 0;
    }
    return granted;
  }

  spend(cpu: number, millis: Millis): void {
    if (this.#quotaMillis !== undefined) this.#slices[cpu] = Math.max(0, (this.#slices[cpu] ?? 0) - millis);
  }

  /** The CPU has nothing more of this group to run: most of its slice goes back. */
  idle(cpu: number): void {
    const slice = this.#slices[cpu] ?? 0;
    if (this.#quotaMillis === undefined || slice <= KEPT_MILLIS) return;
    this.#pool += slice - KEPT_MILLIS;
    this.#slices[cpu] = KEPT_MILLIS;
  }

  isThrottled(cpu: number): boolean {
    return this.#isThrottled[cpu] === true;
  }

  /** A CPU with work of this group stood still for so long. */
  addThrottled(millis: Millis): void {
    this.#throttledMillis += millis;
  }
}
