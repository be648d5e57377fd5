/**
 * The shape of the usage that advice was made from, coarse enough to be looked at: a few dozen columns, no sample among
 * them.
 */
import type { EpochMillis } from '../../lib/units.ts';
import type { CpuHistory } from '../../model/usage-cpu.ts';
import type { MemoryHistory } from '../../model/usage-memory.ts';
import { firstSpan } from './memory-target.ts';
import type { CpuTarget, MemoryTarget } from './policy.ts';
import { distributionOf, piecesOf, type UsagePiece } from './usage-distribution.ts';

export interface UsageShape {
  /** Upper end of the last column, in millicores or bytes; the first begins at 0, and all are as wide. */
  readonly end: number;
  /** Share of the usage in each column, 0..1; with `beyond` they add up to 1. */
  readonly columns: readonly number[];
  /** Share of the usage above the last column: rare bursts that would leave no room for the rest. */
  readonly beyond: number;
  readonly median: number;
  readonly p90: number;
  readonly highest: number;
}

const COLUMNS = 40;
/** How far beyond what is used 99 % of the time columns go. */
const TAIL = 1.5;
/** Values of interest within so many times that lie in the picture, too. */
const REACH = 5;
/** Nothing stands at the very edge. */
const MARGIN = 1.04;

/** The samples that the target is found by: the last day or so, or all of them, older ones fading. */
export function cpuPieces({ day, usual }: CpuHistory, target: CpuTarget): readonly UsagePiece[] {
  if (target.strategy === 'CostAware') return distributionOf(day, target.spansDown)?.pieces ?? [];
  const { from, to } = usual.range();
  const shares = Array.from({ length: to - from }, (_, place) => usual.share(from + place));
  return piecesOf(usual.layout, from, shares);
}

/** The peaks that the target is found by, each alike. */
export function memoryPieces(
  history: Pick<MemoryHistory, 'peaks'>,
  target: MemoryTarget,
  now: EpochMillis,
): readonly UsagePiece[] {
  const oldest = 'lookBackMillis' in target ? firstSpan(target.lookBackMillis, now) : Number.NEGATIVE_INFINITY;
  const peaks = history.peaks().filter(({ span }) => span >= oldest);
  return peaks.map(({ bytes }) => ({ low: bytes, high: bytes, share: 1 / peaks.length })).sort((a, b) => a.low - b.low);
}

/**
 * @param pieces in ascending order; their shares add up to 1.
 * @param marks values to be seen beside the usage, where they are not too far from it.
 * @returns undefined where nothing is known.
 */
export function shapeOf(pieces: readonly UsagePiece[], marks: readonly number[]): UsageShape | undefined {
  const highest = pieces.at(-1)?.high;
  if (highest === undefined) return undefined;
  // Of usage that is nothing at all there is still a picture.
  const used = Math.min(highest, TAIL * quantileOf(pieces, 0.99)) || 1;
  const end = MARGIN * Math.max(used, ...marks.filter((mark) => mark <= REACH * used));
  const columns = Array.from({ length: COLUMNS }, () => 0);
  let beyond = 0;
  for (const { low, high, share } of pieces) {
    const width = high - low;
    const inside = width > 0 ? Math.min(1, Math.max(0, (end - low) / width)) : low < end ? 1 : 0;
    beyond += share * (1 - inside);
    spread(columns, { low, high: Math.min(high, end), share: share * inside }, end);
  }
  return {
    end,
    columns,
    beyond,
    median: quantileOf(pieces, 0.5),
    p90: quantileOf(pieces, 0.9),
    highest,
  };
}

/** Shares a piece out among the columns it lies in, by how much of it lies in each. */
function spread(columns: number[], { low, high, share }: UsagePiece, end: number): void {
  if (share <= 0) return;
  const columnAt = (value: number): number => (value * columns.length) / end;
  const first = Math.min(columns.length - 1, Math.floor(columnAt(low)));
  const last = Math.min(columns.length - 1, Math.floor(columnAt(high)));
  for (let column = first; column <= last; column++) {
    const from = Math.max(columnAt(low), column);
    const to = Math.min(columnAt(high), column + 1);
    const part = first === last ? 1 : (to - from) / (columnAt(high) - columnAt(low));
    columns[column] = (columns[column] ?? 0) + share * part;
  }
}

/** The usage that is not exceeded for this share of the whole, 0..1; anywhere in its piece with the same likelihood. */
function quantileOf(pieces: readonly UsagePiece[], fraction: number): number {
  let below = 0;
  for (const { low, high, share } of pieces) {
    if (share > 0 && below + share >= fraction) return low + ((high - low) * Math.max(0, fraction - below)) / share;
    below += share;
  }
  return pieces.at(-1)?.high ?? 0;
}
