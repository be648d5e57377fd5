/** How users name a workload on the command line, as with kubectl: `deploy/web`, `statefulset.apps/db`, `deploy/shop/web`. */
import { ownMember } from '../lib/own-member.ts';
import type { WorkloadRef } from '../model/cluster-view.ts';
import { UsageError } from './cli-error.ts';

const kinds: Readonly<Record<string, string>> = {
  deploy: 'Deployment',
  deployment: 'Deployment',
  deployments: 'Deployment',
  sts: 'StatefulSet',
  statefulset: 'StatefulSet',
  statefulsets: 'StatefulSet',
  rs: 'ReplicaSet',
  replicaset: 'ReplicaSet',
  replicasets: 'ReplicaSet',
  rollout: 'Rollout',
  rollouts: 'Rollout',
};

/** What a command takes. */
export interface ReferenceKinds {
  readonly words: Readonly<Record<string, string>>;
  /** What Stowage does with them, for messages. */
  readonly verb: string;
}

const placedKinds: ReferenceKinds = { words: kinds, verb: 'places' };
export const sizedKinds: ReferenceKinds = {
  words: { ...kinds, ds: 'DaemonSet', daemonset: 'DaemonSet', daemonsets: 'DaemonSet' },
  verb: 'sizes',
};

/** Every kind that some engine has a say in. */
export const allKinds: ReferenceKinds = { words: sizedKinds.words, verb: 'places or sizes' };

const ACCEPTED = 'write it as deploy/NAMESPACE/NAME, sts/NAMESPACE/NAME, or KIND/NAME with -n NAMESPACE';

/**
 * Reads `KIND/NAME`, `KIND/NAMESPACE/NAME`, or the two words `KIND NAME`.
 * @param namespace of `-n`; `default` where neither it nor the reference names one.
 * @param kinds those that are taken; left out, those of placement.
 * @throws UsageError for anything else, and where `-n` contradicts the reference.
 */
export function parseWorkloadReference(
  words: readonly string[],
  namespace: string | undefined,
  { words: known, verb }: ReferenceKinds = placedKinds,
): WorkloadRef {
  const parts = words.flatMap((word) => word.split('/'));
  const given = words.join(' ');
  const [kindWord = '', ...names] = parts;
  const kind = ownMember(known, kindWord.toLowerCase().replace(/\.(?:(?:v1\.)?apps|(?:v1alpha1\.)?argoproj\.io)$/, ''));
  if (kind === undefined) throw new UsageError(`${given}: "${kindWord}" is no kind that Stowage ${verb}; ${ACCEPTED}`);
  const name = names.at(-1);
  const inReference = names.length === 2 ? names[0] : undefined;
  if (names.length > 2 || name === undefined || name === '' || inReference === '')
    throw new UsageError(`${given}: ${ACCEPTED}`);
  if (inReference !== undefined && namespace !== undefined && inReference !== namespace) {
    throw new UsageError(`${given}: names namespace ${inReference}, but -n says ${namespace}; give one of them`);
  }
  return { kind, namespace: inReference ?? namespace ?? 'default', name };
}
