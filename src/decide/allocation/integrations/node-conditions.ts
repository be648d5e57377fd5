/**
 * Integration 3, node conditions: pressure shrinks the surplus that is shared out and stops growth; a node that is not
 * Ready, or not known, is left as it is. Only what is above the claims shrinks. Cordon and NetworkUnavailable change
 * nothing.
 */
import type { EpochMillis, Millicores, Millis } from '../../../lib/units.ts';
import type { Clamp } from '../clamp.ts';

export interface NodeCondition {
  readonly type: 'Ready' | 'MemoryPressure' | 'DiskPressure' | 'PIDPressure';
  readonly status: 'True' | 'False' | 'Unknown';
  readonly since: EpochMillis | undefined;
}

export interface NodeState {
  /** Nothing is written. */
  readonly isFrozen: boolean;
  readonly frozenBecause: 'NodeNotReady' | 'DataUnknown' | undefined;
  /** No pod grows above what it has. */
  readonly isUnderPressure: boolean;
  /** Factor of the capacity, 0.7..1. */
  readonly factor: number;
}

const factors = { MemoryPressure: 0.9, DiskPressure: 0.95, PIDPressure: 0.9 } as const;
const LEAST_FACTOR = 0.7;
/** Pressure counts until it has been gone for this long. */
const RECOVERY: Millis = 60_000;

/** @param conditions undefined: not known, and nothing is written. */
export function judgeNode(conditions: readonly NodeCondition[] | undefined, now: EpochMillis): NodeState {
  const ready = conditions?.find(({ type }) => type === 'Ready');
  const frozenBecause = ready === undefined ? 'DataUnknown' : ready.status === 'True' ? undefined : 'NodeNotReady';
  let factor = 1;
  for (const { type, status, since } of conditions ?? []) {
    if (type === 'Ready') continue;
    // What is far ahead of now was told before the machine's clock was set back.
    const isRecent = status === 'False' && since !== undefined && Math.abs(now - since) < RECOVERY;
    // A node that is young reports False since its start; there was no pressure before that to recover from.
    const wasPressed = isRecent && ready?.since !== undefined && since > ready.since;
    if (status === 'True' || wasPressed) factor *= factors[type];
  }
  return {
    isFrozen: frozenBecause !== undefined,
    frozenBecause,
    isUnderPressure: factor < 1,
    factor: Math.max(LEAST_FACTOR, factor),
  };
}

/** The capacity under pressure: never below the claims, as far as those fit at all. */
export function capacityUnderPressure(
  capacity: Millicores,
  claims: Millicores,
  state: NodeState,
): { readonly capacity: Millicores; readonly clamps: readonly Clamp[] } {
  const after = Math.max(Math.floor(state.factor * capacity), Math.min(capacity, claims));
  const clamps: Clamp[] =
    after < capacity ? [{ reason: 'NodePressure', what: 'capacity', before: capacity, after }] : [];
  return { capacity: after, clamps };
}
