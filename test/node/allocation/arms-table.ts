/** Runs of arms as a table in Markdown: medians with their range. */
import { type Spread, spreadOf } from '../../../src/lab/lab-table.ts';
import type { PodFigures } from '../../../src/lab/pod-figures.ts';
import type { ArmRun } from './arm-run.ts';
import { nodeArms } from './arms.ts';

const header = [
  'arm',
  'request of A',
  'A p50 ms',
  'A p95',
  'A p99',
  'A lost %',
  'A bad %',
  'B p50 ms',
  'B p95',
  'B p99',
  'B lost %',
  'B bad %',
  'CPU m A / B / hog / rest (own)',
  'throttled s A / B / hog',
  'writes/min/pod',
];

export function armsTable(runs: readonly ArmRun[]): string {
  const groups = new Map<string, ArmRun[]>();
  for (const run of runs) {
    const key = `${run.requests} ${run.arm}`;
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rows = [...groups.values()].map((group) => line(row(group)));
  return [line(header), `|${'---|'.repeat(header.length)}`, ...rows, '', ...legend(runs)].join('\n');
}

function row(group: readonly ArmRun[]): string[] {
  const [first] = group;
  const of = (pod: string, figure: (figures: PodFigures) => number): Spread =>
    spreadOf(group.flatMap(({ pods }) => pods.filter((each) => each.pod === pod).map(figure)));
  const service = (pod: string): string[] => [
    latency(of(pod, ({ p50Millis }) => p50Millis)),
    latency(of(pod, ({ p95Millis }) => p95Millis)),
    latency(of(pod, ({ p99Millis }) => p99Millis)),
    percent(of(pod, ({ lostShare }) => lostShare)),
    percent(of(pod, ({ badShare }) => badShare)),
  ];
  const all = (figure: (figures: PodFigures) => number, show: (value: number) => string): string =>
    ['a', 'b', 'hog'].map((pod) => show(of(pod, figure).median)).join(' / ');
  return [
    first?.arm ?? '',
    first?.requests === 'wrong' ? '100m' : '600m',
    ...service('a'),
    ...service('b'),
    `${all(({ usage }) => usage, whole)} / ${whole(spreadOf(group.map(({ rest }) => rest)).median)} (${whole(spreadOf(group.map(({ own }) => own)).median)})`,
    all(({ throttledMillis }) => throttledMillis / 1000, tenth),
    ranged(spreadOf(group.map(({ writesPerMinute }) => writesPerMinute)), tenth),
  ];
}

function legend(runs: readonly ArmRun[]): string[] {
  const used = new Set(runs.map(({ arm }) => arm));
  const restarts = runs.reduce((sum, run) => sum + run.restarts, 0);
  const highest = Math.max(...runs.map(({ highestSum }) => highestSum));
  return [
    ...nodeArms.filter(({ name }) => used.has(name)).map(({ name, describe }) => `- \`${name}\`: ${describe}`),
    '',
    `Median, and the range where runs differ. Latency from the intended time of sending; lost: no answer in 2 s; bad: lost or later than 200 ms. CPU and throttled time are medians; rest: all else on the machine, the load generator, control plane and kubelet among it; own: of the rest, agent and operator. Restarts in all runs: ${restarts}; highest sum of what pods held at any event: ${highest}m.`,
  ];
}

const ranged = ({ median, least, most }: Spread, show: (value: number) => string): string =>
  show(least) === show(most) ? show(median) : `${show(median)} (${show(least)}-${show(most)})`;
const whole = (value: number): string => String(Math.round(value));
const tenth = (value: number): string => (Math.round(value * 10) / 10).toFixed(1);
const latency = (spread: Spread): string =>
  ranged(spread, (millis) => (Number.isFinite(millis) ? whole(millis) : 'lost'));
const percent = (spread: Spread): string => ranged(spread, (share) => tenth(100 * share));
