/**
 * From the text of the file and the environment to a checked configuration, or to all the reasons why there is none.
 */

import { readFileSync } from 'node:fs';
import { ConfigError, describeFileError } from '../lib/errors.ts';
import { isRecord } from '../lib/is-record.ts';
import { quoted } from '../lib/shortened.ts';
import { configAliases, unusedKeys } from './aliases.ts';
import { checkConfig } from './checks.ts';
import type { ConfigKey } from './config-key.ts';
import { type Environment, readEnvironment } from './environment.ts';
import { timesWithin } from './lease-times.ts';
import { type Config, type ConfigTree, configTree, isConfigKey, listConfigKeys } from './schema.ts';
import { parseYamlSource, type YamlSource } from './yaml-source.ts';

/** All that a configuration is made of; the same input gives the same configuration. */
export interface ConfigInput {
  /** The YAML text; empty for defaults. */
  readonly text: string;
  /** For messages. */
  readonly fileName: string;
  readonly env: Environment;
}

/** Complete: every key has its value, from wherever. */
export interface LoadedConfig {
  readonly config: Config;
  /** What is not as it may have been meant, a sentence each; nothing that keeps the process from running. */
  readonly warnings: readonly string[];
}

/** A value with the place it comes from. */
interface Given {
  readonly value: unknown;
  /** What a message about it begins with, e.g. `config.yaml:12: webhook.port`. */
  readonly label: string;
}

/**
 * Defaults, then the file, then `SPOTALIS_*` variables; the last wins.
 * @throws ConfigError listing every problem, each with its key, its value, what is accepted, and the line or variable.
 */
export function loadConfig({ text, fileName, env }: ConfigInput): LoadedConfig {
  const source = parseYamlSource(text, fileName);
  const problems: string[] = [];
  const warnings: string[] = [];
  const at = (path: string): string => {
    const line = source.lineOf(path.split('.'));
    return `${fileName}${line === undefined ? '' : `:${line}`}: `;
  };
  const given = readFile(source, at, problems, warnings);

  const overlay = readEnvironment(env);
  problems.push(...overlay.problems);
  warnings.push(...overlay.warnings);
  for (const { path, variable, value } of overlay.values) given.set(path, { value, label: `${variable}: ${path}` });
  switchOff(given);
  const derived = timesWithin((path) => given.get(path)?.value);

  const config = resolve(configTree, '', (path, key) => {
    const value = derived.get(path);
    return readKey(key, value === undefined ? given.get(path) : { value, label: path }, problems);
  });
  // Contradictions between keys mean something only where each key is valid.
  if (problems.length === 0) {
    for (const { path, message } of checkConfig(config)) problems.push(originOf(path, given, at) + message);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return { config, warnings };
}

/**
 * {@link loadConfig} of a file; without a path, of defaults and environment.
 * @throws ConfigError also when the file cannot be read.
 */
export function loadConfigFile(path: string | undefined, env: Environment): LoadedConfig {
  return loadConfig({ text: path === undefined ? '' : readConfigFile(path), fileName: path ?? 'defaults', env });
}

/** @throws ConfigError when the file cannot be read. */
export function readConfigFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError([
      `failed to load config from file ${path}: ${describeFileError(error)}; name another with --config`,
    ]);
  }
}

