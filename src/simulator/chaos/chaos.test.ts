import { describe, expect, test } from 'vitest';
import { startOperator } from '../../wire.ts';
import type { SimulationReport } from '../report.ts';
import { type ScenarioInput, scenarioSchema } from '../scenario/schema.ts';
import { LONG_CHAOS, randomScenario, SHORT_CHAOS } from './random-scenario.ts';
import { runChaos } from './run-chaos.ts';

/** Few, with every engine among them, alone and together; thousands are for the night: npm run chaos. */
const seeds = [1, 2, 5, 12, 16, 22, 25, 27, 29];
/** One of them, with every engine and two replicas. */
const REPLAYED = 12;
const PER_REPLICA = 25;

describe('random histories', () => {
  const histories = new Map<number, Promise<SimulationReport>>();
  /** Played once, whichever tests look at it. */
  const historyOf = (seed: number): Promise<SimulationReport> => {
    const history = histories.get(seed) ?? runChaos(seed, SHORT_CHAOS, startOperator);
    histories.set(seed, history);
    return history;
  };

  // To see what a failing seed does: npm run chaos -- --short --print --seed N > chaos.yaml; stowage simulate chaos.yaml
  test.each(seeds)('seed %i: every invariant holds', async (seed) => {
    const report = await historyOf(seed);
    expect(report.violations).toEqual([]);
    expect(report.problems).toEqual([]);
    expect(Object.values(report.checks).reduce((sum, each) => sum + each, 0)).toBeGreaterThan(0);
  });

  test('these seeds have every engine among them', () => {
    const drawn = seeds.map((seed) => JSON.stringify(randomScenario(seed, SHORT_CHAOS).operator?.['engines']));
    expect(new Set(drawn).size).toBeGreaterThanOrEqual(3);
    expect(drawn.join()).toMatch(/"rightsizing":true,"allocation":true/);
  });

  test('one of them sizes replicas each for itself', async () => {
    expect((await historyOf(PER_REPLICA)).checks.apart).toBeGreaterThan(0);
  });

  test('the same seed gives the same history, another seed another', async () => {
    const once = await historyOf(REPLAYED);
    expect(await runChaos(REPLAYED, SHORT_CHAOS, startOperator)).toEqual(once);
    for (const seed of seeds.filter((each) => each !== REPLAYED))
      expect((await historyOf(seed)).figures).not.toEqual(once.figures);
  });
});

describe('what is drawn', () => {
  test('is a scenario for any seed and size', () => {
    for (let seed = 0; seed < 500; seed++)
      for (const size of [SHORT_CHAOS, LONG_CHAOS])
        expect(scenarioSchema.safeParse(randomScenario(seed, size)).error).toBeUndefined();
  });

  test('covers every kind of event and fault', () => {
    const drawn: ScenarioInput[] = Array.from({ length: 300 }, (_, seed) => randomScenario(seed, LONG_CHAOS));
    const events = drawn.flatMap((scenario) => scenario.events ?? []);
    expect(new Set(events.map((event) => event.do))).toEqual(
      new Set([
        'close-pools',
        'storm',
        'lose-nodes',
        'webhook-down',
        'rollout',
        'scale',
        'annotate',
        'restart-operator',
        'crash-operator',
        'api-fault',
        'change-policy',
        'metrics-down',
        'kill-agents',
        'drain-nodes',
        'delete-pods',
        'recreate',
        'patch',
        'reload-config',
        'isolate-operator',
        'set-clock',
        'hold-pods',
        'silence-nodes',
        'apply',
        'delete',
        'delete-policy',
        'metrics-wrong',
        'crash-at-write',
        'meddle',
        'recreate-namespace',
        'remove-definitions',
        'rival',
        'watch-storm',
        'restart-api',
      ]),
    );
    const faults = events.flatMap((event) => (event.do === 'api-fault' ? [event.effect.kind] : []));
    expect(new Set(faults).size).toBeGreaterThanOrEqual(10);
  });
});
