/**
 * The sizes a workload's pods have in place of those in its template: kept in an annotation of the workload, so that
 * every replica of the operator can give them to new pods, and a new leader knows what is in force.
 */

import { isRecord } from '../lib/is-record.ts';
import { type SizeKey, sizeKeys } from './pod-size.ts';
import type { ContainerSize, ContainerSpecRecord } from './sizing-records.ts';

/** What the template said when the size was applied, and what was applied. Millicores and bytes. */
export type AppliedAmount = readonly [from: number | null, to: number];

export interface AppliedContainer {
  readonly container: string;
  readonly amounts: Readonly<Partial<Record<SizeKey, AppliedAmount>>>;
}

/**
 * The text of the annotation; undefined where nothing differs from the template. Read back, it gives `inForce` again.
 */
export function writeAppliedSizes(
  template: readonly ContainerSpecRecord[],
  inForce: readonly ContainerSpecRecord[],
): string | undefined {
  const entries = template.flatMap(({ name, size }) => {
    const wanted = inForce.find((container) => container.name === name)?.size ?? {};
    const amounts = sizeKeys.flatMap((key) => {
      const to = wanted[key];
      return to === undefined || to === size[key] ? [] : [[key, [size[key] ?? null, to]] as const];
    });
    return amounts.length === 0 ? [] : [[name, Object.fromEntries(amounts)] as const];
  });
  return entries.length === 0 ? undefined : JSON.stringify(Object.fromEntries(entries));
}

/** Reads the annotation; what cannot be read counts as not there. */
export function readAppliedSizes(text: string | undefined): readonly AppliedContainer[] {
  if (text === undefined) return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [];
  }
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([container, amounts]) => {
    if (!isRecord(amounts)) return [];
    const known: Partial<Record<SizeKey, AppliedAmount>> = {};
    for (const key of sizeKeys) {
      const amount = amounts[key];
      if (isAmount(amount)) known[key] = amount;
    }
    return Object.keys(known).length === 0 ? [] : [{ container, amounts: known }];
  });
}

/**
 * The containers with the sizes that were applied, as far as they still have what the template had then: whoever edits
 * the template means what he writes.
 */
export function withAppliedSizes(
  containers: readonly ContainerSpecRecord[],
  applied: readonly AppliedContainer[],
): readonly ContainerSpecRecord[] {
  if (applied.length === 0) return containers;
  return containers.map((container) => {
    const own = applied.find((each) => each.container === container.name);
    const size = own === undefined ? undefined : appliedTo(container.size, own);
    return size === undefined ? container : { ...container, size };
  });
}

function appliedTo(size: ContainerSize, { amounts }: AppliedContainer): ContainerSize | undefined {
  const changed: Partial<Record<SizeKey, number>> = {};
  for (const key of sizeKeys) {
    const amount = amounts[key];
    if (amount === undefined) continue;
    const [from, to] = amount;
    if ((size[key] ?? null) !== from) return undefined;
    changed[key] = to;
  }
  return { ...size, ...changed };
}

function isAmount(value: unknown): value is AppliedAmount {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const [from, to]: unknown[] = value;
  const isWhole = (amount: unknown): boolean =>
    typeof amount === 'number' && Number.isSafeInteger(amount) && amount >= 0;
  return (from === null || isWhole(from)) && isWhole(to);
}
