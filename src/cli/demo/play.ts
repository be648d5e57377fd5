/** Plays the story on the world: act, watch until all is at rest again, judge, next chapter; until the time is up or the user had enough. */
import { type Clock, pause } from '../../lib/clock.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import { type PlannedWorkload, planFleet } from '../fleet.ts';
import { counted } from '../plural.ts';
import type { PodShare } from './demo-shares.ts';
import type { DemoWorld } from './demo-world.ts';
import { type DecisionLine, type Frame, type NodeLine, nodeLines, workloadLine } from './frame.ts';
import { type InvariantMonitor, invariants, type Observation } from './invariants.ts';
import type { Presenter } from './presenter.ts';
import { sharesText } from './share-text.ts';
import { type Chapter, isAtRest, nextChapter, type Scene } from './story.ts';

export interface PlayOptions {
  readonly world: DemoWorld;
  readonly monitor: InvariantMonitor;
  readonly presenter: Presenter;
  readonly clock: Clock;
  readonly startedAt: EpochMillis;
  /** Undefined plays until the signal fires. */
  readonly runMillis: Millis | undefined;
  readonly signal: AbortSignal;
}

export interface Played {
  /** Chapters brought to their end. */
  readonly chapters: number;
  readonly evictions: number;
  /** Of the node whose CPU is shared out, at first and in the end. */
  readonly shares: { readonly first: readonly PodShare[]; readonly last: readonly PodShare[] };
}

const TICK_MILLIS = 250;
/** Rest has to last: a pod may be ready a moment before the next one goes. In ticks, as nothing happens while the machine stands still. */
const CALM_TICKS = 6;
/** A tick that comes so late comes to another world: the lid was closed, or everybody else had the processor. */
const STANDSTILL_MILLIS: Millis = 5_000;
/** As many times longer a chapter may take after that, and the first one anyway. */
const PATIENCE = 4;
/** Longer than asked for, until the first chapter is at its end: without one there is nothing to judge. */
const FIRST_CHAPTER_MILLIS: Millis = 120_000;
/** Time for the audience between two chapters. */
const PAUSE_MILLIS = 2500;
/**
 * A third spot node within ten minutes would be a storm (decide/placement/spot-losses.ts); machines go some time after
 * their notice.
 */
const MAX_LOSSES = 2;
const LOSSES_APART_MILLIS: Millis = 780_000;
/** Decisions kept for the screen. */
const MAX_DECISIONS = 50;

interface Looked {
  readonly workloads: readonly PlannedWorkload[];
  /** The machine stood still meanwhile. */
  readonly wasStill: boolean;
}

