/** Records as those see them who may not see all: whoever asks, or an operator that runs with Roles only. */
import type { NamespaceRecord, VolumeClaimRecord } from '../../model/records.ts';
import type { Sides } from '../../model/sides.ts';
import type { SnapshotRecords } from '../../model/snapshot.ts';
import { nodesToldBy } from '../../observe/inferred-nodes.ts';
import type { MissingName } from './missing-data.ts';

/**
 * Without these it is not known whether a pod may be moved: a budget may forbid it, a node may be leaving anyway, or be
 * full.
 */
const CRUCIAL = ['nodes', 'poddisruptionbudgets'] as const satisfies readonly MissingName[];

/** What stands for records that may not be read. */
export function asAllowed(
  records: SnapshotRecords,
  unreadable: ReadonlySet<MissingName>,
  sides: Sides,
): SnapshotRecords {
  const hidden = CRUCIAL.filter((name) => unreadable.has(name));
  return {
    ...records,
    ...(unreadable.has('nodes') && { nodes: nodesToldBy(records.pods ?? [], sides) }),
    ...(hidden.length > 0 && { freshness: { synced: true, stale: [], hidden } }),
  };
}

/** As an operator with `controllers.watchNamespaces` sees them (docs/namespace-scope.md). */
export function asWatched(records: SnapshotRecords, namespaces: readonly string[], sides: Sides): SnapshotRecords {
  const watched = new Set(namespaces);
  const { pods = [], volumeClaims = [], freshness } = records;
  const hidden = freshness?.hidden?.filter((name) => !isUnwatched(name)) ?? [];
  return {
    ...records,
    freshness: { synced: true, stale: [], ...(hidden.length > 0 && { hidden }) },
    namespaces: namespaces.map(enabledNamespace),
    nodes: nodesToldBy(
      pods.filter(({ namespace }) => watched.has(namespace)),
      sides,
    ),
    volumeClaims: volumeClaims.map(withHiddenVolume),
    isPartial: true,
  };
}

/** Of a namespace of which nothing else is known. */
export function enabledNamespace(name: string): NamespaceRecord {
  return { name, labels: {}, annotations: {}, enabled: true, terminating: false };
}

function withHiddenVolume(claim: VolumeClaimRecord): VolumeClaimRecord {
  return claim.bound ? { ...claim, requiredNodeTerms: [] } : claim;
}

const isUnwatched = (name: string): boolean => [...unwatched].some((each) => each === name);

/** Nobody misses what the operator does not look at either. */
export const unwatched: ReadonlySet<MissingName> = new Set([
  'namespaces',
  'nodes',
  'persistentvolumes',
  'pods of other namespaces',
]);
