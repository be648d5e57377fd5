/** What people and the configuration allow the sizing engines on a pod or workload, as they wrote it. */
import type { Deployment, Pod, StatefulSet } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import type { Caches } from '../cluster/caches.ts';
import type { Config } from '../config/schema.ts';
import { sizeOf } from './container-sizes.ts';
import type { FleetWatch, WorkloadFacts } from './fleet-watch.ts';
import { type PolicyBook, type Tree, treeAt } from './policy-book.ts';

export interface SizeConsentOptions {
  readonly caches: Caches;
  readonly config: Config;
  readonly policies: PolicyBook;
  readonly fleet: () => FleetWatch;
}

export interface SizeConsent {
  /** The specs of the policies by which rightsizing may write, by labels of the workload. */
  of(namespace: string, labels: Readonly<Record<string, string>> | undefined): readonly Tree[];
  ofPod(pod: Pod): readonly Tree[];
  ofWorkload(facts: WorkloadFacts): readonly Tree[];
  /** Allocation may write the CPU of the pod. */
  isAllocated(pod: Pod): boolean;
  /** What the container asks for by its workload's template; undefined where that is gone. */
  templateSize(pod: Pod, container: string): ReadonlyMap<string, number> | undefined;
}

export function createSizeConsent({ caches, config, policies, fleet }: SizeConsentOptions): SizeConsent {
  const { engines, rightsizing, allocation, operator } = config;

  const objectOf = (facts: WorkloadFacts | undefined): Deployment | StatefulSet | undefined => {
    if (facts === undefined) return undefined;
    return facts.kind === 'Deployment'
      ? caches.of(resources.deployments).get(facts.key)
      : caches.of(resources.statefulSets).get(facts.key);
  };
  const ownerOf = (pod: Pod): Deployment | StatefulSet | undefined =>
    objectOf(fleet().workloadOfPod(pod.metadata?.uid ?? ''));
  const of: SizeConsent['of'] = (namespace, labels = {}) => {
    if (!engines.rightsizing || rightsizing.dryRun || operator.readOnlyMode) return [];
    return policies.of(namespace, labels).filter((spec) => spec['mode'] === 'Auto');
  };

  return {
    of,
    ofPod: (pod) => of(pod.metadata?.namespace ?? '', ownerOf(pod)?.metadata?.labels),
    ofWorkload(facts) {
      const [namespace = ''] = facts.key.split('/');
      return of(namespace, objectOf(facts)?.metadata?.labels);
    },
    isAllocated(pod) {
      if (!engines.allocation || allocation.apply === 'observe' || operator.readOnlyMode) return false;
      const label = pod.metadata?.labels?.['mbcas.io/managed'];
      return label === 'true' || (label !== 'false' && allocation.managementMode === 'optOut');
    },
    templateSize(pod, container) {
      const found = ownerOf(pod)?.spec?.template.spec?.containers.find(({ name }) => name === container);
      return found && sizeOf(found);
    },
  };
}

/** The updateStrategy of a policy. */
export const updatesOf = (spec: Tree): Tree => treeAt(spec, 'updateStrategy');
