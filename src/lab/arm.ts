/** An arm of the experiment: one way to divide the CPU. */
import type { Millicores, Millis } from '../lib/units.ts';
import type { CpuSettings, LabPod } from './substrate.ts';

/** One pod since the last tick. */
export interface PodObservation {
  readonly pod: LabPod;
  readonly settings: CpuSettings;
  readonly usage: Millicores;
  /** Undefined where no period had work, or there is no quota. */
  readonly throttledRatio: number | undefined;
  /** PSI `some`, 0..1. */
  readonly pressure: number;
}

/** What an arm knows of the machine and, where it is the hand-tuned one, of the load. */
export interface LabFacts {
  /** Of the node, and what pods may have of it together. */
  readonly cpus: number;
  readonly allocatable: Millicores;
  /** What a person who knows the load would have set by hand, by pod. */
  readonly handTuned: Readonly<Record<string, CpuSettings>>;
}

/** One for each run; it sees nothing but its observations, so that runs can be repeated. */
export interface ArmController {
  /** What a pod begins with. */
  initial(pod: LabPod, pods: readonly LabPod[]): CpuSettings;
  /** The settings to put in force, in the order to write them; pods left out keep theirs. */
  tick(observations: readonly PodObservation[], now: Millis): ReadonlyMap<string, CpuSettings>;
}

/** A name, and how to make its controller. */
export interface Arm {
  readonly name: string;
  /** One line for the table's legend. */
  readonly describe: string;
  /**
   * Whole seconds, and at most the two from one point of the plot to the next: an observation tells of the time since
   * the last one, whoever it was made for. Undefined: set once and left alone.
   */
  readonly tickMillis: Millis | undefined;
  create(facts: LabFacts): ArmController;
}
