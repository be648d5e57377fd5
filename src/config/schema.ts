/**
 * The configuration: every key with its kind, default, environment variable and meaning, in the shape of the file. To
 * add a key, add it in the file of its section: the type, the checks, docs/configuration.md and the environment overlay
 * follow from it.
 */
import type { ConfigKey } from './config-key.ts';
import { allocationKeys } from './schema-allocation.ts';
import { controllersKeys } from './schema-controllers.ts';
import { enginesKeys, operatorKeys } from './schema-operator.ts';
import { placementKeys } from './schema-placement.ts';
import { rightsizingKeys } from './schema-rightsizing.ts';
import { observabilityKeys, webhookKeys, webKeys } from './schema-serving.ts';

/** In the order of the documentation. */
export const configTree = {
  operator: operatorKeys,
  engines: enginesKeys,
  controllers: controllersKeys,
  placement: placementKeys,
  rightsizing: rightsizingKeys,
  allocation: allocationKeys,
  webhook: webhookKeys,
  web: webKeys,
  observability: observabilityKeys,
} as const satisfies ConfigTree;

/** Sections and keys, nested as in the file. */
export interface ConfigTree {
  readonly [name: string]: ConfigTree | ConfigKey<unknown>;
}

/** What a tree of keys yields. */
type ConfigOf<Tree> = {
  readonly [Name in keyof Tree]: Tree[Name] extends ConfigKey<infer Value> ? Value : ConfigOf<Tree[Name]>;
};

/** The checked configuration: durations in milliseconds, defaults filled in. */
export type Config = ConfigOf<typeof configTree>;

/** A leaf of the tree, rather than a section. */
export function isConfigKey(node: ConfigTree | ConfigKey<unknown>): node is ConfigKey<unknown> {
  return 'leaf' in node && node.leaf === true;
}

/** A leaf with its place. */
export interface NamedKey {
  /** Dotted, e.g. `webhook.port`. */
  readonly path: string;
  readonly key: ConfigKey<unknown>;
}

/** All keys in the order of the file. */
export function listConfigKeys(tree: ConfigTree = configTree, prefix = ''): NamedKey[] {
  return Object.entries(tree).flatMap(([name, node]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    return isConfigKey(node) ? [{ path, key: node }] : listConfigKeys(node, path);
  });
}
