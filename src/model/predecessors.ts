/**
 * Systems whose place Stowage takes, under names that it keeps: their kinds, annotations, Lease and field managers. By
 * what is written nobody can tell which of the two wrote it, so their programs are looked for (adr/0035).
 */
import type { PolicyGroup } from '../api/optimization-policy.ts';
import type { Labels, PodRecord } from './records.ts';

type Predecessor = 'Spotalis' | 'OptiPod' | 'MBCAS';

/** A pod that runs a program of theirs. */
export interface RunningPredecessor {
  readonly system: Predecessor;
  /** `namespace/name`. */
  readonly pod: string;
}

/** By the value of `app.kubernetes.io/name` that each gives its programs and their pods, also the end of the name of its page. */
export const predecessors: ReadonlyMap<string, Predecessor> = new Map([
  ['spotalis', 'Spotalis'],
  ['optipod', 'OptiPod'],
  ['mbcas', 'MBCAS'],
]);

/** Whether labels are those of our own programs: under whatever name, or of a chart that only said its own. */
export function isStowage(labels: Labels): boolean {
  return (
    labels['app.kubernetes.io/name'] === 'stowage' ||
    labels['app.kubernetes.io/part-of'] === 'stowage' ||
    labels['helm.sh/chart']?.startsWith('stowage-') === true
  );
}

/** Whose program or pod has these labels; our own may be called like one of them. */
export function predecessorOf(labels: Labels): Predecessor | undefined {
  return isStowage(labels) ? undefined : predecessors.get(labels['app.kubernetes.io/name'] ?? '');
}

/**
 * Under a name of theirs, and part of who knows what: those of earlier charts did not say, and users may say it. Of the
 * three only MBCAS has agents, and none an operator.
 */
function isOurPod(labels: Labels, system: Predecessor): boolean {
  const component = labels['app.kubernetes.io/component'];
  return component === 'operator' || (component === 'agent' && system !== 'MBCAS');
}

/**
 * Undefined for every other pod. One on its way out writes until it has ended.
 * @param ownNamespace of the operator; left out, it is not known.
 */
export function runningPredecessor(pod: PodRecord, ownNamespace?: string): RunningPredecessor | undefined {
  const { namespace, name, phase, template } = pod;
  const system = phase === 'Running' ? predecessorOf(template.labels) : undefined;
  if (system === undefined || isOurPod(template.labels, system)) return undefined;
  const isTheirs = namespace === ownNamespace || namespace === 'kube-system' || isNamedAfter(namespace, system);
  return isTheirs ? { system, pod: `${namespace}/${name}` } : undefined;
}

/** Anybody may give his pods any label: only where an administrator says who has pods does it count for the whole cluster. */
function isNamedAfter(namespace: string, system: Predecessor): boolean {
  const label = system.toLowerCase();
  return namespace === label || namespace.startsWith(`${label}-`);
}

interface WithPredecessors {
  predecessors(): readonly RunningPredecessor[];
}

/** One pod of that system; undefined where none runs. */
export function runningOf(view: WithPredecessors, system: Predecessor): string | undefined {
  return view.predecessors().find((running) => running.system === system)?.pod;
}

/** A pod of OptiPod, where it acts on policies of the group: of the two it knows the one that it ships. */
export function optipodBeside(view: WithPredecessors, group: PolicyGroup): string | undefined {
  return group === 'optipod.optipod.io' ? runningOf(view, 'OptiPod') : undefined;
}
