/** What plan, explain and status look at: a frozen picture of a cluster or of files, the rules it is judged by, and what it lacks. */
import { loadConfigFile } from '../../config/load.ts';
import type { AllocationSettings } from '../../controllers/allocation/settings.ts';
import { compilePlacementRules, type PlacementRules } from '../../controllers/placement/rules.ts';
import type { PolicyTenancy } from '../../decide/rightsizing/policy-match.ts';
import type { EpochMillis } from '../../lib/units.ts';
import type { ClusterView } from '../../model/cluster-view.ts';
import type { PodRecord } from '../../model/records.ts';
import { createSnapshot } from '../../model/snapshot.ts';
import { allocationSettingsOf } from '../../operator/allocation-settings.ts';
import { placementSettingsOf } from '../../operator/placement-settings.ts';
import { rightsizingSettingsOf } from '../../operator/rightsizing-settings.ts';
import type { AllocationInput } from '../allocation/allocation-input.ts';
import type { CliContext } from '../cli-context.ts';
import type { InputOptions } from '../input-options.ts';
import { seenTenancy } from '../sizing/seen-tenancy.ts';
import type { SizingInput } from '../sizing/sizing-input.ts';
import { RIGHTS_PAGE, withCluster } from '../with-cluster.ts';
import { asAllowed, asWatched, unwatched } from './as-seen.ts';
import { type AssumedAnnotations, assumeEnabled } from './assume-enabled.ts';
import type { ClusterInput } from './cluster-input.ts';
import { OLD_DUMP_MILLIS } from './dump-time.ts';
import { loadFiles } from './load-files.ts';
import { type LiveInput, loadLive } from './load-live.ts';
import { type MissingData, missingFromCluster, missingFromFiles } from './missing-data.ts';
import { readPrices } from './prices-input.ts';

/** What the commands work on, whichever way it was found. */
export interface LoadedInput {
  readonly origin: 'files' | 'cluster';
  /** For people: the files' names, or the connection. */
  readonly source: string;
  readonly view: ClusterView;
  /** Nodes are those of the input; else they are known only as pods tell of them. */
  readonly seesNodes: boolean;
  /** What the workloads are judged by. */
  readonly rules: PlacementRules;
  /** What rightsizing looks at, and who may size whose workloads. */
  readonly sizing: SizingSource;
  readonly tenancy: PolicyTenancy;
  readonly allocation: AllocationSource;
  readonly counts: ClusterInput['counts'];
  /** Evictions by Stowage that events tell of; undefined where there is no telling. */
  readonly evictions: number | undefined;
  readonly missing: readonly MissingData[];
  readonly ignored: ReadonlyMap<string, number>;
  /** One sentence for each object that could not be read, and for each key of the configuration that does nothing. */
  readonly problems: readonly string[];
  readonly repeated: ClusterInput['repeated'];
}

/** What rightsizing looks at, and whether there is one. */
export interface SizingSource extends SizingInput {
  /** Not where the operator's configuration is at hand and has the engine off. */
  readonly isOn: boolean;
}

/** What allocation looks at, every pod included, and how the engine is set. */
export interface AllocationSource extends AllocationInput {
  readonly pods: readonly PodRecord[];
  /** Pods of other namespaces are not among them. */
  readonly isPartial: boolean;
  readonly isOn: boolean;
  readonly settings: AllocationSettings;
  /** From when the input is, where that is not now. */
  readonly asOf: EpochMillis | undefined;
}

export interface InputScope {
  /** Given with `--assume-enabled`. */
  readonly assumed?: AssumedAnnotations | undefined;
  /** The only namespace of a cluster that is needed; default: that of `-n`, else all. Files are always read whole. */
  readonly namespace?: string | undefined;
}

/**
 * Reads the configuration and then the files or the cluster.
 * @throws CommandError (or another StowageError) saying what could not be read and what to do.
 */
