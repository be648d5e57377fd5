/** Sizes per replica in words: one line for all of them, one for each. */
import { formatTime } from '../../lib/rfc3339.ts';
import type { LearnedFloor } from '../../model/learned-floors.ts';
import { type ReplicaState, withReplicaSizes } from '../../model/replica-sizes.ts';
import type { ContainerSize, ContainerSpecRecord } from '../../model/sizing-records.ts';
import { formatAmount, type ResourceName } from './amount-text.ts';
import { requestOf, type SizedAdvice } from './recommend-workload.ts';

/** What is told of one replica. */
export interface ReplicaTold {
  readonly replica: string;
  /** The name of its pod; undefined where none runs. */
  readonly pod: string | undefined;
  /** Undefined: it has the size of all. */
  readonly state: ReplicaState | undefined;
  /** There is enough history of its own to go by. */
  readonly isKnown: boolean;
  readonly inForce: readonly ContainerSpecRecord[];
  readonly advice: readonly SizedAdvice[];
}

/** Its own advice is for it, not that of all. */
export function goesItsOwnWay({ state, isKnown }: Pick<ReplicaTold, 'state' | 'isKnown'>): boolean {
  return state !== undefined || isKnown;
}

const resources: readonly ResourceName[] = ['cpu', 'memory'];
const MAX_LENGTH = 400;

/**
 * `9 of 10 replicas have sizes of their own: app cpu 120m to 500m, memory 120Mi to 512Mi`.
 * @param isAdvice what is advised, where nothing is applied.
 * @param wanted how many there should be; some may have no running pod at the moment.
 */
export function replicasText(replicas: readonly ReplicaTold[], isAdvice: boolean, wanted = 0): string {
  const told = replicas.filter(({ state, isKnown }) => (isAdvice ? isKnown : state !== undefined));
  const what = isAdvice ? 'can be told apart by their usage' : 'have sizes of their own';
  const head = `${told.length} of ${Math.max(wanted, replicas.length)} replicas ${what}`;
  const names = told[0]?.inForce.map(({ name }) => name) ?? [];
  const ranges = names.flatMap((name) => {
    const parts = resources.flatMap((resource) => {
      const amounts = told.flatMap((each) => amountOf(each, name, resource, isAdvice) ?? []);
      return amounts.length === 0 ? [] : [`${resource} ${rangeText(resource, amounts)}`];
    });
    return parts.length === 0 ? [] : [`${name} ${parts.join(', ')}`];
  });
  const text = ranges.length === 0 ? head : `${head}: ${ranges.join('; ')}`;
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH - 3)}...`;
}

/** `app cpu 120m (advised 240m), memory 120Mi; since 2026-01-05T08:00:00Z`, and what else is to be known of it. */
export function replicaText({ inForce, advice, state, isKnown }: ReplicaTold): string {
  const sizes = inForce.map(({ name, size }) => {
    const own = advice.find(({ container }) => container === name);
    const adviceOf = (resource: ResourceName, is: number): string => {
      const target = own?.[resource].target;
      return target === undefined || target === is ? '' : ` (advised ${formatAmount(resource, target)})`;
    };
    return `${name} ${sizeText(size, adviceOf)}`;
  });
  const notes = state === undefined ? [sizeOfAll(isKnown)] : notesOf(state, inForce);
  return [...sizes, ...notes].join('; ');
}

function sizeOfAll(isKnown: boolean): string {
  return isKnown ? 'the size of all' : 'the size of all: its own history is too short';
}

function notesOf(state: ReplicaState, inForce: readonly ContainerSpecRecord[]): readonly string[] {
  const { changedAt, before, lessons } = state;
  const had =
    before && withReplicaSizes(inForce, { sizes: before }).map(({ name, size }) => `${name} ${sizeText(size)}`);
  return [
    ...(changedAt === undefined ? [] : [`since ${formatTime(changedAt)}`]),
    ...(had === undefined ? [] : [`watched: it had ${had.join(', ')}`]),
    ...lessons.floors.map(floorText),
  ];
}

/** What of a replica is not lowered for now, and why. */
export function floorText({ container, resource, atLeast, until }: LearnedFloor): string {
  return `${container} ${resource} not below ${formatAmount(resource, atLeast)} until ${formatTime(until)}: less did harm`;
}

function sizeText(size: ContainerSize, more: (resource: ResourceName, is: number) => string = () => ''): string {
  const parts = resources.flatMap((resource) => {
    const is = requestOf(resource, size);
    return is === undefined ? [] : [`${resource} ${formatAmount(resource, is)}${more(resource, is)}`];
  });
  return parts.join(', ');
}

function amountOf(
  { inForce, advice }: ReplicaTold,
  name: string,
  resource: ResourceName,
  isAdvice: boolean,
): number | undefined {
  if (isAdvice) return advice.find(({ container }) => container === name)?.[resource].target;
  const container = inForce.find((each) => each.name === name);
  return container && requestOf(resource, container.size);
}

function rangeText(resource: ResourceName, amounts: readonly number[]): string {
  const [least, most] = [Math.min(...amounts), Math.max(...amounts)];
  const text = formatAmount(resource, least);
  return least === most ? text : `${text} to ${formatAmount(resource, most)}`;
}
