/** What the configuration says about the allocation engine. */
import type { AllocationRules } from '../../decide/allocation/rules.ts';
import type { SizeSettings } from '../../guard/size/context.ts';
import type { Millis } from '../../lib/units.ts';

/** Replaced as a whole when the configuration changes; read at each pass. */
export interface AllocationSettings {
  readonly size: SizeSettings;
  readonly rules: AllocationRules;
  /**
   * An agent unheard of for this long is gone, and its node's pods get back what they had; for half of it, nothing
   * changes.
   */
  readonly staleMillis: Millis;
}
