/** What is decided about a pod at admission. Plain data. */

import type { ReasonNameOf } from '../../lib/reasons.ts';
import type { Side } from '../../model/records.ts';
import type { Explanation } from '../decision.ts';

/** An operation of a JSON Patch; no other is ever needed, as on an existing member it replaces (RFC 6902). */
export interface AddOperation {
  readonly op: 'add';
  readonly path: string;
  readonly value: unknown;
}

/**
 * Where a pod goes: slots count from 1, the side is where the pod is sent, which for cover is not the side of its slot.
 */
export interface Placement {
  readonly slot: number;
  readonly side: Side;
}

/** Either way the pod is admitted: placement never refuses one. */
export type AdmissionDecision =
  | {
      /** Admitted as it was sent: nothing is patched, nothing reserved. */
      readonly kind: 'unsteered';
      readonly reason: ReasonNameOf<'unsteered'>;
      /** One sentence for people. */
      readonly message: string;
      /** The user should see the message as a warning of the API server. */
      readonly warn: boolean;
      /** What would have been done, where that was decided: read-only mode. */
      readonly wouldBe: Placement | undefined;
    }
  | {
      readonly kind: 'steered';
      /** The pod's own constraints chose the side: it is stamped and counted, its constraints stay as they are. */
      readonly pinnedByUser: boolean;
      /** A dry run: the patch is what would be done, nothing is reserved. */
      readonly dryRun: boolean;
      readonly slot: number;
      readonly side: Side;
      readonly patch: readonly AddOperation[];
      /** The annotations among the patch. */
      readonly stamps: Readonly<Record<string, string>>;
      readonly explanation: Explanation;
      readonly warnings: readonly string[];
    };

export type Unsteered = Extract<AdmissionDecision, { kind: 'unsteered' }>;
