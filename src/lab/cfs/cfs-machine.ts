/**
 * A machine with few CPUs under the Completely Fair Scheduler, in steps of a millisecond: groups with weights and quotas,
 * threads that take jobs. Good enough to compare ways of dividing CPU where no real control groups can be written;
 * `cfs-machine.test.ts` holds it to what the kernel was seen to do.
 */
import type { Millicores, Millis } from '../../lib/units.ts';
import { Bandwidth, type BandwidthCounters, PERIOD_MILLIS } from './bandwidth.ts';

/** Work in hand; the machine takes away from it what was done. */
export interface Job {
  /** Of CPU time still to do. */
  remainingMillis: Millis;
}

/** Where the threads of a group get their work. */
export interface JobQueue {
  /** The next job, which the caller now owns; undefined puts the thread to sleep. */
  take(nowMillis: Millis): Job | undefined;
  finished(job: Job, nowMillis: Millis): void;
}

export interface GroupCounters extends BandwidthCounters {
  readonly usedMillis: Millis;
  /** Time in which at least one thread waited for a CPU: PSI's `some`. */
  readonly waitedMillis: Millis;
}

interface Thread {
  readonly group: Group;
  cpu: number;
  job: Job | undefined;
  /** Of the thread within its group on a CPU; the least goes first. */
  ranMillis: number;
}

interface Group {
  readonly name: string;
  weight: number;
  readonly queue: JobQueue;
  readonly bandwidth: Bandwidth;
  readonly threads: Thread[];
  /** Virtual time on each CPU: milliseconds run over the weight there. */
  readonly virtual: number[];
  usedMillis: Millis;
  waitedMillis: Millis;
}

/** The step, and so the resolution of latencies; a job that ends within it makes room for the next. */
const STEP_MILLIS: Millis = 1;
/** How far behind a group that slept may come back, in milliseconds at its weight: half a scheduling latency. */
const SLEEPER_CREDIT_MILLIS: Millis = 3;

export class CfsMachine {
  readonly #cpus: number;
  readonly #groups = new Map<string, Group>();
  /** The least virtual time that runs on each CPU; never falls. */
  readonly #floor: number[];
  #now: Millis = 0;

  constructor(options: { readonly cpus: number }) {
    this.#cpus = options.cpus;
    this.#floor = new Array<number>(options.cpus).fill(0);
  }

  now(): Millis {
    return this.#now;
  }

