/**
 * Bounds on a pod's share, each from one rule. Hard ones (admission would refuse) win over what people annotate, and
 * that over guards; where two contradict, the softer yields. A one-sided guard is a raised lower bound, so sums stay
 * right.
 */
import type { Millicores } from '../../lib/units.ts';
import type { Clamp, ClampReason } from './clamp.ts';

/** Hardest first; the guards stand in the reverse of the order in which they are dropped when a node is full. */
export const layers = ['hard', 'annotation', 'grace', 'readiness', 'hpa', 'pdb', 'step'] as const;
export type Layer = (typeof layers)[number];

/** One rule's word on a share, in millicores; what is left out is not bounded. */
export interface Bound {
  readonly layer: Layer;
  readonly reason: ClampReason;
  readonly min?: Millicores;
  readonly max?: Millicores;
}

/** A lower bound that a guard raised above the claim: it gives way when the node is full, see relax.ts. */
export interface LayerFloor {
  readonly layer: Layer;
  readonly reason: ClampReason;
  readonly min: Millicores;
}

export interface Box {
  /** The claim within the hard and annotated bounds: the disagreement point. */
  readonly claim: Millicores;
  readonly min: Millicores;
  readonly max: Millicores;
  /** The most the bounds allow, whatever is wanted; Infinity: anything. */
  readonly ceiling: Millicores;
  /** What is above the claim by guard; the last is dropped first. */
  readonly floors: readonly LayerFloor[];
  readonly clamps: readonly Clamp[];
}

/** Keeps a share where it is: what is not known must not be acted on. */
export function holdAt(current: Millicores, reason: ClampReason, layer: Layer = 'hard'): Bound {
  return { layer, reason, min: current, max: current };
}

/** The same without what they bound from above. */
export function fromBelow(bounds: readonly Bound[]): readonly Bound[] {
  return bounds.map((bound) => {
    const { max: _, ...below } = bound;
    return below;
  });
}

/**
 * One box out of all bounds, whatever their order in the list. `claim <= want` in the end, whatever the bounds say;
 * `min <= max` always. Only hard bounds and annotations move the claim: a guard that raised it would make the pod's
 * neighbours pay for good.
 */
export function combineBounds(claim: Millicores, want: Millicores, bounds: readonly Bound[]): Box {
  const sorted = [...bounds].sort((a, b) => layers.indexOf(a.layer) - layers.indexOf(b.layer));
  let lo = 0;
  let hi = Number.POSITIVE_INFINITY;
  let d = claim;
  let u = Math.max(claim, want);
  const floors: LayerFloor[] = [];
  const clamps: Clamp[] = [];
  for (const { layer, reason, min = 0, max = Number.POSITIVE_INFINITY } of sorted) {
    const newLo = Math.min(hi, Math.max(lo, min));
    const newHi = Math.max(newLo, Math.min(hi, max));
    const isGuard = layers.indexOf(layer) > layers.indexOf('annotation');
    const newD = isGuard ? Math.min(d, newHi) : Math.min(newHi, Math.max(d, newLo));
    const newU = Math.min(newHi, Math.max(u, newLo));
    if (newD > d) clamps.push({ reason, what: 'min', before: d, after: newD });
    else if (isGuard && newLo > Math.max(lo, d))
      clamps.push({ reason, what: 'min', before: Math.max(lo, d), after: newLo });
    if (newU < u) clamps.push({ reason, what: 'max', before: u, after: newU });
    if (isGuard && newLo > Math.max(lo, newD)) floors.push({ layer, reason, min: newLo });
    [lo, hi, d, u] = [newLo, newHi, newD, newU];
  }
  const top = floors.at(-1)?.min ?? d;
  const min = Math.max(d, Math.min(top, hi));
  return { claim: d, min, max: Math.max(min, u), ceiling: Math.max(min, hi), floors, clamps };
}
