/**
 * The parts of the suites on a real control plane (`npm run test:cluster`). They run side by side, each on a control plane of its own, so that
 * none finds what another leaves: webhooks, definitions, an aggregated API, a whole chart.
 */

/** The files of each part, the longest first. */
const named = {
  placement: ['test/cluster/e2e-*.test.ts'],
  rightsizing: ['test/cluster/rightsizing*.test.ts'],
  engines: ['test/cluster/{allocation,usage,usage-prometheus}.test.ts', 'test/conformance/allocation.conformance.ts'],
  replicas: ['test/cluster/ha-{disruptions,certificates}.test.ts'],
  outages: ['test/cluster/allocation-outage.test.ts'],
  bursts: ['test/cluster/ha-bursts.test.ts'],
  install: ['test/cluster/{install,install-life,install-rights,install-values}.test.ts'],
  harness: ['test/cluster/{control-plane,kube-client,kube-restore}.test.ts'],
} as const;
const all = ['test/cluster/**/*.test.ts', 'test/conformance/**/*.conformance.ts'];

export type PartName = keyof typeof named | 'base';

/** In the order in which they begin. `base` is what belongs to no other part. */
export const partNames: readonly PartName[] = [
  'rightsizing',
  'base',
  'placement',
  'engines',
  'replicas',
  'outages',
  'bursts',
  'install',
  'harness',
];

export interface PartFiles {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** Their files start a control plane of their own, to kill or freeze it, and get no other. */
  readonly startsItsOwn: boolean;
}

/** @param mode of the runner; any but a part's name stands for all files. */
export function filesOf(mode: string | undefined): PartFiles {
  const [, include = all] = Object.entries(named).find(([name]) => name === mode) ?? [];
  return {
    include,
    exclude: mode === 'base' ? Object.values(named).flat() : [],
    startsItsOwn: mode === 'harness' || mode === 'outages',
  };
}

export interface Choice {
  readonly parts: readonly PartName[];
  /** So many side by side, at most. */
  readonly atOnce: number;
}

/** They wait for most of the time: for a lease to end, for figures to be scraped, for a pause to be over. */
const AT_ONCE = 5;

/**
 * What a command line asks for: `--only PART,...` or `--except PART,...`, and `--at-once N`; without any of it, every part.
 * @returns undefined where it names files, or passes options on to the runner.
 * @throws Error for a part there is not, and for a number that is none.
 */
export function chosenParts(args: readonly string[]): Choice | undefined {
  let parts = partNames;
  let atOnce = AT_ONCE;
  for (let index = 0; index < args.length; index += 2) {
    const [option, value = ''] = args.slice(index, index + 2);
    if (option === '--at-once') atOnce = countIn(value);
    else if (option === '--only') parts = listed(option, value);
    else if (option === '--except') {
      const others = listed(option, value);
      parts = partNames.filter((name) => !others.includes(name));
    } else return undefined;
  }
  return { parts, atOnce };
}

function listed(option: string, list: string): PartName[] {
  const names = list.split(',');
  const unknown = names.filter((name) => !partNames.some((each) => each === name));
  if (unknown.length > 0)
    throw new Error(`${option} names "${unknown.join('", "')}"; the parts are ${partNames.join(', ')}`);
  return partNames.filter((name) => names.includes(name));
}

function countIn(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new Error(`--at-once takes a whole number from 1 on, not "${text}"`);
  return count;
}