/** The values of the file by the path of their key, aliases followed. */
function readFile(
  source: YamlSource,
  at: (path: string) => string,
  problems: string[],
  warnings: string[],
): Map<string, Given> {
  const keys = new Map(listConfigKeys().map(({ path, key }) => [path, key]));
  const aliases = new Map(configAliases.map((alias) => [alias.from, alias]));
  const sections = sectionsOf([...keys.keys(), ...aliases.keys(), ...unusedKeys.keys()]);
  const given = new Map<string, Given>();
  const aliased: { readonly from: string; readonly to: string; readonly value: unknown }[] = [];

  const walk = (object: Readonly<Record<string, unknown>>, prefix: string): void => {
    for (const [name, value] of Object.entries(object)) {
      const path = prefix === '' ? name : `${prefix}.${name}`;
      const alias = aliases.get(path);
      const unused = unusedKeys.get(path);
      // A key without a value is as good as none, in YAML's way of writing it too.
      if (keys.has(path)) {
        if (value !== null) given.set(path, { value, label: at(path) + path });
      } else if (alias !== undefined) {
        const problem = alias.problemOf?.(value);
        if (problem === undefined) {
          aliased.push({ from: path, to: alias.to, value: alias.convert === undefined ? value : alias.convert(value) });
        } else problems.push(`${at(path)}${path} (${alias.to}) ${problem}`);
      } else if (unused !== undefined) {
        warnings.push(`${at(path)}${path} has no effect: ${unused}`);
      } else if (!sections.has(path)) {
        warnings.push(`${at(path)}${path} is not a key of the configuration; it is ignored`);
      } else if (isRecord(value)) {
        walk(value, path);
      } else if (value !== null) {
        problems.push(`${at(path)}${path} must hold keys with values, not ${quoted(value)}`);
      }
    }
  };
  walk(source.root, '');

  for (const { from, to, value } of aliased) {
    if (value === undefined || value === null) continue;
    if (given.has(to)) warnings.push(`${at(from)}${from} is ignored, because ${to} is set, which means the same`);
    else given.set(to, { value, label: `${at(from)}${from} (${to})` });
  }
  return given;
}

/** The address "0" switches its server off, wherever it was written, as in controller-runtime. */
function switchOff(given: Map<string, Given>): void {
  const off = [...given].filter(([path, { value }]) => path.endsWith('.bindAddress') && (value === '0' || value === 0));
  for (const [path, { label }] of off) {
    given.delete(path);
    given.set(path.replace(/bindAddress$/, 'enabled'), { value: false, label });
  }
}

/** All proper prefixes of dotted paths. */
function sectionsOf(paths: readonly string[]): ReadonlySet<string> {
  const sections = new Set<string>();
  for (const path of paths) {
    for (let dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) sections.add(path.slice(0, dot));
  }
  return sections;
}

/** The value of one key; each of its problems with key, value and what is accepted. */
function readKey(key: ConfigKey<unknown>, given: Given | undefined, problems: string[]): unknown {
  const result = key.schema.safeParse(given === undefined ? key.defaultValue : given.value);
  if (result.success) return result.data;
  for (const { path, message } of result.error.issues) {
    const within = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
    problems.push(`${given?.label ?? ''}${within} ${message}: ${written(given?.value)}; accepted: ${key.accepted}`);
  }
  return undefined;
}

/** For a message; without who signs in at an address, and by which password, which a cut may leave without its end. */
function written(value: unknown): string | undefined {
  const text = JSON.stringify(value)?.replace(/(:\/\/)[^/"]*@/g, '$1...@');
  return text === undefined ? undefined : quoted(JSON.parse(text));
}

/** The tree with a value for each key. */
function resolve(tree: typeof configTree, prefix: '', read: (path: string, key: ConfigKey<unknown>) => unknown): Config;
function resolve(tree: ConfigTree, prefix: string, read: (path: string, key: ConfigKey<unknown>) => unknown): unknown;
function resolve(tree: ConfigTree, prefix: string, read: (path: string, key: ConfigKey<unknown>) => unknown): unknown {
  return Object.fromEntries(
    Object.entries(tree).map(([name, node]) => {
      const path = prefix === '' ? name : `${prefix}.${name}`;
      return [name, isConfigKey(node) ? read(path, node) : resolve(node, path, read)];
    }),
  );
}

/** Where the value at `path`, or the first given one in that section, was written; empty when all are defaults. */
function originOf(path: string, given: ReadonlyMap<string, Given>, at: (path: string) => string): string {
  const found = [...given.entries()].find(([key]) => key === path || key.startsWith(`${path}.`));
  if (found === undefined) return '';
  const [key, { label }] = found;
  return label.startsWith('SPOTALIS_') ? label.slice(0, label.length - key.length) : at(path);
}
