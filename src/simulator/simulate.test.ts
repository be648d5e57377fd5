import { describe, expect, test } from 'vitest';
import { startOperator } from '../wire.ts';
import type { StartSimulatedOperator } from './operator-port.ts';
import { libraryNames, loadScenario, parseScenario } from './scenario/load-scenario.ts';
import type { Scenario } from './scenario/schema.ts';
import { simulate } from './simulate.ts';

const HOUR = 3_600_000;
const run = (text: string, start: StartSimulatedOperator = startOperator, withSeries = false) =>
  simulate({ scenario: parseScenario(text, 'test.yaml'), folder: '.', startOperator: start, withSeries });

const shop = `
name: shop
duration: 30m
pools:
  - { name: on-demand, class: on-demand, type: m6i.xlarge, min: 1 }
  - { name: spot, class: spot, type: m6i.xlarge, interruptions: 0 }
workloads:
  - { name: web, namespace: shop, spot: 70, floor: 2, replicas: 10, pdb: { maxUnavailable: 2 } }
`;

describe('a simulation', () => {
  test('of a workload that is created and left alone costs no eviction, and reports what it cost', async () => {
    const { figures, violations, pools, problems } = await run(shop);
    expect([violations, problems]).toEqual([[], []]);
    expect(figures).toMatchObject({ hours: 0.5, podsMean: 10, evictions: 0, admissions: 10, unsteered: 0, writes: 0 });
    expect(figures.spotPossiblePercent).toBeCloseTo(70, 5);
    // Pods wait for their first node for less than a minute of thirty.
    expect(figures.spotGap).toBeLessThan(3);
    const paid = pools.reduce((sum, pool) => sum + pool.nodeHours * (pool.class === 'spot' ? 0.192 * 0.45 : 0.192), 0);
    expect(figures.cost).toBeCloseTo(paid, 6);
    expect(figures.savingPercent).toBeGreaterThan(0);
  });

  test('the series adds up to the figures, and ends with the run', async () => {
    const events = `events: [{ at: 5m, do: storm, share: 100%, within: 2m }, { at: 9m, do: lose-nodes, pools: spot, count: 1 }]\n`;
    const text = shop.replace('replicas: 10', 'replicas: 10, cpu: 500m, use: { cpu: 200m }') + events;
    const { series, ...report } = await run(text, startOperator, true);
    // Nobody asks for it here, and the run is the same.
    expect(await run(text)).toStrictEqual(report);
    if (series === undefined) throw new Error('there is no series');
    const { figures } = report;
    const { endMillis, replicas, readySpot, readyOnDemand, cpuRequested, cpuUsed = [] } = series;
    const spanHours = endMillis.map((end, index) => (end - (endMillis[index - 1] ?? 0)) / HOUR);
    const area = (values: readonly number[]): number =>
      values.reduce((sum, value, index) => sum + value * (spanHours[index] ?? Number.NaN), 0);
    const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
    expect(figures.interruptions + figures.nodesLost).toBeGreaterThan(1);
    expect([sum(series.interruptions), sum(series.nodesLost), sum(series.evictions)]).toEqual([
      figures.interruptions,
      figures.nodesLost,
      figures.evictions,
    ]);
    expect(area(series.unavailable) * 60).toBeCloseTo(figures.waitingMinutes, 2);
    // The nodes that were there before the scenario began cost a few seconds more.
    expect(area(series.costPerHour)).toBeLessThanOrEqual(figures.cost);
    expect(area(series.costPerHour) / figures.cost).toBeGreaterThan(0.99);
    expect([replicas.at(-1), readySpot.at(-1), readyOnDemand.at(-1)]).toEqual([10, 7, 3]);
    expect([cpuRequested.at(-1), cpuUsed.at(-1)]).toEqual([5000, 2000]);
    expect(endMillis.at(-1)).toBeCloseTo(figures.hours * HOUR, 6);
  });

  test('the same seed gives the same report, to the last figure', async () => {
    const text = `${shop}events: [{ at: 5m, do: storm, share: 100%, within: 2m }, { at: 10m, do: rollout, workload: shop/web }]\n`;
    expect(await run(text)).toEqual(await run(text));
  });

  test('a change of policy costs as many evictions as pods change sides', async () => {
    const annotate = `{ at: 5m, do: annotate, target: shop/web, annotations: { spotalis.io/spot-percentage: "40" } }`;
    const { figures, violations } = await run(`${shop}events: [${annotate}]\n`);
    expect(violations).toEqual([]);
    expect(figures).toMatchObject({ evictions: 3, evictionsBound: 3 });
  });

  test('pods let in while the webhook was down are repaired, one at a time', async () => {
    const events = `events:\n  - { at: 5m, do: webhook-down, for: 1m }\n  - { at: 5m10s, do: rollout, workload: shop/web }\n`;
    const { figures, violations } = await run(shop + events);
    expect(violations).toEqual([]);
    expect(figures.unsteered).toBeGreaterThan(0);
    expect(figures.evictions).toBeLessThanOrEqual(figures.evictionsBound);
  });

  test('of two events that keep the webhook down, the end of the one is not that of the other', async () => {
    const down = [`{ at: 5m, do: webhook-down, for: 2m }`, `{ at: 5m10s, do: webhook-down, for: 10s }`];
    const text = `${shop}events: [${down.join()}, { at: 6m, do: rollout, workload: shop/web }]\n`;
    expect((await run(text)).figures.unsteered).toBeGreaterThan(0);
  });

  test('in read-only mode nothing is written', async () => {
    const annotate = `{ at: 5m, do: annotate, target: shop/web, annotations: { spotalis.io/spot-percentage: "0" } }`;
    const report = await run(`${shop}operator: { operator: { readOnlyMode: true } }\nevents: [${annotate}]\n`);
    expect(report.violations).toEqual([]);
    expect(report.figures).toMatchObject({ evictions: 0, writes: 0 });
  });

  test('a leader that is lost is replaced', async () => {
    const events = `replicas: 2\nevents: [{ at: 5m, do: crash-operator }, { at: 12m, do: annotate, target: shop/web, annotations: { spotalis.io/spot-percentage: "50" } }]\n`;
    const { figures, violations, problems } = await run(shop + events);
    expect([violations, problems]).toEqual([[], []]);
    expect(figures.evictions).toBe(2);
  });

  test('watches that all break, and an API server that restarts, keep nothing from being done', async () => {
    const annotate = (at: string, spot: number): string =>
      `{ at: ${at}, do: annotate, target: shop/web, annotations: { spotalis.io/spot-percentage: "${spot}" } }`;
    const storm = `{ at: 5m, do: watch-storm, for: 30s }, ${annotate('5m10s', 40)}`;
    const restart = `{ at: 12m, do: restart-api, for: 20s }, ${annotate('12m5s', 60)}`;
    const { figures, violations, problems } = await run(`${shop}replicas: 2\nevents: [${storm}, ${restart}]\n`);
    expect([violations, problems]).toEqual([[], []]);
    expect(figures.evictions).toBe(5);
  });

  test('spot that is not to be had is covered on on-demand, and pods return', async () => {
    const text = `${shop.replace('30m', '5h')}operator: { placement: { fallback: { after: 1m, returnPerWindow: 10 } } }
events:
  - { at: 10m, do: close-pools, pools: spot }
  - { at: 11m, do: storm, share: 100%, within: 1m }
  - { at: 60m, do: open-pools, pools: spot }
`;
    const { figures, violations } = await run(text);
    expect(violations).toEqual([]);
    expect(figures.fallbacks).toBeGreaterThan(0);
    expect(figures.returns).toBeGreaterThan(0);
  });

  test('an event that cannot be played is told', async () => {
    const events =
      'events: [{ at: 1m, do: rollout, workload: shop/nothing }, { at: 1m, do: close-pools, pools: none }]\n';
    expect((await run(shop + events)).problems).toEqual([
      expect.stringContaining('there is no workload shop/nothing'),
      expect.stringContaining('no pool is called none'),
    ]);
  });

  test('configuration and machines that cannot be used are told', async () => {
    await expect(run(`${shop}operator: { placement: { maxPerPool: 0 } }\n`)).rejects.toThrow(/placement.maxPerPool/);
    await expect(run(shop.replace('type: m6i.xlarge, min: 1', 'type: x1'))).rejects.toThrow(
      /type x1 is not in the catalogue/,
    );
  });

  test('ends where time cannot move on, and names what keeps it', async () => {
    const start: StartSimulatedOperator = async (options) => {
      const hotLoop = (): void => void options.clock.setTimer(0, hotLoop);
      options.clock.setTimer(120_000, hotLoop);
      return startOperator(options);
    };
    await expect(run(shop, start)).rejects.toThrow(/^Simulated time stands still at 2026-\S+: timers .* by hotLoop/);
  });

  test('ends where the operator does not', async () => {
    const start: StartSimulatedOperator = async (options) => ({
      ...(await startOperator(options)),
      stop: () => new Promise(() => {}),
    });
    await expect(run(shop, start)).rejects.toMatchObject({ code: 'SIMULATION_STUCK' });
  });

  test('it ends early when asked to, and leaves nothing behind', async () => {
    const stop = new AbortController();
    const ended = simulate({
      scenario: parseScenario(shop, 'test.yaml'),
      folder: '.',
      startOperator,
      signal: stop.signal,
      onProgress: () => stop.abort(new Error('enough')),
    });
    await expect(ended).rejects.toThrow('enough');
  });
});

describe('the library', () => {
  /** The week has a day here, and is whole in `npm run bench -- simulate`; a large cluster is a twentieth of itself. */
  const shortened = (scenario: Scenario): Scenario => {
    const share = scenario.workloads.some(({ copies }) => copies >= 100) ? 1 / 20 : 1;
    return {
      ...scenario,
      duration: scenario.duration <= 24 * HOUR ? scenario.duration : 36 * HOUR,
      pools: scenario.pools.map((pool) => ({ ...pool, min: Math.ceil(pool.min * share) })),
      workloads: scenario.workloads.map((each) => ({ ...each, copies: Math.ceil(each.copies * share) })),
    };
  };

  test.each(libraryNames())('%s: every invariant holds', async (name) => {
    const { scenario, folder } = loadScenario(name);
    const report = await simulate({ scenario: shortened(scenario), folder, startOperator });
    expect(report.violations).toEqual([]);
    expect(report.problems).toEqual([]);
    const failed = report.asserts.filter(({ ok }) => !ok);
    expect(failed).toEqual([]);
  });
});
