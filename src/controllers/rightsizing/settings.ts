/** What the configuration says about rightsizing, in the controllers' terms; replaced as a whole when it changes. */
import type { PolicyTenancy } from '../../decide/rightsizing/policy-match.ts';
import type { RestartRules } from '../../decide/rightsizing/worth-a-restart.ts';
import type { SizeSettings } from '../../guard/size/context.ts';
import type { Millis } from '../../lib/units.ts';

/** Shares are 0..1. */
export interface RightsizingSettings {
  /** The engine as a whole: what every change of size is measured by. */
  readonly size: SizeSettings;
  readonly tenancy: PolicyTenancy;
  /** No policy is worked on more often. */
  readonly minIntervalMillis: Millis;
  /** How long running pods may be without any sample: new ones come with the scrapes. */
  readonly noDataMillis: Millis;
  /** How long the first pod that was given less is watched before the others follow. */
  readonly canaryMillis: Millis;
  /** How long after a decrease harm is put down to it. */
  readonly revertMillis: Millis;
  /** A resize the node has no room for is taken back after this time. */
  readonly deferredMillis: Millis;
  /** A template's requests that another field manager owns are taken over. */
  readonly forceConflicts: boolean;
  /** What decreases that cost pods a restart must be worth. */
  readonly restart: RestartRules;
}

/** Nothing may be applied: recommendations only. */
export function isDryRun({ size }: RightsizingSettings): boolean {
  return size.dryRun || size.readOnly;
}
