/** What plan, explain and status look at: a frozen picture of a cluster or of files, the rules it is judged by, and what it lacks. */
import { homedir } from 'node:os';
import { loadConfigFile } from '../../config/load.ts';
import { loadPricesFile } from '../../config/prices-file.ts';
import type { AllocationSettings } from '../../controllers/allocation-settings.ts';
import { compilePlacementRules, type PlacementRules } from '../../controllers/placement-rules.ts';
import type { PolicyTenancy } from '../../decide/rightsizing/policy-match.ts';
import { loadConnection } from '../../kube/auth/load-connection.ts';
import { createKubeApi } from '../../kube/client.ts';
import { describeError } from '../../lib/errors.ts';
import { createLogger, createStderrWriter } from '../../lib/log.ts';
import type { ClusterView } from '../../model/cluster-view.ts';
import type { PodRecord } from '../../model/records.ts';
import { createSnapshot } from '../../model/snapshot.ts';
import { allocationSettingsOf } from '../../operator/allocation-settings.ts';
import { placementSettingsOf } from '../../operator/placement-settings.ts';
import { rightsizingSettingsOf } from '../../operator/rightsizing-settings.ts';
import type { AllocationInput } from '../allocation/allocation-input.ts';
import type { CliContext } from '../cli-context.ts';
import { CommandError } from '../cli-error.ts';
import type { InputOptions } from '../input-options.ts';
import type { SizingInput } from '../sizing/sizing-input.ts';
import { type AssumedAnnotations, assumeEnabled } from './assume-enabled.ts';
import type { ClusterInput } from './cluster-input.ts';
import { loadFiles } from './load-files.ts';
import { type LiveInput, loadLive } from './load-live.ts';
import { findMissingData, type MissingData } from './missing-data.ts';

/** What the commands work on, whichever way it was found. */
export interface LoadedInput {
  readonly origin: 'files' | 'cluster';
  /** For people: the files' names, or the connection. */
  readonly source: string;
  readonly view: ClusterView;
  /** What the workloads are judged by. */
  readonly rules: PlacementRules;
  /** What rightsizing looks at, and who may size whose workloads. */
  readonly sizing: SizingInput;
  readonly tenancy: PolicyTenancy;
  readonly allocation: AllocationSource;
  readonly counts: ClusterInput['counts'];
  /** Evictions by Stowage that events tell of; undefined where there is no telling. */
  readonly evictions: number | undefined;
  readonly missing: readonly MissingData[];
  readonly ignored: ReadonlyMap<string, number>;
  /** One sentence for each object that could not be read, and for each key of the configuration that does nothing. */
  readonly problems: readonly string[];
}

/** What allocation looks at, every pod included, and how the engine is set. */
export interface AllocationSource extends AllocationInput {
  readonly pods: readonly PodRecord[];
  readonly isOn: boolean;
  readonly settings: AllocationSettings;
}

/**
 * Reads the configuration and then the files or the cluster.
 * @param assumed given with `--assume-enabled`.
 * @throws CommandError (or another StowageError) saying what could not be read and what to do.
 */
export async function loadInput(
  context: CliContext,
  options: InputOptions,
  assumed?: AssumedAnnotations,
): Promise<LoadedInput> {
  const { config, warnings } = loadConfigFile(options.config, context.io.env);
  const pricesPath = options.prices ?? config.placement.prices;
  const prices = pricesPath === '' ? undefined : loadPricesFile(pricesPath);
  const rules = compilePlacementRules(placementSettingsOf(config), prices);
  const found =
    options.filename === undefined ? await fromCluster(context) : await fromFiles(context, options.filename);
  const { input, evictions, ...origin } = found;
  const records = assumed === undefined ? input.records : assumeEnabled(input.records, assumed);
  const { counts, ignored, problems, sizing } = input;
  const allocation: AllocationSource = {
    ...input.allocation,
    pods: records.pods ?? [],
    isOn: config.engines.allocation,
    settings: allocationSettingsOf(config),
  };
  const { tenancy } = rightsizingSettingsOf(config);
  const missing = found.missing.filter(({ data }) => assumed === undefined || data !== 'namespaces');
  return {
    ...origin,
    missing,
    evictions,
    rules,
    sizing,
    tenancy,
    allocation,
    counts,
    ignored,
    problems: [...warnings, ...problems],
    view: createSnapshot(records),
  };
}

interface Found {
  readonly origin: LoadedInput['origin'];
  readonly source: string;
  readonly input: ClusterInput;
  readonly missing: readonly MissingData[];
  readonly evictions: number | undefined;
}

async function fromFiles({ io, global }: CliContext, paths: readonly string[]): Promise<Found> {
  const input = await loadFiles({ paths, defaultNamespace: global.namespace ?? 'default' }, io);
  return {
    origin: 'files',
    source: paths.join(', '),
    input,
    missing: findMissingData(input, 'files'),
    evictions: undefined,
  };
}

async function fromCluster({ io, global }: CliContext): Promise<Found> {
  const { clock, random } = io;
  const { kubeconfig, context } = global;
  const connection = await loadConnection({
    env: io.env,
    homeDirectory: homedir(),
    clock,
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
  });
  const log = createLogger({
    level: global.debug ? 'debug' : 'error',
    format: 'text',
    clock,
    write: createStderrWriter(),
  });
  const api = createKubeApi({ connection, clock, random, log });
  try {
    const input: LiveInput = await loadLive(api, io.signal);
    const source = `${connection.server.href} (${connection.description})`;
    return {
      origin: 'cluster',
      source,
      input,
      missing: findMissingData(input, 'cluster', input.unreadable),
      evictions: input.evictions,
    };
  } catch (error) {
    if (error instanceof CommandError || io.signal.aborted) throw error;
    throw new CommandError(
      `the cluster at ${connection.server.href} (${connection.description}) cannot be read: ${describeError(error)}. ` +
        'Check --kubeconfig and --context, or give files with -f.',
      { cause: error },
    );
  } finally {
    api.close();
  }
}
