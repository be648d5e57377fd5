/**
 * Every reason Stowage reports. One row a reason, in the file of its use: add a row there, run `npm run docs`, and it
 * is typed for callers and documented in docs/reasons.md.
 */
import { allocationReasons } from './reason-allocation.ts';
import { blockReasons } from './reason-blocks.ts';
import type { ReasonDefinition } from './reason-definition.ts';
import { eventReasons } from './reason-events.ts';
import { resizeReasons } from './reason-resize.ts';
import { rightsizingReasons } from './reason-rightsizing.ts';
import { unsteeredReasons } from './reason-unsteered.ts';

export const reasonTable = {
  ...eventReasons,
  ...blockReasons,
  ...unsteeredReasons,
  ...resizeReasons,
  ...rightsizingReasons,
  ...allocationReasons,
} as const satisfies Record<string, ReasonDefinition>;
