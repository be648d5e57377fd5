/** The policies of a scenario as they are at any moment, and what they allow on a workload: judged by what people wrote, not by how the operator reads it. */

import type { Clock } from '../lib/clock.ts';
import { isRecord } from '../lib/is-record.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import type { ScenarioPolicy } from './scenario/schema.ts';

/** YAML as it was read. */
export type Tree = Readonly<Record<string, unknown>>;

export interface PolicyBook {
  /** A merge patch of a spec was carried out. */
  change(key: string, spec: Tree): void;
  /** It was deleted. */
  remove(key: string): void;
  /** All were deleted. */
  removeAll(): void;
  /** All were made again, as they were at first. */
  renewAll(): void;
  /**
   * The specs of the policies that select the workload, or did a short while ago: whoever acts on what was true a moment ago
   * may.
   */
  of(namespace: string, labels: Readonly<Record<string, string>>): readonly Tree[];
}

interface Version {
  readonly spec: Tree;
  /** When the next one took its place. */
  until: EpochMillis;
}

/** Watches may be late, and a write under way is not called back. */
const GRACE_MILLIS: Millis = 120_000;

export function createPolicyBook(policies: readonly ScenarioPolicy[], clock: Clock): PolicyBook {
  const book = new Map<string, { readonly namespace: string; readonly versions: Version[] }>();
  for (const { name, namespace, spec } of policies) {
    const versions = [{ spec, until: Number.POSITIVE_INFINITY }];
    book.set(`${namespace}/${name}`, { namespace, versions });
  }
  const end = (versions: readonly Version[] | undefined): Version | undefined => {
    const last = versions?.at(-1);
    if (last !== undefined) last.until = Math.min(last.until, clock.now() + GRACE_MILLIS);
    return last;
  };
  return {
    change(key, patch) {
      const versions = book.get(key)?.versions;
      const last = end(versions);
      if (last !== undefined) versions?.push({ spec: mergeTrees(last.spec, patch), until: Number.POSITIVE_INFINITY });
    },
    remove: (key) => void end(book.get(key)?.versions),
    removeAll() {
      for (const { versions } of book.values()) end(versions);
    },
    renewAll() {
      for (const { name, namespace, spec } of policies) {
        const versions = book.get(`${namespace}/${name}`)?.versions;
        end(versions);
        versions?.push({ spec, until: Number.POSITIVE_INFINITY });
      }
    },
    of: (namespace, labels) =>
      [...book.values()]
        .filter((each) => each.namespace === namespace)
        .flatMap(({ versions }) => versions.filter(({ until }) => until > clock.now()))
        .map(({ spec }) => spec)
        .filter((spec) => selects(spec, labels)),
  };
}

/** A merge patch (RFC 7386), as far as policies need it. */
export function mergeTrees(base: Tree, patch: Tree): Tree {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = isRecord(value) ? mergeTrees(treeAt(merged, key), value) : value;
  }
  return merged;
}

/** The branch below a key; empty where there is none. */
export function treeAt(tree: Tree, ...keys: readonly string[]): Tree {
  let at: unknown = tree;
  for (const key of keys) at = isRecord(at) ? at[key] : undefined;
  return isRecord(at) ? at : {};
}

/** By labels alone, as far as scenarios say whom a policy is for. */
function selects(spec: Tree, labels: Readonly<Record<string, string>>): boolean {
  const wanted = treeAt(spec, 'selector', 'workloadSelector', 'matchLabels');
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}
