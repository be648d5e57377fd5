/** Holds rightsizing to finishing what it began: at rest, pods have the sizes that are in force for their workload, or it is told why not. */
import { rightsizingKeys } from '../api/annotations-rightsizing.ts';
import type { Pod } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import type { Caches } from '../cluster/caches.ts';
import { isReady, isTerminating } from '../cluster/pod-state.ts';
import { isRecord } from '../lib/is-record.ts';
import { tryParseJson } from '../lib/try-parse-json.ts';
import { type SizeKey, sizeOf, sizeParts } from './container-sizes.ts';
import type { WorkloadFacts } from './fleet-watch.ts';
import type { Ledger } from './ledger.ts';
import { treeAt } from './policy-book.ts';
import { isRivals } from './rivals.ts';
import { type SizeConsent, updatesOf } from './size-consent.ts';

export interface InForceJudgeOptions {
  readonly caches: Caches;
  readonly ledger: Pick<Ledger, 'check'>;
  readonly consent: Pick<SizeConsent, 'ofWorkload' | 'isAllocated' | 'templateSize'>;
}

/** What the annotation calls them. */
const KEYS: Readonly<Record<string, SizeKey>> = {
  cpuRequest: 'cpu request',
  memoryRequest: 'memory request',
  cpuLimit: 'cpu limit',
  memoryLimit: 'memory limit',
};

/** One amount that pods are to have in place of their template's. */
interface Wanted {
  readonly container: string;
  readonly key: SizeKey;
  /** What the template said then. */
  readonly from: number | undefined;
  readonly to: number;
}

/**
 * @returns the look at one workload that nothing happened to for a while.
 * `explanation` is what is told of its sizes lately; undefined where nothing is.
 */
export function createInForceJudge({ caches, ledger, consent }: InForceJudgeOptions) {
  const annotationsOf = ({ kind, key }: WorkloadFacts): Readonly<Record<string, string>> => {
    const object =
      kind === 'Deployment' ? caches.of(resources.deployments).get(key) : caches.of(resources.statefulSets).get(key);
    return object?.metadata?.annotations ?? {};
  };
  const isToHaveThem = (pod: Pod): boolean =>
    pod.status?.phase === 'Running' && isReady(pod) && !isTerminating(pod) && !isRivals(pod);

  return (facts: WorkloadFacts, explanation: () => string | undefined): void => {
    const annotations = annotationsOf(facts);
    const wanted = wantedIn(annotations[rightsizingKeys.appliedSizes]);
    // Replicas that are sized each for itself have others.
    if (wanted.length === 0 || annotations[rightsizingKeys.replicaSizes] !== undefined) return;
    if (!consent.ofWorkload(facts).some((spec) => updatesOf(spec)['allowInPlaceResize'] !== false)) return;
    const [namespace = ''] = facts.key.split('/');
    for (const pod of caches.of(resources.pods).inNamespace(namespace)) {
      if (!facts.pods.has(pod.metadata?.uid ?? '') || !isToHaveThem(pod)) continue;
      const missing = wanted.find(({ container, key, from, to }) => {
        if (sizeParts[key].resource === 'cpu' && consent.isAllocated(pod)) return false;
        // Whoever edits the template means what he writes.
        if (consent.templateSize(pod, container)?.get(key) !== from) return false;
        const own = pod.spec?.containers.find(({ name }) => name === container);
        return own !== undefined && sizeOf(own).get(key) !== to;
      });
      ledger.check(
        'inForce',
        missing === undefined || explanation() !== undefined,
        () =>
          `${namespace}/${pod.metadata?.name} has not the ${missing?.key} ${missing?.to} that is in force for ${facts.key}`,
      );
    }
  };
}

/** As model/applied-sizes.ts writes it: `{"app":{"cpuRequest":[250,120]}}`, null for none. */
export function wantedIn(text: string | undefined): readonly Wanted[] {
  const value = text === undefined ? undefined : tryParseJson(text);
  if (!isRecord(value)) return [];
  return Object.keys(value).flatMap((container) =>
    Object.entries(treeAt(value, container)).flatMap(([name, amount]): Wanted[] => {
      const key = KEYS[name];
      const [from, to] = Array.isArray(amount) ? (amount as unknown[]) : [];
      if (key === undefined || typeof to !== 'number') return [];
      return [{ container, key, from: typeof from === 'number' ? from : undefined, to }];
    }),
  );
}
