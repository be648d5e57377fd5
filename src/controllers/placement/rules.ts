/**
 * The placement settings in force and what is compiled from them, replaced as a whole when the configuration changes.
 */
import type { PriceTable } from '../../api/prices.ts';
import {
  createPolicyReader,
  createTimesReader,
  type PolicyReader,
  type TimesReader,
} from '../../decide/placement/policy.ts';
import type { PlacementSettings } from '../../model/placement-settings.ts';
import { createSides, type Sides } from '../../model/sides.ts';

export interface PlacementRules {
  readonly settings: PlacementSettings;
  /** By which a node counts as spot, on-demand or unknown. */
  readonly sides: Sides;
  /** What a workload's annotations, its namespace's and the configuration say together, key by key. */
  readonly readPolicy: PolicyReader;
  /** Of any workload, also one that placement does not manage. */
  readonly readTimes: TimesReader;
  /** Undefined where no prices are configured. */
  readonly prices?: PriceTable | undefined;
}

/** @throws InvalidValueError for selectors that cannot be used. */
export function compilePlacementRules(settings: PlacementSettings, prices?: PriceTable): PlacementRules {
  return {
    settings,
    sides: createSides(settings.nodeClasses),
    readPolicy: createPolicyReader(settings),
    readTimes: createTimesReader(settings),
    prices,
  };
}
