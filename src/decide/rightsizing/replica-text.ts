/** Sizes per replica in words: one line for all of them, one for each. */
import type { ContainerSpecRecord } from '../../model/sizing-records.ts';
import { formatAmount, type ResourceName } from './amount-text.ts';
import { requestOf, type SizedAdvice } from './recommend-workload.ts';

/** What is told of one replica. */
export interface ReplicaTold {
  readonly replica: string;
  /** It has a size of its own. */
  readonly isOwn: boolean;
  /** There is enough history of its own to go by. */
  readonly isKnown: boolean;
  readonly inForce: readonly ContainerSpecRecord[];
  readonly advice: readonly SizedAdvice[];
}

const resources: readonly ResourceName[] = ['cpu', 'memory'];
const MAX_LENGTH = 400;

/**
 * `9 of 10 replicas have sizes of their own: app cpu 120m to 500m, memory 120Mi to 512Mi`.
 * @param isAdvice what is advised, where nothing is applied.
 * @param wanted how many there should be; some may have no running pod at the moment.
 */
export function replicasText(replicas: readonly ReplicaTold[], isAdvice: boolean, wanted = 0): string {
  const told = replicas.filter(({ isOwn, isKnown }) => (isAdvice ? isKnown : isOwn));
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

/** `cpu 120m, memory 120Mi`, and what is advised where that is something else. */
export function replicaText({ inForce, advice, isOwn, isKnown }: ReplicaTold): string {
  const sizes = inForce.map(({ name, size }) => {
    const own = advice.find(({ container }) => container === name);
    const parts = resources.flatMap((resource) => {
      const is = requestOf(resource, size);
      const target = own?.[resource].target;
      if (is === undefined) return [];
      const text = `${resource} ${formatAmount(resource, is)}`;
      return [target === undefined || target === is ? text : `${text} (advised ${formatAmount(resource, target)})`];
    });
    return `${name} ${parts.join(', ')}`;
  });
  const note = isOwn ? '' : isKnown ? ', the size of all' : ', the size of all: its own history is too short';
  return `${sizes.join('; ')}${note}`;
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
