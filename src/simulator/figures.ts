/** Every figure a simulation reports: its name, its unit, and what it means. Assertions are about these. */

export const figureMeanings = {
  hours: 'simulated time, hours',
  podsMean: 'replicas asked for, mean over time',
  podsPeak: 'most replicas asked for at one time',
  cost: 'what the nodes cost, in the unit of the prices',
  costOnDemand: 'what the same nodes would have cost on on-demand',
  savingPercent: 'saved against all on-demand, percent',
  spotPercent: 'replicas that ran on spot, mean over time, percent',
  spotPossiblePercent: 'replicas that could have run on spot by policy and capacity, mean over time, percent',
  spotGap: 'spotPossiblePercent less spotPercent, percentage points',
  floorViolations: 'evictions by Stowage that broke the on-demand floor',
  floorShortMinutes: 'workload-minutes with fewer ready on-demand pods than the floor, whatever the cause',
  pdbViolations: 'evictions by Stowage that broke a PodDisruptionBudget',
  evictions: 'running pods evicted by Stowage',
  evictionsBound: 'most evictions that the changes of the scenario can explain',
  fallbacks: 'pods that waited for spot and were recreated on on-demand',
  returns: 'evictions that brought temporary cover back to spot',
  interruptions: 'spot nodes taken by the cloud',
  nodesLost: 'nodes lost without notice',
  rollouts: 'rollouts begun',
  scalings: 'changes of replicas',
  admissions: 'pods admitted through the webhook',
  admissionsFailed: 'admissions without a proper answer while the webhook was up',
  unsteered: 'pods of managed workloads admitted without a slot',
  waitingMinutes: 'pod-minutes of replicas that were not ready',
  downMinutes: 'workload-minutes without any ready pod',
  eventsPerHour: 'Kubernetes events written by Stowage, an hour',
  writes: 'writes by Stowage other than events and leases',
  resizes: 'pods resized in place',
  retemplates: 'templates given another size',
  oomKills: 'containers killed for want of memory',
  violations: 'invariants broken, of all kinds',
  oscillations: 'places moved back and forth without a cause',
} as const;

export type Figure = keyof typeof figureMeanings;
export type Figures = Readonly<Record<Figure, number>>;

export function isFigure(name: string): name is Figure {
  return Object.hasOwn(figureMeanings, name);
}
