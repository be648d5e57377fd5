/** Recorded usage of one container over time. */
import type { EpochMillis } from '../../lib/units.ts';

/**
 * In columns, because a recording may have millions of samples: sample n was taken at `at[n]` and is `usage[n]`. In
 * order of time; of several replicas there is a sample each at the same instant.
 */
export interface UsageSeries {
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly at: Float64Array;
  /** Millicores. */
  readonly usage: Float64Array;
  /** Which replica each sample is of, from 0; left out, there is one. */
  readonly replicas?: Float64Array | undefined;
  /** What is requested now, in force all the time for the row "as is"; undefined: not known. */
  readonly requested?: number | undefined;
}

/** From `from` on and before `to`, in samples. */
export function partOf({ name, at, usage, replicas }: UsageSeries, from: number, to: number): UsageSeries {
  return {
    name,
    at: at.subarray(from, to),
    usage: usage.subarray(from, to),
    ...(replicas !== undefined && { replicas: replicas.subarray(from, to) }),
  };
}

/** A column that grows: numbers in a typed array that is doubled when it is full. */
export interface NumberColumn {
  push(value: number): void;
  /** What was pushed so far. */
  values(): Float64Array;
}

export function createNumberColumn(): NumberColumn {
  let room = new Float64Array(1024);
  let length = 0;
  return {
    push(value) {
      if (length === room.length) {
        const roomier = new Float64Array(2 * room.length);
        roomier.set(room);
        room = roomier;
      }
      room[length++] = value;
    },
    values: () => room.subarray(0, length),
  };
}

/** The samples in order of time, one for each instant: the one that was told last. */
export function inOrderOfTime(
  at: Float64Array,
  usage: Float64Array,
): { readonly at: Float64Array; readonly usage: Float64Array; readonly repeated: number; readonly wasSorted: boolean } {
  let wasSorted = true;
  for (let index = 1; index < at.length && wasSorted; index++) {
    wasSorted = instantAt(at, index) >= instantAt(at, index - 1);
  }
  // The order of equal instants is kept, so that the last one told can be told.
  const order = wasSorted
    ? undefined
    : Uint32Array.from(at.keys()).sort((a, b) => instantAt(at, a) - instantAt(at, b) || a - b);
  const [sortedAt, sortedUsage] = [new Float64Array(at.length), new Float64Array(at.length)];
  let length = 0;
  for (let place = 0; place < at.length; place++) {
    const index = order?.[place] ?? place;
    const instant = instantAt(at, index);
    if (length > 0 && instant === sortedAt[length - 1]) length--;
    sortedAt[length] = instant;
    sortedUsage[length] = usage[index] ?? 0;
    length++;
  }
  return {
    at: sortedAt.subarray(0, length),
    usage: sortedUsage.subarray(0, length),
    repeated: at.length - length,
    wasSorted,
  };
}

const instantAt = (at: Float64Array, index: number): EpochMillis => at[index] ?? 0;
