/**
 * When lower bounds add up to more than the node has, the soft ones give way: smoothness first, of the lowest weights
 * first, then the guards in the order in which they matter least. What a pod keeps in any case stays: nobody else could
 * have it. Claims are left to the solver.
 */
import { ascending } from '../../lib/ascending.ts';
import type { Millicores } from '../../lib/units.ts';
import { type Box, type Layer, layers } from './bounds.ts';
import type { Clamp } from './clamp.ts';

export interface Relaxable {
  readonly uid: string;
  readonly weight: number;
  readonly box: Box;
  readonly kept: Millicores;
}

export interface Relaxed {
  readonly mins: readonly Millicores[];
  readonly clamps: readonly (readonly Clamp[])[];
}

const firstToGo = [...layers].reverse().filter((layer) => layer !== 'hard' && layer !== 'annotation');

/**
 * Lower bounds that fit, in the order of the seats: none below its claim, nor below what the pod keeps. Where these are
 * more than there is, they come back as they are, and the solver sheds load.
 */
export function relaxToFit(seats: readonly Relaxable[], capacity: Millicores): Relaxed {
  const mins = seats.map(({ box, kept }) => Math.max(box.min, kept));
  const clamps: Clamp[][] = seats.map(() => []);
  let excess = mins.reduce((sum, min) => sum + min, 0) - capacity;
  const byWeight = seats
    .map((seat, index) => ({ seat, index }))
    .sort((a, b) => a.seat.weight - b.seat.weight || ascending(a.seat.uid, b.seat.uid));
  const gone = new Set<Layer>();
  for (const layer of firstToGo) {
    if (excess <= 0) break;
    gone.add(layer);
    for (const { seat, index } of byWeight) {
      const before = mins[index] ?? 0;
      const left = seat.box.floors.filter((floor) => !gone.has(floor.layer)).at(-1)?.min;
      const floor = Math.max(seat.box.claim, seat.kept, left ?? 0);
      const cut = Math.min(excess, before - floor);
      if (cut <= 0) continue;
      const after = before - cut;
      mins[index] = after;
      excess -= cut;
      clamps[index]?.push({ reason: layer === 'step' ? 'StepRelaxed' : 'GuardRelaxed', what: 'min', before, after });
    }
  }
  return { mins, clamps };
}
