/** Follows the configuration file while the process runs. A file that is not valid changes nothing but is reported. */
import { watch } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock, Timer } from '../lib/clock.ts';
import { ConfigError } from '../lib/errors.ts';
import { isRecord } from '../lib/is-record.ts';
import type { Environment } from './environment.ts';
import { type LoadedConfig, loadConfig, readConfigFile } from './load.ts';
import { type Config, type ConfigTree, configTree, isConfigKey, listConfigKeys } from './schema.ts';

/** How often the file is read even when the file system reports no change: some report none. */
const POLL_MILLIS = 10_000;
/**
 * How long a new text has to stay as it is: a file that is written in place is empty or cut off for a moment, which
 * would mean defaults.
 */
const SETTLE_MILLIS = 500;

/** A valid file that says something else than what is in force. */
export interface ConfigChange extends LoadedConfig {
  /** Paths of the keys whose value changed; at least one. */
  readonly changed: readonly string[];
  /** Those of them that take effect only at the next start. */
  readonly needRestart: readonly string[];
}

export interface ConfigFollowerOptions {
  readonly path: string;
  readonly env: Environment;
  readonly clock: Clock;
  /** What is in force at the start. */
  readonly initial: Config;
  /** Told of each change that is valid; it is in force from then on, as far as it needs no restart. */
  readonly onChange: (change: ConfigChange) => void;
  /** Told once of each text that is not valid. What was in force stays in force. */
  readonly onInvalid: (error: ConfigError) => void;
  /** Told of each text that is valid, also of one that goes back to what is in force. */
  readonly onValid: () => void;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Tells when something in the directory changed, and returns how to stop; replaceable for tests. */
  readonly watchDirectory?: (directory: string, onEvent: () => void) => () => void;
  /** Reads the file; replaceable for tests. @throws ConfigError */
  readonly read?: (path: string) => string;
}

/**
 * Starts following `path`. The directory is watched, not the file: a mounted ConfigMap or Secret is replaced by
 * swapping a symbolic link beside it, which a watch on the file never sees.
 */
export function followConfigFile(options: ConfigFollowerOptions): void {
  const { path, env, clock, onChange, onInvalid, onValid, signal } = options;
  const { watchDirectory = watchWithNode, read = readConfigFile } = options;
  if (signal.aborted) return;
  let current = options.initial;
  let lastOutcome: string | undefined;

  let settling: { readonly outcome: string; readonly timer: Timer } | undefined;

  /** The text; or why there is none, which stands for it, so that it is told once. */
  const look = (): { readonly outcome: string; readonly error?: ConfigError } => {
    try {
      return { outcome: read(path) };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return { outcome: error.message, error };
    }
  };

  /** A new text starts to settle; one that goes back to what is in force stops it. */
  const check = (): void => {
    const { outcome } = look();
    if (outcome === settling?.outcome) return;
    settling?.timer.cancel();
    settling = outcome === lastOutcome ? undefined : { outcome, timer: clock.setTimer(SETTLE_MILLIS, settle) };
  };

  /** The text has stayed as it was: it is taken, or said why not. */
  const settle = (): void => {
    const expected = settling?.outcome;
    settling = undefined;
    const { outcome, error } = look();
    if (outcome !== expected) {
      check();
      return;
    }
    lastOutcome = outcome;
    if (error === undefined) take(outcome);
    else onInvalid(error);
  };

  const take = (text: string): void => {
    try {
      const loaded = loadConfig({ text, fileName: path, env });
      const changed = changedKeys(current, loaded.config);
      current = loaded.config;
      onValid();
      if (changed.length > 0) onChange({ ...loaded, changed, needRestart: changed.filter(needsRestart) });
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      onInvalid(error);
    }
  };

  let timer = clock.setTimer(POLL_MILLIS, poll);
  function poll(): void {
    timer = clock.setTimer(POLL_MILLIS, poll);
    check();
  }
  const stopWatching = watchDirectory(dirname(path), check);
  signal.addEventListener(
    'abort',
    () => {
      timer.cancel();
      settling?.timer.cancel();
      stopWatching();
    },
    { once: true },
  );
}

/** Paths of the keys whose values differ. */
export function changedKeys(before: Config, after: Config): string[] {
  const [old, now] = [flatten(configTree, before), flatten(configTree, after)];
  return [...now].filter(([path, value]) => value !== old.get(path)).map(([path]) => path);
}

/**
 * What is in force after a change: of keys that take effect at the next start, what the process was started with. Half of such a
 * change would be worse than none of it: ports, watches and the engines themselves stay as they are.
 */
export function keptUntilRestart(inForce: Config, next: Config): Config {
  return merge(configTree, inForce, next);
}

function merge(tree: typeof configTree, inForce: Config, next: Config): Config;
function merge(tree: ConfigTree, inForce: unknown, next: unknown): unknown;
function merge(tree: ConfigTree, inForce: unknown, next: unknown): unknown {
  const [old, now] = [memberOf(inForce), memberOf(next)];
  return Object.fromEntries(
    Object.entries(tree).map(([name, node]) => {
      if (!isConfigKey(node)) return [name, merge(node, old(name), now(name))];
      return [name, node.restart === true ? old(name) : now(name)];
    }),
  );
}

/** Of a section that is there only in the type. */
function memberOf(section: unknown): (name: string) => unknown {
  return (name) => (isRecord(section) ? section[name] : undefined);
}

/** Each key's value as text, by its path. */
function flatten(tree: ConfigTree, values: unknown, prefix = ''): Map<string, string | undefined> {
  const entries = Object.entries(tree).flatMap(([name, node]): (readonly [string, string | undefined])[] => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const value = new Map(Object.entries(values ?? {})).get(name);
    return isConfigKey(node) ? [[path, JSON.stringify(value)]] : [...flatten(node, value, path)];
  });
  return new Map(entries);
}

function needsRestart(path: string): boolean {
  return listConfigKeys().some((named) => named.path === path && named.key.restart === true);
}

/** Only to be quick: the poll finds every change as well. */
function watchWithNode(directory: string, onEvent: () => void): () => void {
  try {
    const watcher = watch(directory, { persistent: false }, onEvent);
    // The directory went away, or there are too many watches: the poll goes on alone.
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    // No such directory yet, or no more watches to be had: likewise.
    return () => {};
  }
}
