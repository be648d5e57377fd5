/** The table of an experiment as Markdown, for terminals and for docs. */
import type { Millis } from '../lib/units.ts';
import { labArms } from './arms.ts';
import type { LabRow, PodRow, Spread } from './lab-table.ts';
import { labLoads } from './loads.ts';

/** Services shown one by one; more of them are shown as their worst. */
const MAX_SERVICES = 3;

/**
 * @param rows of any loads and arms, each load's together; loads and arms that are not known any more have no
 * description.
 */
export function labText(rows: readonly LabRow[]): string {
  const loads = [...new Set(rows.map(({ load }) => load))];
  return `${[...loads.map((load) => section(load, rows)), legend(rows)].join('\n\n')}\n`;
}

function section(name: string, rows: readonly LabRow[]): string {
  const own = rows.filter(({ load }) => load === name);
  const describe = labLoads.find((load) => load.name === name)?.describe ?? '';
  const pods = own.toSorted((one, other) => other.pods.length - one.pods.length)[0]?.pods ?? [];
  const services = shownServices(pods);
  const others = pods.filter(({ isService }) => !isService).map(({ pod }) => pod);
  const header = [
    'arm',
    'seeds',
    ...services.flatMap(({ title }) => [`${title} p95 ms`, `${title} bad %`]),
    'throttled s/min',
    ...others.map((pod) => `${pod} CPU m`),
    'writes/min/pod',
    'late writes',
  ];
  const body = own.map((row) => [
    row.arm,
    `${row.runs}`,
    ...services.flatMap(({ pods }) => {
      const chosen = worst(row.pods.filter(({ pod }) => pods.includes(pod)));
      if (chosen === undefined) return ['no room', 'no room'];
      const runs = chosen.runs === row.runs ? '' : `, ${chosen.runs} of ${row.runs} seeds`;
      return [`${latency(chosen.p95Millis)}${runs}`, `${percent(chosen.badShare)}${runs}`];
    }),
    seconds(row.throttledMillis),
    ...others.map((pod) => whole(row.pods.find((each) => each.pod === pod)?.usage)),
    whole(row.writesPerMinute),
    whole(row.lateWrites),
  ]);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const table = [line(header), `|${'---|'.repeat(header.length)}`, ...body.map(line)].join('\n');
  return `### ${name}: ${describe}\n${table}`;
}

interface ShownService {
  readonly title: string;
  readonly pods: readonly string[];
}

function shownServices(pods: readonly PodRow[]): ShownService[] {
  const names = pods.filter(({ isService }) => isService).map(({ pod }) => pod);
  if (names.length <= MAX_SERVICES) return names.map((name) => ({ title: name, pods: [name] }));
  const [first = '', ...rest] = names;
  return [
    { title: first, pods: [first] },
    { title: `worst of ${rest.length}`, pods: rest },
  ];
}

/** By what people waited for: bad answers first, then the 95th percentile. Undefined where none of them found room. */
function worst(pods: readonly PodRow[]): PodRow | undefined {
  return pods.toSorted((a, b) => b.badShare.median - a.badShare.median || b.p95Millis.median - a.p95Millis.median)[0];
}

function legend(rows: readonly LabRow[]): string {
  const used = new Set(rows.map(({ arm }) => arm));
  const lines = labArms.filter(({ name }) => used.has(name)).map(({ name, describe }) => `- \`${name}\`: ${describe}`);
  const where = (isSo: (row: LabRow) => boolean): string =>
    rows
      .filter(isSo)
      .map(({ load, arm }) => `${arm} on ${load}`)
      .join(', ');
  const above = where(({ violations }) => violations > 0);
  const sum =
    above === ''
      ? 'In no run was the sum of requests above what is allocatable.'
      : `The sum of requests was above what is allocatable at times: ${above}.`;
  const full = where(({ unscheduled }) => unscheduled.length > 0);
  const room = full === '' ? '' : ` A pod that came found no room: ${full}.`;
  return `${lines.join('\n')}\n\nMedian (lowest to highest) over the seeds. Bad: no answer within 2 s, or later than 200 ms. ${sum}${room}`;
}

const ranged = ({ median, least, most }: Spread, show: (value: number) => string): string =>
  show(least) === show(most) ? show(median) : `${show(median)} (${show(least)} to ${show(most)})`;
const latency = (spread: Spread): string =>
  ranged(spread, (millis: Millis) => (Number.isFinite(millis) ? `${Math.round(millis)}` : 'lost'));
const percent = (spread: Spread): string => ranged(spread, (share) => `${Math.round(share * 1000) / 10}`);
const seconds = (spread: Spread): string => ranged(spread, (millis) => `${Math.round(millis / 100) / 10}`);
const whole = (spread: Spread | undefined): string =>
  spread === undefined ? '' : ranged(spread, (value) => `${Math.round(value)}`);
