/**
 * Changes that are looked after side by side: what may begin beside them, and what becomes of them. More is given at
 * once, whatever is being watched; less waits only for what is about the same resource, and for the first pod of
 * another decrease.
 */
import type { ReasonName } from '../../lib/reasons.ts';
import { qosClassOf, type SizeChange, type SizeKey, sizeKeys, sizeOfContainer } from '../../model/pod-size.ts';
import type { ContainerSize, ContainerSpecRecord, QosClass } from '../../model/sizing-records.ts';
import {
  changedResources,
  includesPart,
  isDecrease,
  keysOf,
  loweredResources,
  type SizedPart,
  type WatchedChange,
} from './watched-change.ts';

/** A watched change and how far it has got. */
export type ChangeInPhase = Pick<WatchedChange, 'changes' | 'before'> & {
  /** `canary`: one pod has it; `spread`: all are to have it. */
  readonly phase: 'canary' | 'spread';
};

/** What is to begin now; all of it goes to the first pod at once, and raises do not wait there for decreases. */
export interface Beginning {
  readonly raises: readonly SizeChange[];
  readonly decreases: readonly SizeChange[];
}

/** @param isDisruptive every change means new pods: then decreases come together, one after the other. */
export function mayBegin(
  due: readonly SizeChange[],
  before: readonly ContainerSpecRecord[],
  watched: readonly ChangeInPhase[],
  isDisruptive = false,
): Beginning {
  const isTrying = watched.some((each) => isDisruptive || (each.phase === 'canary' && isDecrease(each)));
  const raises: SizeChange[] = [];
  const decreases: SizeChange[] = [];
  for (const change of due) {
    const lowered = loweredResources(change, before);
    for (const resource of changedResources(change)) {
      const part = partOf(change, [resource]);
      const same = watched.filter((each) => touches(each, { container: change.container, resource }));
      if (lowered.includes(resource)) {
        if (!isTrying && same.length === 0) decreases.push(part);
      } else if (same.every((each) => lowersPart(each, { container: change.container, resource }))) {
        // What was too little is not kept for the sake of a watch. A raise on its way is let arrive first.
        raises.push(part);
      }
    }
  }
  return { raises: joinChanges(raises), decreases: joinChanges(decreases) };
}

const needsRoom: ReadonlySet<ReasonName> = new Set(['NodeHasNoRoom', 'InfeasibleBefore', 'QuotaRefuses', 'QuotaKept']);

/**
 * What is left of a change when a guard objects to some part of it: memory in use holds back what is advised to take of
 * memory, a node or a quota without room what would need it, and whatever it is, it may be about a restart.
 * @param isDear a change of it restarts a container.
 */
export function restOf(
  { raises, decreases }: Beginning,
  reason: ReasonName,
  isDear: (part: SizedPart) => boolean,
): Beginning | undefined {
  if (reason === 'MemoryInUse' || reason === 'MemoryUseUnknown') {
    const memory = partsOf(decreases).filter(({ resource }) => resource === 'memory');
    const left = without(decreases, memory);
    const isLess = memory.length > 0 && left.length + raises.length > 0;
    return isLess ? { raises, decreases: left } : undefined;
  }
  if (needsRoom.has(reason) && raises.length > 0 && decreases.length > 0) return { raises: [], decreases };
  const gentle = { raises: withoutAny(raises, isDear), decreases: withoutAny(decreases, isDear) };
  const left = partsOf(gentle.raises).length + partsOf(gentle.decreases).length;
  return left > 0 && left < partsOf(raises).length + partsOf(decreases).length ? gentle : undefined;
}

function withoutAny(changes: readonly SizeChange[], isDear: (part: SizedPart) => boolean): readonly SizeChange[] {
  return onlyParts(changes, (part) => !isDear(part));
}

/** One entry a container; of two values for the same amount the later counts. */
export function joinChanges(changes: readonly SizeChange[]): readonly SizeChange[] {
  const byContainer = new Map<string, ContainerSize>();
  for (const { container, to } of changes) byContainer.set(container, { ...byContainer.get(container), ...to });
  return [...byContainer].map(([container, to]) => ({ container, to }));
}

