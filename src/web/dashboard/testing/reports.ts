/** Reports of simulations as files, for tests. */

export const reportObject = {
  apiVersion: 'cli.stowage.dev/v1',
  kind: 'Simulation',
  scenario: 'storm',
  description: 'Most spot nodes are taken.',
  seed: 7,
  figures: {
    hours: 6,
    podsMean: 86,
    podsPeak: 86,
    cost: 6.72,
    costOnDemand: 11.36,
    savingPercent: 40.81,
    spotPercent: 73.05,
    spotPossiblePercent: 73.26,
    spotGap: 0.2,
    floorViolations: 0,
    floorShortMinutes: 0,
    pdbViolations: 0,
    evictions: 1,
    evictionsBound: 1,
    fallbacks: 0,
    returns: 1,
    interruptions: 4,
    nodesLost: 0,
    rollouts: 0,
    scalings: 0,
    admissions: 123,
    admissionsFailed: 0,
    unsteered: 0,
    waitingMinutes: 63.07,
    downMinutes: 0.78,
    eventsPerHour: 0.5,
    writes: 1,
    resizes: 0,
    retemplates: 0,
    oomKills: 0,
    violations: 0,
    oscillations: 0,
  },
  pools: [
    { name: 'on-demand', class: 'on-demand', instanceType: 'm6i.xlarge', nodeHours: 18, cost: 3.4, costOnDemand: 3.4 },
    { name: 'spot', class: 'spot', instanceType: 'm6i.xlarge', nodeHours: 19.6, cost: 1.7, costOnDemand: 3.8 },
  ],
  reasons: { StormCalm: 1, ReturnedToSpot: 3 },
  asserts: [{ text: 'evictions <= 3', actual: 1, limit: 3, ok: true }],
  violations: [],
  checks: { floor: 10, budget: 20 },
  problems: [],
};

/** @param fields in place of those of {@link reportObject}; undefined leaves one out. */
export const reportText = (fields: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({ ...reportObject, ...fields });

export function comparisonText(): string {
  const { apiVersion, kind: _kind, ...run } = reportObject;
  const other = { ...run, scenario: 'after', figures: { ...run.figures, cost: 5 } };
  return JSON.stringify({ apiVersion, kind: 'SimulationComparison', reports: [{ ...run, scenario: 'before' }, other] });
}
