/** How fast the simulator is: a day of 1,000 pods, and the week of the library at the published interruption rates. */
import { loadScenario, parseScenario } from '../../src/simulator/scenario/load-scenario.ts';
import type { Scenario } from '../../src/simulator/scenario/schema.ts';
import { simulate } from '../../src/simulator/simulate.ts';
import { startOperator } from '../../src/wire.ts';
import type { BenchResult } from '../bench-result.ts';

/** Load that never rests: half of the workloads follow the day, a tenth of them with noise. */
const thousandPods = `
name: thousand-pods
duration: 24h
pools:
  - { name: on-demand, class: on-demand, type: m6i.xlarge }
  - { name: spot-m6i, class: spot, type: m6i.xlarge }
  - { name: spot-m7g, class: spot, type: m7g.xlarge }
workloads:
  - { name: steady, namespace: shop, copies: 25, replicas: 20, spot: 70, floor: 2, cpu: 250m, memory: 512Mi, pdb: { maxUnavailable: 1 } }
  - name: daily
    namespace: shop
    copies: 25
    replicas: { points: { 0h: 12, 8h: 20, 14h: 28, 20h: 20 }, every: 24h, noise: 0.1 }
    spot: 60
    floor: 3
    cpu: 250m
    memory: 512Mi
    pdb: { maxUnavailable: 25% }
`;

async function timed(scenario: Scenario) {
  const [startedAt, cpuBefore] = [performance.now(), process.cpuUsage()];
  const report = await simulate({ scenario, folder: '.', startOperator });
  const { user, system } = process.cpuUsage(cpuBefore);
  return { report, wallSeconds: (performance.now() - startedAt) / 1000, cpuSeconds: (user + system) / 1e6 };
}

const day = await timed(parseScenario(thousandPods, 'thousand-pods'));
const week = await timed(loadScenario('week').scenario);

const result: BenchResult = {
  name: 'simulate',
  figures: {
    day_1000_pods_wall_seconds: day.wallSeconds,
    day_1000_pods_cpu_seconds: day.cpuSeconds,
    day_1000_pods_violations: day.report.figures.violations,
    week_wall_seconds: week.wallSeconds,
    week_cpu_seconds: week.cpuSeconds,
    week_floor_violations: week.report.figures.floorViolations,
    week_evictions: week.report.figures.evictions,
    week_evictions_bound: week.report.figures.evictionsBound,
    week_interruptions: week.report.figures.interruptions,
    week_spot_gap_points: week.report.figures.spotGap,
    week_saving_percent: week.report.figures.savingPercent,
  },
  bars: [
    { key: 'day_1000_pods_cpu_seconds', op: '<=', value: 10 },
    { key: 'day_1000_pods_violations', op: '==', value: 0 },
    { key: 'week_wall_seconds', op: '<=', value: 60 },
    { key: 'week_floor_violations', op: '==', value: 0 },
    { key: 'week_spot_gap_points', op: '<=', value: 2 },
  ],
};
console.log(JSON.stringify(result));