/** Each resource of each container that some change sets something of. */
export function partsOf(changes: readonly SizeChange[]): readonly SizedPart[] {
  return changes.flatMap((change) =>
    changedResources(change).map((resource) => ({ container: change.container, resource })),
  );
}

/** The changes without these parts; those of which nothing is left are dropped. */
export function withoutParts<T extends Pick<WatchedChange, 'changes'>>(
  watched: readonly T[],
  parts: readonly SizedPart[],
): readonly T[] {
  return watched.flatMap((each) => {
    const changes = each.changes.flatMap((change) => {
      const gone = parts.filter(({ container }) => container === change.container).map(({ resource }) => resource);
      const left = changedResources(change).filter((resource) => !gone.includes(resource));
      return left.length === 0 ? [] : [partOf(change, left)];
    });
    return changes.length === 0 ? [] : [{ ...each, changes }];
  });
}

/** The same of changes that nobody watches. */
export function without(changes: readonly SizeChange[], parts: readonly SizedPart[]): readonly SizeChange[] {
  return withoutParts([{ changes }], parts).flatMap((left) => left.changes);
}

export function onlyParts(changes: readonly SizeChange[], isKept: (part: SizedPart) => boolean): readonly SizeChange[] {
  return without(
    changes,
    partsOf(changes).filter((part) => !isKept(part)),
  );
}

/** The sizes with these parts of a change taken back to what they were before it. */
export function takenBack(
  inForce: readonly ContainerSpecRecord[],
  { changes, before }: Pick<WatchedChange, 'changes' | 'before'>,
  parts: readonly SizedPart[],
): readonly ContainerSpecRecord[] {
  return inForce.map((container) => {
    const change = changes.find((each) => each.container === container.name);
    const old = sizeOfContainer(before, container.name);
    const keys = parts.flatMap((part) => (part.container === container.name ? keysOf[part.resource] : []));
    if (change === undefined || old === undefined || keys.length === 0) return container;
    const size: Partial<Record<SizeKey, number>> = { ...container.size };
    for (const key of sizeKeys) {
      if (!keys.includes(key) || change.to[key] === undefined) continue;
      const value = old[key];
      if (value === undefined) delete size[key];
      else size[key] = value;
    }
    return { ...container, size };
  });
}

/**
 * What of a change is taken back for these parts of it: they alone, unless that would give the pods another QoS class,
 * which Kubernetes refuses; then all that was lowered, or all of it.
 */
export function partsTakenBack(
  inForce: readonly ContainerSpecRecord[],
  change: Pick<WatchedChange, 'changes' | 'before'>,
  blamed: readonly SizedPart[],
): readonly SizedPart[] {
  const classOf = (containers: readonly ContainerSpecRecord[]): QosClass =>
    qosClassOf(containers.map(({ size }) => size));
  const lowered = change.changes.flatMap((each) =>
    loweredResources(each, change.before).map((resource) => ({ container: each.container, resource })),
  );
  const isSame = (parts: readonly SizedPart[]): boolean =>
    classOf(takenBack(inForce, change, parts)) === classOf(inForce);
  return [blamed, lowered].find(isSame) ?? partsOf(change.changes);
}

function partOf({ container, to }: SizeChange, resources: readonly SizedPart['resource'][]): SizeChange {
  const own = resources.flatMap((resource) => keysOf[resource].filter((key) => to[key] !== undefined));
  return { container, to: Object.fromEntries(own.map((key) => [key, to[key]])) };
}

/** Whether it changes this resource of this container. */
export function touches({ changes }: Pick<WatchedChange, 'changes'>, part: SizedPart): boolean {
  return includesPart(partsOf(changes), part);
}

/** Whether it lowers this resource of this container: request or limit. */
export function lowersPart(
  { changes, before }: Pick<WatchedChange, 'changes' | 'before'>,
  { container, resource }: SizedPart,
): boolean {
  return changes.some((each) => each.container === container && loweredResources(each, before).includes(resource));
}
