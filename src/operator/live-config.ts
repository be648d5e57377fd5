/** The configuration in force, and the rules of placement that it and the prices file make. */
import { keptUntilRestart } from '../config/reload.ts';
import type { Config } from '../config/schema.ts';
import { compilePlacementRules, type PlacementRules } from '../controllers/placement/rules.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { PlacementSettings } from '../model/placement-settings.ts';
import { placementSettingsOf } from './placement-settings.ts';
import { createPriceSource } from './price-source.ts';

export interface LiveConfigOptions {
  /** What the process was started with. */
  readonly config: Config;
  /** New pods are asked about in this process, whether or not a webhook is served. Default: not. */
  readonly isAskedDirectly?: boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** To be asked each time: both are replaced as a whole. */
export interface LiveConfig {
  readonly config: () => Config;
  readonly rules: () => PlacementRules;
  /** Puts the settings that can change in a running process into force. Ignores the others. */
  apply(next: Config): void;
  /** Follows the prices file until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** @throws InvalidValueError for selectors that cannot be used; a checked configuration has none. */
export function createLiveConfig({ clock, log, ...options }: LiveConfigOptions): LiveConfig {
  let { config } = options;
  const settingsOf = (next: Config): PlacementSettings => {
    const settings = placementSettingsOf(next);
    return options.isAskedDirectly === true ? { ...settings, steersNewPods: true } : settings;
  };
  let rules = compilePlacementRules(settingsOf(config));
  const prices = createPriceSource({
    path: config.placement.prices,
    clock,
    log: log.child('prices'),
    onChange: (known) => {
      rules = { ...rules, prices: known };
    },
  });
  return {
    config: () => config,
    rules: () => rules,
    apply(next) {
      config = keptUntilRestart(config, next);
      rules = compilePlacementRules(settingsOf(config), rules.prices);
      prices.use(config.placement.prices);
    },
    run: prices.run,
  };
}
