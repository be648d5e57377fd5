/** Costs in words, for explain, status and plan. */
import type { DollarsPerHour } from '../../lib/units.ts';
import type { FleetCost, WorkloadCost } from './cost.ts';

/** Mean hours of a month: 365 days / 12. */
const HOURS_PER_MONTH = 730;
/** Below this two costs are the same to people: it is the last digit shown. */
const SMALLEST_SHOWN = 0.0001;

/** `$12.30/h`, `$0.0412/h`: two digits from a dollar up, else four. */
export function hourly(cost: DollarsPerHour): string {
  return `${dollars(cost)}/h`;
}

/** `about $301 a month`, by 730 hours. */
export function monthly(cost: DollarsPerHour): string {
  return `about ${signed(cost * HOURS_PER_MONTH, (value) => value.toFixed(value < 10 ? 2 : 0))} a month`;
}

/** `57 %` of what all on-demand would cost; undefined where that is next to nothing. */
export function savedPercent({
  actual,
  allOnDemand,
}: Pick<WorkloadCost, 'actual' | 'allOnDemand'>): string | undefined {
  return allOnDemand < SMALLEST_SHOWN ? undefined : `${Math.round((100 * (allOnDemand - actual)) / allOnDemand)} %`;
}

/** One sentence a fact, what is not known included. */
export function costLines(cost: WorkloadCost): string[] {
  return [...nowLines(cost), ...targetLines(cost), ...floorLines(cost), ...unknownLines(cost)];
}

/** Before and after in a few words, for one line of a plan. */
export function costChange({ pods, pricedPods, actual, target, unknown }: WorkloadCost): string {
  const missing = pricedPods < pods ? ` (without ${pods - pricedPods} of ${pods} pods: ${unknown.join('; ')})` : '';
  if (pods > 0 && pricedPods === 0) return `unknown: the prices file does not tell ${unknown.join('; ')}`;
  const after = target === undefined || pricedPods < pods ? 'not known' : hourly(target);
  return `${hourly(actual)} now, ${after} after${missing}`;
}

/** The fleet in one or two sentences. */
export function fleetCostLines(cost: FleetCost): string[] {
  const { actual, target, floors } = cost;
  const now = nowLines(cost);
  const after =
    target === undefined || Math.abs(target - actual) < SMALLEST_SHOWN
      ? []
      : [`${hourly(target)}, ${monthly(target)}, once every replica is on the side of its slot`];
  const floor = Math.abs(floors) < SMALLEST_SHOWN ? [] : [`the floors cost ${hourly(floors)}, ${monthly(floors)}`];
  return [...now, ...after, ...floor, ...unknownLines(cost)];
}

function nowLines(cost: Pick<WorkloadCost, 'pods' | 'pricedPods' | 'actual' | 'allOnDemand'>): string[] {
  const { pods, pricedPods, actual, allOnDemand } = cost;
  if (pods === 0) return ['nothing now: no pod is on a node'];
  if (pricedPods === 0) return [];
  const saved = savedPercent(cost);
  if (saved === undefined)
    return ['nothing by this rule: its pods request neither CPU nor memory, or their nodes are free'];
  const saving = allOnDemand - actual;
  const effect = saving < 0 ? `costs ${hourly(-saving)} more` : `saves ${hourly(saving)} (${saved})`;
  return [`${hourly(actual)} now, ${monthly(actual)}; all on on-demand ${hourly(allOnDemand)}: the mix ${effect}`];
}

function targetLines({ target, actual, pods, pricedPods }: WorkloadCost): string[] {
  if (target === undefined || pricedPods === 0 || pricedPods < pods || Math.abs(target - actual) < SMALLEST_SHOWN)
    return [];
  return [`${hourly(target)} once every replica is on the side of its slot`];
}

function floorLines({ floor, pricedPods }: WorkloadCost): string[] {
  if (floor === undefined || pricedPods === 0) return [];
  if (floor.replicas === 0) return ['the floor costs nothing: the percentage leaves as many on on-demand'];
  const replicas = `${floor.replicas} ${floor.replicas === 1 ? 'replica' : 'replicas'}`;
  const cost = floor.cost === undefined ? 'at an unknown cost' : `for ${hourly(floor.cost)}, ${monthly(floor.cost)}`;
  return [`the floor keeps ${replicas} from spot ${cost}`];
}

function unknownLines({ pods, pricedPods, unknown }: Pick<WorkloadCost, 'pods' | 'pricedPods' | 'unknown'>): string[] {
  if (pricedPods === pods) return [];
  const missing = pods - pricedPods;
  const which = missing === pods ? (pods === 1 ? 'its pod' : `all ${pods} pods`) : `${missing} of ${pods} pods`;
  return [`unknown for ${which}: the prices file does not tell ${unknown.join('; ')}`];
}

function dollars(amount: number): string {
  return signed(amount, (value) => value.toFixed(value >= 1 ? 2 : 4));
}

/** The sign stands before the currency: `-$0.10`. */
function signed(amount: number, format: (absolute: number) => string): string {
  const text = format(Math.abs(amount));
  return amount < 0 && Number(text) !== 0 ? `-$${text}` : `$${text}`;
}
