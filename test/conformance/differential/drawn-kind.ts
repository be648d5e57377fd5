/** A kind of objects that sequences are about. */
import type { Draw } from '../../../src/simulator/chaos/draw.ts';
import type { Json } from '../endpoint.ts';

export interface DrawnKind {
  readonly plural: string;
  /** `v1` or `group/version`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** How often it is drawn, against the others. */
  readonly weight: number;
  readonly subresources?: readonly string[];
  /** Fields a selector may name. */
  readonly fields?: readonly string[];
  readonly body: (draw: Draw) => Json;
  readonly status?: (draw: Draw) => Json;
}

/** Labels of an object, often none. */
export const drawLabels = (draw: Draw): Json => (draw.chance(0.7) ? { labels: { app: draw.pick(['a', 'b']) } } : {});
