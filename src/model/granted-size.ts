/**
 * What a pod asks for beyond what its node has granted: what a resize still has to bring about, and what taking it back
 * would write.
 */
import { type SizeChange, type SizeKey, sizeKeys, sizePaths } from './pod-size.ts';
import type { ContainerSize, ContainerSpecRecord, ContainerStatusRecord, PodSizing } from './sizing-records.ts';

/**
 * CPU quota may be rounded to 10 ms of a period, which is 10m of a limit; shares of a request lose a few thousandths.
 */
const CPU_TOLERANCE_MILLIS = 10;
/** The kernel counts memory in pages. */
const MEMORY_TOLERANCE_BYTES = 4096;

type Granted = Pick<PodSizing, 'containers' | 'statuses'>;

/**
 * What of `changes` is not in force on the node yet; empty once all of it is. Where the kubelet does not say what is in
 * force, nothing is.
 */
export function notInForce({ statuses }: Pick<PodSizing, 'statuses'>, changes: readonly SizeChange[]): SizeChange[] {
  return pick(changes, ({ container, to }, key) => {
    const [wanted, is] = [to[key], statusOf(statuses, container)?.actual?.[key]];
    if (wanted === undefined) return undefined;
    return is !== undefined && Math.abs(is - wanted) <= toleranceOf(key) ? undefined : wanted;
  });
}

export function isInForce(sizing: Pick<PodSizing, 'statuses'>, changes: readonly SizeChange[]): boolean {
  return notInForce(sizing, changes).length === 0;
}

/** What the spec asks for is in force, all of it, and the kubelet has nothing left to say to it. */
export function isSettled({ containers, statuses, resize, generation, observedGeneration = generation }: PodSizing) {
  const asked = containers.map(({ name, size }): SizeChange => ({ container: name, to: size }));
  const isAnswered = resize.pending === undefined && resize.inProgress === undefined;
  return isAnswered && observedGeneration >= generation && isInForce({ statuses }, asked);
}

/**
 * The containers with the sizes that are in force on the node instead of those of the spec; none where the kubelet does
 * not say.
 */
export function sizesInForce({ containers, statuses }: Granted): ContainerSpecRecord[] {
  return containers.map((container) => ({ ...container, size: statusOf(statuses, container.name)?.actual ?? {} }));
}

/**
 * What takes a resize back: requests to what the kubelet has allocated (in force, where it does not say), limits to
 * what is in force. A limit that was not there before stays, as the API lets none be removed. Empty where the spec asks
 * for nothing else.
 * @param keys what whoever takes back may write.
 */
export function withdrawalChanges(
  { containers, statuses }: Granted,
  keys: readonly SizeKey[] = sizeKeys,
): SizeChange[] {
  const asked = containers.map(({ name, size }): SizeChange => ({ container: name, to: size }));
  return pick(asked, ({ container, to }, key) => {
    if (!keys.includes(key)) return undefined;
    const status = statusOf(statuses, container);
    const held = (sizePaths[key].list === 'requests' ? status?.allocated?.[key] : undefined) ?? status?.actual?.[key];
    return held === to[key] ? undefined : held;
  });
}

/** A change of every container for which `amountOf` has an amount to write. */
function pick(
  changes: readonly SizeChange[],
  amountOf: (change: SizeChange, key: SizeKey) => number | undefined,
): SizeChange[] {
  return changes.flatMap((change) => {
    const to: { -readonly [Key in keyof ContainerSize]?: number } = {};
    for (const key of sizeKeys) {
      const amount = amountOf(change, key);
      if (amount !== undefined) to[key] = amount;
    }
    return Object.keys(to).length === 0 ? [] : [{ container: change.container, to }];
  });
}

function statusOf(statuses: readonly ContainerStatusRecord[], name: string): ContainerStatusRecord | undefined {
  return statuses.find((status) => status.name === name);
}

function toleranceOf(key: SizeKey): number {
  return sizePaths[key].resource === 'cpu' ? CPU_TOLERANCE_MILLIS : MEMORY_TOLERANCE_BYTES;
}