/** Runs until its time is over or `signal` aborts, and tells what was seen. */
export async function play(options: PlayOptions): Promise<Played> {
  const { world, monitor, presenter, clock, startedAt, runMillis, signal } = options;
  const decisions: DecisionLine[] = [];
  let story = 'The cluster starts.';
  let chapters = 0;
  const losses: EpochMillis[] = [];
  const firstReplicas = new Map<string, number>();
  let restarts = world.restarts();
  let shares: Played['shares'] = { first: [], last: [] };
  const unsubscribe = world.onDecision((line) => {
    decisions.push(line);
    if (decisions.length > MAX_DECISIONS) decisions.shift();
    presenter.decision(line);
  });
  const isOver = (): boolean => {
    const more = chapters === 0 ? FIRST_CHAPTER_MILLIS : 0;
    return signal.aborted || (runMillis !== undefined && clock.now() - startedAt >= runMillis + more);
  };

  const look = (): readonly PlannedWorkload[] => planFleet(world.view, world.rules, clock.now());
  const managedOf = (all: readonly PlannedWorkload[]): PlannedWorkload[] =>
    all.filter(({ plan }) => plan.policy.state !== 'unmanaged');

  /** One look at the world: judged, shown, and returned. */
  const tick = async (): Promise<Looked> => {
    const workloads = managedOf(look());
    for (const { workload } of workloads)
      if (!firstReplicas.has(workloadKey(workload))) firstReplicas.set(workloadKey(workload), workload.replicas);
    monitor.observe(observationOf(workloads));
    const last = world.shares();
    // Until both run and use something there is nothing to compare with.
    const isFirst = shares.first.length < 2 && last.every(({ used }) => used > 0);
    shares = { first: isFirst ? last : shares.first, last };
    presenter.show(frameOf(workloads));
    const before = clock.now();
    await pause(clock, TICK_MILLIS, signal);
    const isLate = clock.now() - before > TICK_MILLIS + STANDSTILL_MILLIS;
    const wasStill = !signal.aborted && (isLate || world.restarts() !== restarts);
    if (wasStill) {
      restarts = world.restarts();
      monitor.excuse();
      presenter.announce('The machine stood still for a while. The story goes on when everything is at rest again.');
    }
    return { workloads, wasStill };
  };

  const observationOf = (workloads: readonly PlannedWorkload[]): Observation => ({
    workloads,
    budgets: world.budgets(),
    evictions: world.evictions(),
    losesNodes: nodeLines(world.view, world.rules.sides).some(isLosingPods),
  });

  const frameOf = (workloads: readonly PlannedWorkload[]): Frame => ({
    elapsedMillis: clock.now() - startedAt,
    story,
    nodes: nodeLines(world.view, world.rules.sides),
    workloads: workloads.map(workloadLine),
    decisions,
    evictions: world.evictions(),
    shares: sharesText(shares.last),
    violations: monitor
      .results()
      .flatMap(({ violation, invariant }) =>
        violation === undefined ? [] : [`${invariants[invariant]} (${violation})`],
      ),
  });

  /** @returns whether it was watched to its end. */
  const watch = async ({ limitMillis }: Chapter): Promise<boolean> => {
    // The first one begins with nothing running, on a machine that nobody knows.
    let ticksLeft = ((chapters === 0 ? PATIENCE : 1) * limitMillis) / TICK_MILLIS;
    let calmTicks = 0;
    while (!isOver()) {
      const { workloads, wasStill } = await tick();
      const seen = observationOf(workloads);
      if (wasStill) {
        ticksLeft = (PATIENCE * limitMillis) / TICK_MILLIS;
        calmTicks = 0;
      }
      // Pods that are still to be drained go in a later chapter, or with their machine.
      calmTicks = isAtRest(seen.workloads) && !seen.losesNodes ? calmTicks + 1 : 0;
      if (calmTicks <= CALM_TICKS && --ticksLeft > 0) continue;
      monitor.judgeRest(seen);
      return true;
    }
    return false;
  };

  try {
    while (!isOver()) {
      const recent = losses.filter((at) => clock.now() - at < LOSSES_APART_MILLIS);
      const scene: Scene = {
        workloads: managedOf(look()),
        nodes: nodeLines(world.view, world.rules.sides),
        isCalm: recent.length < MAX_LOSSES,
        firstReplicas,
      };
      const chapter = nextChapter(scene, chapters);
      story = chapter.text;
      presenter.announce(chapter.text);
      monitor.begin(chapter.circumstances);
      if (chapter.circumstances.losesNodes) losses.push(clock.now());
      await chapter.act(world.actor);
      const before = clock.now();
      if (await watch(chapter)) chapters++;
      if (isOver()) break;
      presenter.announce(
        `At rest after ${Math.round((clock.now() - before) / 1000)} s; ${counted(world.evictions(), 'eviction')} so far.`,
      );
      let wasDisturbed = false;
      const resumeAt = clock.now() + PAUSE_MILLIS;
      while (!isOver() && clock.now() < resumeAt) wasDisturbed = (await tick()).wasStill || wasDisturbed;
      if (wasDisturbed) await watch({ ...chapter, limitMillis: PATIENCE * chapter.limitMillis });
    }
    return { chapters, evictions: world.evictions(), shares };
  } finally {
    unsubscribe();
  }
}

/** Somebody else makes pods of this node go, or nobody knows how they are. */
function isLosingPods({ state, podCount }: NodeLine): boolean {
  return state !== 'ready' && podCount > 0;
}
