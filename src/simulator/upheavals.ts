/** Events of scenarios that take away more than one object: a namespace with all in it, the definitions of Stowage's own types. */
import type { KubeObject } from '../api/core.ts';
import { customResourceDefinition, customResourceDefinitions } from '../api/crd/crd.ts';
import { crdDescriptions } from '../api/crd/crds.ts';
import { isNotFound, unless } from '../api/kube-error.ts';
import { resources } from '../api/resources.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { type Clock, sleep } from '../lib/clock.ts';
import { StowageError } from '../lib/errors.ts';
import type { Millis } from '../lib/units.ts';

export interface UpheavalOptions {
  readonly cluster: Pick<Cluster, 'api' | 'apply'>;
  readonly clock: Clock;
  /** What the scenario made at first, in its order. */
  readonly objects: readonly KubeObject[];
  readonly onPoliciesGone: () => void;
  /** As the scenario has them. */
  readonly onPoliciesBack: () => void;
  /** What waits ends with it, with its reason. */
  readonly signal: AbortSignal;
}

const POLL_MILLIS: Millis = 5_000;

/** Resolves when all of it is there again. */
export async function recreateNamespace(name: string, options: UpheavalOptions): Promise<void> {
  const { cluster, objects, clock, signal } = options;
  const own = objects.filter(({ kind, metadata }) =>
    kind === 'Namespace' ? metadata?.name === name : metadata?.namespace === name,
  );
  const hasPolicies = own.some(isPolicy);
  if (hasPolicies) options.onPoliciesGone();
  const before = await uidOf(name, cluster);
  await unless(isNotFound, cluster.api.delete(resources.namespaces, name));
  // Others may make it again, too.
  while (before !== undefined && (await uidOf(name, cluster)) === before) await sleep(clock, POLL_MILLIS, signal);
  if (hasPolicies) options.onPoliciesBack();
  await make(own, cluster);
}

/** Resolves when they, and the policies, are there again. */
export async function removeDefinitions(forMillis: Millis, options: UpheavalOptions): Promise<void> {
  const { cluster, objects, clock, signal } = options;
  const definitions = crdDescriptions.map(customResourceDefinition);
  options.onPoliciesGone();
  for (const { metadata } of definitions)
    await unless(isNotFound, cluster.api.delete(customResourceDefinitions, metadata?.name ?? ''));
  await sleep(clock, forMillis, signal);
  options.onPoliciesBack();
  await make([...definitions, ...objects.filter(isPolicy)], cluster);
}

function isPolicy({ kind }: KubeObject): boolean {
  return kind === 'OptimizationPolicy';
}

/** Of a namespace; undefined where there is none. */
async function uidOf(name: string, { api }: Pick<Cluster, 'api'>): Promise<string | undefined> {
  return (await unless(isNotFound, api.get(resources.namespaces, name)))?.metadata?.uid;
}

/** One by one: what is made later may need what is made before to be served. */
async function make(objects: readonly KubeObject[], cluster: Pick<Cluster, 'apply'>): Promise<void> {
  for (const object of objects) {
    const [problem] = (await cluster.apply([object])).problems;
    if (problem !== undefined) throw new StowageError('SCENARIO_OBJECTS', `cannot be made again: ${problem}`);
  }
}
