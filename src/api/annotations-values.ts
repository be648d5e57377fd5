/** The grammar of single values of labels and annotations: text to value and back. */
import { InvalidValueError } from '../lib/errors.ts';
import type { Percent } from '../lib/units.ts';
import { placementGrammar, placementKeys } from './annotations.ts';
import type { Labels } from './label-selector.ts';

/** Least number of replicas on on-demand: a number, or a percentage of the replicas, rounded up. */
export type MinOnDemand =
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'percent'; readonly percent: Percent };

/** As texts in annotations; the model's own word is Side, with the same two values. */
export type CapacitySide = 'spot' | 'on-demand';

/** What Stowage writes on a pod it steers. */
export interface PodStamps {
  /** From 1. */
  readonly slot: number;
  readonly capacity: CapacitySide;
  /** The uid of the admission request. */
  readonly admissionId: string;
  readonly unconfirmed: boolean;
  /** On on-demand as temporary cover for a slot of spot; default false. */
  readonly fallback?: boolean;
  /** Neither Stowage nor the template chose the side; default false. */
  readonly pinned?: boolean | undefined;
}

/** Go's strconv.Atoi takes a sign and leading zeros, no spaces and no decimals; one percent sign may follow. */
const NUMBER = /^([+-]?\d+)(%?)$/;
const MAX_MIN_ON_DEMAND = 10_000;
/** A uid has 36; the ledger of claims keeps what a pod says, of pods that need not even be let in. */
const LONGEST_ADMISSION_ID = 128;
const MAX_INT32 = 2_147_483_647;

/** Exactly `"true"`; anything else, `"True"` included, is not enabled. */
export function isEnabled(labels: Labels | undefined): boolean {
  return labels?.[placementKeys.enabled] === 'true';
}

/** @throws InvalidValueError unless `text` is a whole number from 0 to 100 with one `%` at most. */
export function parseSpotPercentage(text: string): Percent {
  const percent = Number(NUMBER.exec(text)?.[1]);
  if (percent >= 0 && percent <= 100) return withoutMinusZero(percent);
  throw new InvalidValueError(placementKeys.spotPercentage, text, placementGrammar.spotPercentage);
}

/** @throws InvalidValueError unless `text` is a whole number from 0 to 10000, or a percentage from 0% to 100%. */
export function parseMinOnDemand(text: string): MinOnDemand {
  const [, digits, sign] = NUMBER.exec(text) ?? [];
  const number = withoutMinusZero(Number(digits));
  if (sign === '%' && number >= 0 && number <= 100) return { kind: 'percent', percent: number };
  if (sign === '' && number >= 0 && number <= MAX_MIN_ON_DEMAND) return { kind: 'count', count: number };
  throw new InvalidValueError(placementKeys.minOnDemand, text, placementGrammar.minOnDemand);
}

function withoutMinusZero(value: number): number {
  return value === 0 ? 0 : value;
}

/** The slot stamped on a pod; undefined when it has none or somebody wrote something else. */
export function parseSlot(annotations: Labels | undefined): number | undefined {
  const text = annotations?.[placementKeys.slot] ?? '';
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}

/** The side stamped on a pod; undefined when it has none or somebody wrote something else. */
export function parseCapacity(annotations: Labels | undefined): CapacitySide | undefined {
  const text = annotations?.[placementKeys.capacity];
  return text === 'spot' || text === 'on-demand' ? text : undefined;
}

/**
 * The pod's deletion cost as the ReplicaSet controller reads it (kubernetes pkg/apis/core/helper): 32 bits, no plus sign, no leading
 * zeros; anything else counts as 0.
 */
export function parseDeletionCost(annotations: Labels | undefined): number {
  const text = annotations?.[placementKeys.podDeletionCost] ?? '';
  const cost = /^(0|-?[1-9]\d{0,9})$/.test(text) ? Number(text) : 0;
  return cost >= -MAX_INT32 - 1 && cost <= MAX_INT32 ? cost : 0;
}

/** The complete stamps of a pod; undefined unless slot, side and admission id are all there and well-formed. */
export function parseStamps(annotations: Labels | undefined): PodStamps | undefined {
  const slot = parseSlot(annotations);
  const capacity = parseCapacity(annotations);
  const admissionId = annotations?.[placementKeys.admissionId];
  if (slot === undefined || capacity === undefined || admissionId === undefined) return undefined;
  if (admissionId.length > LONGEST_ADMISSION_ID) return undefined;
  return {
    slot,
    capacity,
    admissionId,
    unconfirmed: annotations?.[placementKeys.unconfirmed] === 'true',
    ...(annotations?.[placementKeys.fallback] === 'true' && { fallback: true }),
    ...(annotations?.[placementKeys.pinned] === 'true' && { pinned: true }),
  };
}

/** The annotations that carry `stamps`, in the order in which they are written. */
export function formatStamps({
  slot,
  capacity,
  admissionId,
  unconfirmed,
  fallback,
  pinned,
}: PodStamps): Record<string, string> {
  return {
    [placementKeys.slot]: String(slot),
    [placementKeys.capacity]: capacity,
    [placementKeys.admissionId]: admissionId,
    ...(unconfirmed ? { [placementKeys.unconfirmed]: 'true' } : {}),
    ...(fallback === true ? { [placementKeys.fallback]: 'true' } : {}),
    ...(pinned === true ? { [placementKeys.pinned]: 'true' } : {}),
  };
}

/** The deletion cost Stowage gives a slot: the highest slot is removed first. */
export function formatDeletionCost(slot: number): string {
  return String(-slot);
}
