/**
 * OptimizationPolicies of both API groups as records. A group whose definition is not installed is waited for without a
 * word.
 */
import type { KubeApi } from '../api/kube-api.ts';
import { type OptimizationPolicy, policyGroups, policyType } from '../api/optimization-policy.ts';
import type { PolicySpecLimits } from '../api/optimization-policy-check.ts';
import type { Informer } from '../kube/informer.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { type PolicyRecord, parsePolicy } from '../model/optimization-policy.ts';
import { informerIn, type NamespaceScope } from './live-stores.ts';
import { createOptionalInformer } from './sizing/optional-informer.ts';

/**
 * How a policy changed. `spec`: a new policy, another generation, or its deletion was asked for; `status`: anything
 * else, which as a rule is what Stowage itself has written and calls for nothing.
 */
export type PolicyChange =
  | { readonly kind: 'spec' | 'status'; readonly policy: PolicyRecord }
  | { readonly kind: 'gone'; readonly policy: PolicyRecord };

/** Policies of both groups as one list; which of them has the say is decided elsewhere. */
export interface PolicyStores {
  /** By the full name of what each follows. */
  readonly informers: readonly (readonly [string, Informer<PolicyRecord>])[];
  /** Of both groups, valid or not. The same array until something changes. */
  policies(): readonly PolicyRecord[];
  /**
   * False while what is known may be out of date, or may not be read at all: then nothing may be changed on its
   * account, as the policy that is not seen could be the one that has the say.
   * @param namespace of the workload it is about: of several that are watched one may not be read.
   */
  isFresh(namespace?: string): boolean;
  /**
   * Policies already there are replayed as `spec`; one that was made anew under the same name is first told gone.
   * Returns the function that ends the subscription.
   */
  onChange(listener: (change: PolicyChange) => void): () => void;
  /** Resolves when of each group the policies are known, or that there is no such group. */
  readonly onSynced: Promise<void>;
  /** Follows until `signal` aborts. Call once. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

export interface PolicyStoresOptions {
  readonly api: KubeApi;
  /** Left out, the whole cluster. */
  readonly scope?: NamespaceScope | undefined;
  readonly limits?: PolicySpecLimits | undefined;
  /** Whose policies may select workloads of other namespaces; default: all. */
  readonly rulingNamespaces?: readonly string[] | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export function createPolicyStores(options: PolicyStoresOptions): PolicyStores {
  const { scope, limits } = options;
  const ruling = options.rulingNamespaces ?? scope?.namespaces ?? [];
  const informers = policyGroups.map((group) => {
    const type = policyType(group);
    const project = (object: OptimizationPolicy): PolicyRecord => parsePolicy(group, object, limits);
    return createOptionalInformer<PolicyRecord>({
      ...options,
      type,
      probeNamespaces: scope?.namespaces,
      create: () => informerIn(options, type, { ...options, type, project }),
    });
  });
  let known: readonly PolicyRecord[] | undefined;
  for (const informer of informers) {
    informer.subscribe({
      onChange() {
        known = undefined;
      },
    });
  }

  return {
    informers: policyGroups.flatMap((group, index) => {
      const informer = informers[index];
      return informer === undefined ? [] : [[`optimizationpolicies.${group}`, informer] as const];
    }),
    policies() {
      known ??= informers.flatMap(({ store }) => [...store.values()]);
      return known;
    },
    isFresh(namespace) {
      const whose = namespace === undefined ? ruling : [...ruling, namespace];
      return informers.every(
        (informer) =>
          informer.freshness() === 'fresh' &&
          informer.refusal() === undefined &&
          whose.every((each) => informer.freshnessIn(each) === 'fresh'),
      );
    },
    onChange(listener) {
      const ends = informers.map((informer) =>
        informer.subscribe({
          onChange(_, before, after) {
            for (const change of changesOf(before, after)) listener(change);
          },
        }),
      );
      return () => {
        for (const end of ends) end();
      };
    },
    onSynced: Promise.all(informers.map(({ onSynced }) => onSynced)).then(() => undefined),
    async run(signal) {
      await Promise.all(informers.map((informer) => informer.run(signal)));
    },
  };
}

/** By generation, which the API server raises with every change of the spec and with no other. */
function changesOf(before: PolicyRecord | undefined, after: PolicyRecord | undefined): readonly PolicyChange[] {
  const isSame = before?.uid === after?.uid;
  const gone: readonly PolicyChange[] = before === undefined || isSame ? [] : [{ kind: 'gone', policy: before }];
  if (after === undefined) return gone;
  const isSpec = !isSame || before?.generation !== after.generation || before.deleting !== after.deleting;
  return [...gone, { kind: isSpec ? 'spec' : 'status', policy: after }];
}
