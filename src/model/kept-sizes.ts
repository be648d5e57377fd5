/** Sizes as annotations of a workload keep them: by container, what was there and what was put in its place. */
import { isRecord } from '../lib/is-record.ts';
import { type SizeKey, sizeKeys } from './pod-size.ts';

/** Millicores or bytes, whole and never negative; null: there was none. */
export type KeptAmount = readonly [from: number | null, to: number];
export type KeptAmounts = Readonly<Partial<Record<SizeKey, KeptAmount>>>;

export interface KeptSize {
  readonly container: string;
  readonly amounts: KeptAmounts;
}

/** Reads `{"app":{"cpuRequest":[200,120]}}`. What cannot be read counts as not there; people may have edited it. */
export function readKeptSizes(value: unknown): readonly KeptSize[] {
  return Object.entries(isRecord(value) ? value : {}).flatMap(([container, given]) => {
    const amounts: Partial<Record<SizeKey, KeptAmount>> = {};
    for (const key of sizeKeys) {
      const amount = isRecord(given) ? given[key] : undefined;
      if (isKeptAmount(amount)) amounts[key] = amount;
    }
    return Object.keys(amounts).length === 0 ? [] : [{ container, amounts }];
  });
}

function isKeptAmount(value: unknown): value is KeptAmount {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const [from, to]: unknown[] = value;
  return (from === null || isAmount(from)) && isAmount(to);
}

function isAmount(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
