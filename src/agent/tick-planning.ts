/** The plans of one agent, each made on the one before and on what got through of it; none while something is not known for certain. */
import type { NodeMemory } from '../decide/allocation/node-input.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Millis } from '../lib/units.ts';
import { countTick } from './agent-report.ts';
import type { DemandMetrics } from './demand-metrics.ts';
import type { LiveSettings } from './live-settings.ts';
import type { AgentMetrics } from './metrics-text.ts';
import type { NodeStores } from './node-stores.ts';
import { planTick, type Tick, withoutUnsent } from './planner.ts';
import type { QuotaCheck } from './quota-check.ts';
import type { Sampler } from './sampler.ts';
import type { SteadyTime } from './steady-time.ts';

/** The parts of one agent, each made once. */
export interface PlanningParts {
  readonly settings: LiveSettings;
  readonly stores: NodeStores;
  readonly sampler: Sampler;
  readonly demand: DemandMetrics;
  readonly quotas: QuotaCheck;
  readonly steady: SteadyTime;
  readonly clock: Clock;
  readonly monotonic: () => Millis;
  readonly metrics: AgentMetrics;
  readonly log: Logger;
}

export interface TickPlanning {
  /** Why nothing may be decided now. */
  blockedBecause(): string | undefined;
  /** Undefined while that is so. */
  plan(): Tick | undefined;
  /** The newest plan. */
  last(): Tick | undefined;
  /** What was not sent, by uids of pods, counts as not made: the next plan wants it again. */
  settle(tick: Tick, sent: ReadonlySet<string>): void;
}

export function createTickPlanning(parts: PlanningParts): TickPlanning {
  const { settings, stores, sampler, demand, quotas, steady, clock, monotonic, metrics, log } = parts;
  let memory: NodeMemory = new Map();
  let last: Tick | undefined;
  let lastBlocked: string | undefined;

  const blockedBecause = (): string | undefined =>
    settings.isKnown() ? stores.staleBecause() : 'the ConfigMap mbcas-agent-config has not been read yet';
  /** Series of pods that are gone would be told for ever. */
  const forgetGone = (now: Tick): void => {
    const present = new Set(now.plan.pods.map(({ uid }) => uid));
    for (const { uid, namespace, name } of last?.plan.pods ?? [])
      if (!present.has(uid)) metrics.removePod(namespace, name);
  };
  return {
    blockedBecause,
    plan() {
      const blocked = blockedBecause();
      if (blocked !== undefined && blocked !== lastBlocked) log.info({}, `No plan for now: ${blocked}`);
      lastBlocked = blocked;
      const node = stores.node();
      if (blocked !== undefined || node === undefined) return undefined;
      const jump = steady.correct();
      if (jump !== undefined) {
        log.warn({ seconds: Math.round(jump / 1000) }, 'The clock of the machine was set; the plan starts anew');
        memory = new Map();
      }
      const { rules, tickMillis, samplingMillis } = settings.current();
      const time = { steady: steady.now(), wall: clock.now(), monotonic: monotonic() };
      const pods = stores.pods();
      const unenforced = quotas.look(pods, time.monotonic);
      const input = { node, pods, stores, sampler, metricOf: demand.of, memory, unenforced, time };
      const tick = planTick({ ...input, rules, tickMillis, samplingMillis });
      forgetGone(tick);
      last = tick;
      countTick(metrics, tick);
      return tick;
    },
    last: () => last,
    settle(tick, sent) {
      memory = withoutUnsent(tick.plan, memory, sent);
    },
  };
}
