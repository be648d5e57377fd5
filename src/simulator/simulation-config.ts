/** The operator's configuration in a simulation: what the scenario says, on defaults that cost little virtual effort. */

import { stringify } from 'yaml';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { ConfigError } from '../lib/errors.ts';
import { isRecord } from '../lib/is-record.ts';
import type { Scenario } from './scenario/schema.ts';

/** Nothing listens in a simulation: the API server calls the webhook in this process. */
const env = {
  SPOTALIS_WEBHOOK_ENABLED: 'false',
  SPOTALIS_METRICS_ENABLED: 'false',
  SPOTALIS_HEALTH_ENABLED: 'false',
  SPOTALIS_WEB_ENABLED: 'false',
};

/** Replicas may be cut off, and others take their place, while they are still at work. */
const CUTTING_OFF: ReadonlySet<string> = new Set(['crash-operator', 'crash-at-write', 'api-fault']);

type Tree = Readonly<Record<string, unknown>>;

/**
 * Two defaults differ from a real process, unless the scenario sets them. A workload that nothing happens to is looked at
 * every ten minutes instead of every thirty seconds: watches do not fail here unless an event says so, and what falls due
 * by time has timers of its own. And a single replica that is never cut off needs no Lease, whose renewals every two seconds would be
 * most of a quiet day.
 * @throws ConfigError for a configuration that cannot be used.
 */
export function simulationConfig({ operator, name, replicas, events }: Scenario): LoadedConfig {
  const isAlone = replicas === 1 && !events.some((event) => CUTTING_OFF.has(event.do));
  const defaults = {
    controllers: { reconcileInterval: isAlone ? '10m' : '30s' },
    ...(isAlone ? { operator: { leaderElection: { enabled: false } } } : {}),
  };
  return loadConfig({ text: stringify(merge(defaults, operator)), fileName: `operator of scenario ${name}`, env });
}

/**
 * The configuration after a change of its file.
 * @param operator the file before, as the scenario has it.
 * @throws ConfigError for one that cannot be used, or that changes what simulations judge by.
 */
export function changedConfig(
  scenario: Scenario,
  operator: Tree,
  change: Tree,
): LoadedConfig & { readonly operator: Tree } {
  const before = simulationConfig({ ...scenario, operator: { ...operator } });
  const merged = merge(operator, change);
  const after = simulationConfig({ ...scenario, operator: { ...merged } });
  if (judgedBy(before.config) !== judgedBy(after.config))
    throw new ConfigError([
      'read-only and dry-run mode, engines, defaults of placement, rounding, basis, maxConcurrentEvictions, and what allocation ' +
        'applies to whom cannot be changed in between',
    ]);
  return { ...after, operator: merged };
}

/** All that the judges read of the configuration, which they have from the start. */
function judgedBy({ engines, operator, placement, rightsizing, allocation }: Config): string {
  const { defaults, rounding, basis, maxConcurrentEvictions } = placement;
  const { apply, managementMode } = allocation;
  const modes = [operator.readOnlyMode, rightsizing.dryRun, apply, managementMode];
  return JSON.stringify([engines, modes, defaults, rounding, basis, maxConcurrentEvictions]);
}

function merge(defaults: Tree, given: Tree): Tree {
  const merged: Record<string, unknown> = { ...defaults };
  for (const [key, value] of Object.entries(given)) {
    const base = defaults[key];
    merged[key] = isRecord(base) && isRecord(value) ? merge(base, value) : value;
  }
  return merged;
}
