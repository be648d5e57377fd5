/** Numbers kept in order while they come and go, in pieces, so that a workload with a hundred replicas costs no more a sample. */
import { firstIndex } from '../../../lib/first-index.ts';

export interface SortedNumbers {
  insert(value: number): void;
  /** One of those that are equal to it; nothing where there is none. */
  remove(value: number): void;
  length(): number;
  /** The one with `rank` before it, from 0; undefined beyond the last. */
  at(rank: number): number | undefined;
  /** In ascending order. */
  values(): number[];
}

/** A piece that grows beyond this is halved. */
const MOST = 1024;

export function createSortedNumbers(): SortedNumbers {
  const pieces: number[][] = [];
  let length = 0;

  /** Index of the first piece that ends with `value` or more. */
  const pieceFor = (value: number): number =>
    firstIndex(pieces.length, (index) => (pieces[index]?.at(-1) ?? 0) >= value);

  return {
    insert(value) {
      length++;
      const index = Math.min(pieceFor(value), pieces.length - 1);
      const piece = pieces[index];
      if (piece === undefined) {
        pieces.push([value]);
        return;
      }
      piece.splice(lowerBound(piece, value), 0, value);
      if (piece.length > MOST) pieces.splice(index, 1, piece.slice(0, MOST / 2), piece.slice(MOST / 2));
    },
    remove(value) {
      const index = pieceFor(value);
      const piece = pieces[index] ?? [];
      const place = lowerBound(piece, value);
      if (piece[place] !== value) return;
      length--;
      piece.splice(place, 1);
      if (piece.length === 0) pieces.splice(index, 1);
    },
    length: () => length,
    at(rank) {
      let left = rank;
      for (const piece of pieces) {
        if (left < piece.length) return piece[left];
        left -= piece.length;
      }
      return undefined;
    },
    values: () => pieces.flat(),
  };
}

/** Index of the first element that is not below `value`. */
const lowerBound = (sorted: readonly number[], value: number): number =>
  firstIndex(sorted.length, (index) => (sorted[index] ?? 0) >= value);
