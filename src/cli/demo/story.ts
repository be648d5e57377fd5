/** What happens in the demo, chapter by chapter: each is an act by someone else, which placement has to answer. */
import type { PlacementPolicy } from '../../decide/placement/policy.ts';
import { countsFor } from '../../decide/placement/slots.ts';
import type { Millis } from '../../lib/units.ts';
import { type WorkloadRef, workloadKey } from '../../model/cluster-view.ts';
import type { PlannedWorkload } from '../fleet.ts';
import { counted } from '../plural.ts';
import type { NodeLine } from './frame.ts';
import type { Circumstances } from './invariants.ts';

/** What the story does to the world. */
export interface Actor {
  applyWorkloads(): Promise<void>;
  /** Gives a spot node its notice; its pods are drained, as cloud node termination handlers do. */
  interrupt(node: string): void;
  scale(workload: WorkloadRef, replicas: number): Promise<void>;
  setSpotPercentage(workload: WorkloadRef, percent: number): Promise<void>;
}

export interface Scene {
  readonly workloads: readonly PlannedWorkload[];
  readonly nodes: readonly NodeLine[];
  /** One more spot node may be lost without its being a storm, in which nothing is moved for many minutes. */
  readonly isCalm: boolean;
  /** Replicas of each workload when it was first seen, by its key. */
  readonly firstReplicas: ReadonlyMap<string, number>;
}

export interface Chapter {
  /** One or two sentences for the audience. */
  readonly text: string;
  readonly circumstances: Circumstances;
  /** The cluster has to be at rest again after this time. */
  readonly limitMillis: Millis;
  act(actor: Actor): Promise<void>;
}

const LIMIT_MILLIS: Millis = 45_000;
/** What the pools of the demo hold, and a screen shows. */
const MAX_REPLICAS = 24;
const QUIET: Circumstances = { losesNodes: false };

/** The first chapter. */
const burst: Chapter = {
  text: 'Chapter 1: all workloads are created at once. The webhook gives each pod a slot, so the mix is right without an eviction.',
  circumstances: QUIET,
  limitMillis: LIMIT_MILLIS,
  act: (actor) => actor.applyWorkloads(),
};

/** Chapters 2, 3, ...: they come round again as long as the demo runs. Undefined where the scene does not lend itself to it. */
const rounds: readonly ((scene: Scene, number: number) => Chapter | undefined)[] = [
  interruption,
  growth,
  lowerPercentage,
  shrink,
  raisePercentage,
];

/** The chapter after `done` chapters, given how the cluster looks now. */
export function nextChapter(scene: Scene, done: number): Chapter {
  if (done === 0) return burst;
  for (let skip = 0; skip < rounds.length; skip++) {
    const chapter = rounds[(done - 1 + skip) % rounds.length]?.(scene, done + 1);
    if (chapter !== undefined) return chapter;
  }
  return {
    text: `Chapter ${done + 1}: nothing happens, and nothing is done.`,
    circumstances: QUIET,
    limitMillis: LIMIT_MILLIS,
    act: async () => {},
  };
}

function interruption({ nodes, isCalm }: Scene, number: number): Chapter | undefined {
  if (!isCalm) return undefined;
  const [node] = nodes
    .filter((each) => each.class === 'spot' && each.state === 'ready')
    .sort((a, b) => b.podCount - a.podCount);
  if (node === undefined) return undefined;
  return {
    text: `Chapter ${number}: the cloud takes back spot node ${node.name} with ${counted(node.podCount, 'pod')}. Their replacements take the freed slots: on spot again.`,
    circumstances: { losesNodes: true },
    limitMillis: LIMIT_MILLIS,
    act: async (actor) => actor.interrupt(node.name),
  };
}

