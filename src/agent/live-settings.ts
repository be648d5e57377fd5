/** The settings as they are now: the ConfigMap is followed, and what changes takes effect at the next tick. */
import type { ConfigMap } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { resources } from '../api/resources.ts';
import { createInformer } from '../kube/informer.ts';
import { backoffPolicies } from '../lib/backoff.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { RESUME_SPREAD } from './node-stores.ts';
import type { AgentSettings } from './setting-table.ts';
import { readSettings } from './settings.ts';

/** Defaults until the ConfigMap has been read; then what it says, and what it says later. */
export interface LiveSettings {
  current(): AgentSettings;
  /**
   * Whether the ConfigMap was read, or is known not to be there. Before that nothing may be decided: it could say
   * `observe`.
   */
  isKnown(): boolean;
  run(signal: AbortSignal): Promise<void>;
}

export interface LiveSettingsOptions {
  readonly api: KubeApi;
  readonly namespace: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Beats both: `--observe`. */
  readonly isObserving: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** MBCAS's own, so that an installation of it keeps its settings. */
export const CONFIG_MAP = 'mbcas-agent-config';

export function createLiveSettings(options: LiveSettingsOptions): LiveSettings {
  const { namespace, env, isObserving, log } = options;
  const informer = createInformer<ConfigMap, Readonly<Record<string, string>>>({
    api: options.api,
    clock: options.clock,
    random: options.random,
    log,
    type: resources.configMaps,
    project: ({ metadata, data }) => (metadata?.name === CONFIG_MAP ? (data ?? {}) : undefined),
    selection: { namespace, fieldSelector: `metadata.name=${CONFIG_MAP}` },
    retryPolicy: backoffPolicies.nodeAgent,
    resumeSpreadMillis: RESUME_SPREAD,
  });
  let isKnown = false;
  let settings = read(undefined, false);

  /** @param isTold whether problems and notes go to the log: not for the defaults before the first answer. */
  function read(configMap: Readonly<Record<string, string>> | undefined, isTold: boolean): AgentSettings {
    const found = readSettings({ configMap, env });
    if (isTold) {
      for (const problem of found.problems) log.warn({ configMap: `${namespace}/${CONFIG_MAP}` }, problem);
      for (const note of found.notes) log.info({ configMap: `${namespace}/${CONFIG_MAP}` }, note);
    }
    return isObserving ? { ...found.settings, rules: { ...found.settings.rules, apply: 'observe' } } : found.settings;
  }
  const take = (): void => {
    settings = read(informer.store.get(`${namespace}/${CONFIG_MAP}`), true);
  };
  informer.subscribe({
    onChange() {
      if (isKnown) take();
    },
  });
  informer.onSynced.then(
    () => {
      isKnown = true;
      take();
    },
    () => {},
  );
  return { current: () => settings, isKnown: () => isKnown, run: (signal) => informer.run(signal) };
}
