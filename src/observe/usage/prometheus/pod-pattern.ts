/**
 * The regular expression that finds all pods of a workload by name, those long gone included (RE2, anchored at both
 * ends).
 */
import type { WorkloadRef } from '../../../model/cluster-view.ts';

/** What k8s.io/apimachinery rand.String and SafeEncodeString are made of: no vowels, so that no words come out. */
const SAFE = '[bcdfghjklmnpqrstvwxz2456789]';
/** For whoever names pods by another alphabet. */
const LOOSE = '[a-z0-9]';
/** Names of generated pods keep this much of their owner's name and get 5 characters (apiserver storage/names). */
const MAX_PREFIX = 58;
/** More names in one pattern would make the query too long. */
const MAX_NAMES = 40;

/**
 * Only as wide as needed: strict patterns keep `web` from finding the pods of `web-api`. Where a pod that exists does
 * not fit, whoever made it names pods in another way, and the pattern is widened until it does.
 * @param pods names of pods that exist now.
 */
export function podPattern(workload: WorkloadRef, pods: readonly string[]): string {
  for (const letters of [SAFE, LOOSE]) {
    const pattern = generated(workload, letters);
    const whole = new RegExp(`^(?:${pattern})$`);
    if (pods.every((pod) => whole.test(pod))) return pattern;
  }
  const known = pods.slice(0, MAX_NAMES).map(escapeRegex);
  return [generated(workload, LOOSE), ...known].join('|');
}

/** Names that the kind's controller generates for its pods. */
function generated({ kind, name }: WorkloadRef, letters: string): string {
  const random = `${letters}{5}`;
  switch (kind) {
    case 'StatefulSet':
      return `${escapeRegex(name)}-[0-9]+`;
    case 'DaemonSet':
    case 'ReplicaSet':
    case 'ReplicationController':
      return `${prefix(`${name}-`)}${random}`;
    case 'Job':
      // Indexed completions put the index in between.
      return `${prefix(`${name}-`)}(?:[0-9]+-)?${random}`;
    case 'CronJob':
      return `${prefix(`${name}-`)}[0-9]{4,10}-(?:[0-9]+-)?${random}`;
    default: {
      // A Deployment, or anything else that has ReplicaSets. Of a long name, the hash is cut, too.
      const isCut = name.length + 12 > MAX_PREFIX;
      const hash = isCut ? `(?:${letters}{0,10}-?)` : `${letters}{1,10}-`;
      return `${prefix(`${name}-`)}${hash}${random}`;
    }
  }
}

const prefix = (text: string): string => escapeRegex(text.slice(0, MAX_PREFIX));

/** Names are lower-case letters, digits, dashes and dots; anything else is escaped all the same. */
export function escapeRegex(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, (character) => `\\${character}`);
}