function growth(scene: Scene, number: number): Chapter | undefined {
  const planned = biggest(scene);
  if (planned === undefined) return undefined;
  const { replicas, name } = planned.workload;
  // A round grows a workload more often than it shrinks one where other chapters are left out.
  const grown = Math.min(MAX_REPLICAS, Math.ceil(replicas * 1.6));
  if (grown <= replicas) return undefined;
  return scaling(planned, grown, `Chapter ${number}: ${name} grows from ${replicas} to`);
}

/** Back towards what it was at first, and not below: a budget may need as many pods. */
function shrink(scene: Scene, number: number): Chapter | undefined {
  const firstOf = ({ workload }: PlannedWorkload): number =>
    scene.firstReplicas.get(workloadKey(workload)) ?? workload.replicas;
  const planned = biggest(scene, (each) => each.workload.replicas > firstOf(each));
  if (planned === undefined) return undefined;
  const { replicas, name } = planned.workload;
  const fewer = Math.max(firstOf(planned), Math.floor(replicas / 2));
  return scaling(planned, fewer, `Chapter ${number}: ${name} shrinks from ${replicas} to`);
}

function scaling({ workload, plan }: PlannedWorkload, replicas: number, text: string): Chapter | undefined {
  const target = targetFor(plan.policy, replicas);
  if (target === undefined) return undefined;
  return {
    text: `${text} ${replicas} replicas, which makes ${target.spot} on spot and ${target.onDemand} on on-demand, without an eviction.`,
    circumstances: QUIET,
    limitMillis: LIMIT_MILLIS,
    act: (actor) => actor.scale(workload, replicas),
  };
}

function lowerPercentage(scene: Scene, number: number): Chapter | undefined {
  return changePercentage(biggest(scene, canBeMoved), -30, number);
}

function raisePercentage(scene: Scene, number: number): Chapter | undefined {
  return changePercentage(biggest(scene, canBeMoved), 30, number);
}

function changePercentage(planned: PlannedWorkload | undefined, by: number, number: number): Chapter | undefined {
  if (planned === undefined || planned.plan.policy.state !== 'managed') return undefined;
  const { workload, plan } = planned;
  const { rule } = planned.plan.policy;
  const percent = Math.min(100, Math.max(0, rule.spotPercentage + by));
  const target = countsFor({ ...rule, spotPercentage: percent }, workload.replicas);
  const moves = Math.abs(target.spot - plan.actual.spot);
  if (moves === 0) return undefined;
  return {
    text: `Chapter ${number}: ${workload.name} is set from ${rule.spotPercentage} to ${percent} % spot. ${counted(moves, 'pod')} must move: one eviction at a time, each after the last replacement is ready.`,
    circumstances: QUIET,
    limitMillis: LIMIT_MILLIS,
    act: (actor) => actor.setSpotPercentage(workload, percent),
  };
}

/** Pods of a workload with a window may have to wait for it until night. */
function canBeMoved({ plan }: PlannedWorkload): boolean {
  return plan.policy.state === 'managed' && plan.policy.window === undefined;
}

/** The managed Deployment with the most replicas, of those that are `suited`. */
function biggest(
  { workloads }: Scene,
  suited: (planned: PlannedWorkload) => boolean = () => true,
): PlannedWorkload | undefined {
  return workloads
    .filter(({ workload, plan }) => workload.kind === 'Deployment' && plan.policy.state === 'managed')
    .filter(suited)
    .sort((a, b) => b.workload.replicas - a.workload.replicas)[0];
}

function targetFor(policy: PlacementPolicy, replicas: number) {
  return policy.state === 'managed' ? countsFor(policy.rule, replicas) : undefined;
}

/** Every replica is there, ready, on its side, and nothing is going. */
export function isAtRest(workloads: readonly PlannedWorkload[]): boolean {
  return (
    workloads.length > 0 &&
    workloads.every(
      ({ workload, plan, isBalanced, ready }) =>
        isBalanced && ready === workload.replicas && plan.pods.every(({ state }) => state === 'settled'),
    )
  );
}