export async function loadInput(
  context: CliContext,
  options: InputOptions,
  { assumed, namespace = context.global.namespace }: InputScope = {},
): Promise<LoadedInput> {
  const { config, warnings } = loadConfigFile(options.config, context.io.env);
  const { prices, problem } = readPrices(options.prices, config.placement.prices);
  const rules = compilePlacementRules(placementSettingsOf(config), prices);
  const { watchNamespaces } = config.controllers;
  const only = namespace ?? (watchNamespaces.length === 1 ? watchNamespaces[0] : undefined);
  const found =
    options.filename === undefined ? await fromCluster(context, only) : await fromFiles(context, options.filename);
  const { input, evictions, isPartial, ...origin } = found;
  const { counts, ignored, problems, repeated, sizing } = input;
  const asOf = found.origin === 'files' && isOld(input.takenAt, context.io.clock.now()) ? input.takenAt : undefined;
  const isWatching = watchNamespaces.length > 0;
  const unreadable = new Set(found.origin === 'cluster' ? found.missing.map(({ data }) => data) : []);
  const allowed = asAllowed({ ...input.records, isPartial }, unreadable, rules.sides);
  const seen = isWatching ? asWatched(allowed, watchNamespaces, rules.sides) : allowed;
  const records = assumed === undefined ? seen : assumeEnabled(seen, assumed);
  const allocation: AllocationSource = {
    ...input.allocation,
    pods: records.pods ?? [],
    isPartial: records.isPartial === true,
    isOn: config.engines.allocation,
    settings: allocationSettingsOf(config),
    asOf,
  };
  const { tenancy } = rightsizingSettingsOf(config);
  // Without the file nobody says how the operator is set; policies are there for one that sizes.
  const isSizing = options.config === undefined || config.engines.rightsizing;
  return {
    ...origin,
    missing: found.missing.filter(
      ({ data }) => !(isWatching && unwatched.has(data)) && (assumed === undefined || data !== 'namespaces'),
    ),
    seesNodes: !isWatching && !unreadable.has('nodes'),
    evictions,
    rules,
    sizing: { ...sizing, isOn: isSizing },
    tenancy: options.config === undefined ? seenTenancy(tenancy, sizing.policies) : tenancy,
    allocation,
    counts,
    ignored,
    problems: [...warnings, ...(problem === undefined ? [] : [problem]), ...problems, ...oldDump(asOf, input)],
    repeated,
    view: createSnapshot({ ...records, ownNamespace: config.operator.namespace }),
  };
}

const isOld = (takenAt: EpochMillis | undefined, now: EpochMillis): boolean =>
  takenAt !== undefined && now - takenAt > OLD_DUMP_MILLIS;

function oldDump(asOf: EpochMillis | undefined, { allocation }: ClusterInput): readonly string[] {
  if (asOf === undefined || allocation.allocations.size === 0) return [];
  return [`the input is of ${new Date(asOf).toISOString()}: which agents are alive is told as of then`];
}

interface Found {
  readonly origin: LoadedInput['origin'];
  readonly source: string;
  readonly input: ClusterInput;
  readonly missing: readonly MissingData[];
  readonly isPartial: boolean;
  readonly evictions: number | undefined;
}

async function fromFiles({ io, global }: CliContext, paths: readonly string[]): Promise<Found> {
  const input = await loadFiles({ paths, defaultNamespace: global.namespace ?? 'default' }, io);
  return {
    origin: 'files',
    source: paths.join(', '),
    input,
    missing: missingFromFiles(input),
    isPartial: false,
    evictions: undefined,
  };
}

async function fromCluster(context: CliContext, namespace: string | undefined): Promise<Found> {
  const rights = namespace === undefined ? 'Choose a namespace you may read with -n' : 'Ask for the right';
  return await withCluster(
    context,
    async (api, source) => {
      const input: LiveInput = await loadLive(api, { namespace }, context.io.signal);
      const { unreadable, isPartial, evictions } = input;
      return {
        origin: 'cluster',
        source,
        input,
        missing: missingFromCluster(input, unreadable),
        isPartial,
        evictions,
      };
    },
    { otherwise: 'give files with -f', rights: `${rights}: ${RIGHTS_PAGE}` },
  );
}