  /** @param weight `cpu.shares`, or any other number in proportion. */
  addGroup(
    name: string,
    options: { readonly weight: number; readonly threads: number; readonly queue: JobQueue },
  ): void {
    const group: Group = {
      name,
      weight: options.weight,
      queue: options.queue,
      bandwidth: new Bandwidth(this.#cpus),
      threads: [],
      virtual: [...this.#floor],
      usedMillis: 0,
      waitedMillis: 0,
    };
    for (let index = 0; index < options.threads; index++)
      group.threads.push({ group, cpu: index % this.#cpus, job: undefined, ranMillis: 0 });
    this.#groups.set(name, group);
  }

  /** Its threads are gone, with whatever they were at. */
  removeGroup(name: string): void {
    this.#groups.delete(name);
  }

  setWeight(name: string, weight: number): void {
    this.#group(name).weight = weight;
  }

  /** Undefined is no quota. */
  setQuota(name: string, quota: Millicores | undefined, burst?: Millicores): void {
    this.#group(name).bandwidth.set(quota, burst);
  }

  counters(name: string): GroupCounters {
    const { usedMillis, waitedMillis, bandwidth } = this.#group(name);
    return { usedMillis, waitedMillis, ...bandwidth.counters() };
  }

  runUntil(millis: Millis): void {
    while (this.#now < millis) this.#step();
  }

  #group(name: string): Group {
    const group = this.#groups.get(name);
    if (group === undefined) throw new RangeError(`there is no group ${name}`);
    return group;
  }

  #step(): void {
    if (this.#now % PERIOD_MILLIS === 0) for (const { bandwidth } of this.#groups.values()) bandwidth.refill();
    this.#wake();
    this.#balance();
    const running = new Set<Thread>();
    for (let cpu = 0; cpu < this.#cpus; cpu++) this.#runCpu(cpu, running);
    for (const group of this.#groups.values()) {
      const isWaiting = group.threads.some((thread) => thread.job !== undefined && !running.has(thread));
      if (isWaiting) group.waitedMillis += STEP_MILLIS;
    }
    this.#now += STEP_MILLIS;
  }

  /** Sleeping threads take what has come. One that wakes goes to a CPU without work, where there is one. */
  #wake(): void {
    for (const group of this.#groups.values()) {
      for (const thread of group.threads) {
        if (thread.job !== undefined) continue;
        thread.job = group.queue.take(this.#now);
        if (thread.job === undefined) continue;
        const idle = this.#idleCpu();
        if (idle !== undefined && this.#loadOf(thread.cpu) > 1) thread.cpu = idle;
        this.#enter(group, thread.cpu);
      }
    }
  }

  /** A CPU without work takes a waiting thread from the one that has most. */
  #balance(): void {
    for (let cpu = 0; cpu < this.#cpus; cpu++) {
      if (this.#loadOf(cpu) > 0) continue;
      let [busiest, load] = [-1, 1];
      for (let other = 0; other < this.#cpus; other++) {
        const candidate = this.#loadOf(other);
        if (candidate > load) [busiest, load] = [other, candidate];
      }
      const moved = this.#runnable(busiest).at(-1);
      if (moved === undefined) continue;
      moved.cpu = cpu;
      this.#enter(moved.group, cpu);
    }
  }

  #idleCpu(): number | undefined {
    for (let cpu = 0; cpu < this.#cpus; cpu++) if (this.#loadOf(cpu) === 0) return cpu;
    return undefined;
  }

  #runnable(cpu: number): Thread[] {
    const found: Thread[] = [];
    for (const group of this.#groups.values()) {
      for (const thread of group.threads) if (thread.cpu === cpu && this.#canRun(thread)) found.push(thread);
    }
    return found;
  }

  #loadOf(cpu: number): number {
    let load = 0;
    for (const group of this.#groups.values()) {
      for (const thread of group.threads) if (thread.cpu === cpu && this.#canRun(thread)) load++;
    }
    return load;
  }

  #canRun({ job, group, cpu }: Thread): boolean {
    return job !== undefined && !group.bandwidth.isThrottled(cpu);
  }

  #enter(group: Group, cpu: number): void {
    const credit = SLEEPER_CREDIT_MILLIS / group.weight;
    group.virtual[cpu] = Math.max(group.virtual[cpu] ?? 0, (this.#floor[cpu] ?? 0) - credit);
  }

  #runCpu(cpu: number, running: Set<Thread>): void {
    let left = STEP_MILLIS;
    while (left > 1e-9) {
      const thread = this.#next(cpu);
      if (thread === undefined) break;
      const { group, job } = thread;
      if (job === undefined) break;
      const granted = group.bandwidth.grant(cpu, Math.min(left, job.remainingMillis));
      if (granted <= 0) continue;
      running.add(thread);
      group.bandwidth.spend(cpu, granted);
      job.remainingMillis -= granted;
      group.usedMillis += granted;
      thread.ranMillis += granted;
      left -= granted;
      group.virtual[cpu] = (group.virtual[cpu] ?? 0) + granted / this.#weightOn(group, cpu);
      if (job.remainingMillis > 1e-9) continue;
      group.queue.finished(job, this.#now + STEP_MILLIS - left);
      thread.job = group.queue.take(this.#now);
      if (!group.threads.some((each) => each.cpu === cpu && each.job !== undefined)) group.bandwidth.idle(cpu);
    }
    for (const group of this.#groups.values()) {
      if (!group.bandwidth.isThrottled(cpu)) continue;
      if (group.threads.some((each) => each.cpu === cpu && each.job !== undefined))
        group.bandwidth.addThrottled(STEP_MILLIS);
    }
  }

  /** Of the group that is furthest behind, the thread that ran least. */
  #next(cpu: number): Thread | undefined {
    let best: Group | undefined;
    for (const group of this.#groups.values()) {
      if (!group.threads.some((thread) => thread.cpu === cpu && this.#canRun(thread))) continue;
      if (best === undefined || (group.virtual[cpu] ?? 0) < (best.virtual[cpu] ?? 0)) best = group;
    }
    if (best === undefined) return undefined;
    this.#floor[cpu] = Math.max(this.#floor[cpu] ?? 0, best.virtual[cpu] ?? 0);
    const own = best.threads.filter((thread) => thread.cpu === cpu && this.#canRun(thread));
    return own.reduce((least, thread) => (thread.ranMillis < least.ranMillis ? thread : least));
  }

  /** A group's weight is divided among the CPUs by how many of its threads want to run there. */
  #weightOn(group: Group, cpu: number): number {
    let [here, all] = [0, 0];
    for (const thread of group.threads) {
      if (!this.#canRun(thread)) continue;
      all++;
      if (thread.cpu === cpu) here++;
    }
    return all === 0 ? group.weight : Math.max(group.weight * (here / all), Number.EPSILON);
  }
}
