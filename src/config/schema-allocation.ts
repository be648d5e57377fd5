/**
 * The keys of the allocation engine in the operator. How shares are worked out is set on the agents (docs/agent.md).
 */
import { choice, duration, flag, integer, names } from './config-key.ts';
import { namespaceName } from './key-formats.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Changes take effect at once: the settings are read at each pass. */
export const allocationKeys = {
  apply: choice('requests+ceilings', ['requests+ceilings', 'limits', 'observe'], {
    env: 'ALLOCATION_APPLY',
    description:
      'What is written: requests, and ceilings only where agents ask for them; limits as MBCAS does; observe: nothing. Agents have the same key.',
  }),
  managementMode: choice('optIn', ['optIn', 'optOut'], {
    env: 'ALLOCATION_MANAGEMENT_MODE',
    description:
      'Who takes part: optIn: pods with `mbcas.io/managed: "true"` on them or their namespace; optOut: all that do not say "false". Agents have the same key.',
  }),
  excludedNamespaces: names({
    env: 'ALLOCATION_EXCLUDED_NAMESPACES',
    defaultValue: ['kube-system', 'kube-public', 'kube-node-lease', 'mbcas-system'],
    accepted: 'a list of namespaces',
    format: namespaceName,
    description: 'Namespaces whose pods never take part. Agents have the same key.',
  }),
  staleAfter: duration('2m', {
    env: 'ALLOCATION_STALE_AFTER',
    min: 10 * SECOND,
    max: 60 * MINUTE,
    description:
      'An agent unheard of for this long is gone: its pods get back what they had. For half of it nothing changes on its node.',
  }),
  spacingUp: duration('5s', {
    env: 'ALLOCATION_SPACING_UP',
    min: 0,
    max: 10 * MINUTE,
    description: 'Least time between two resizes of one pod that is given more, but for what cannot wait.',
  }),
  spacingDown: duration('10s', {
    env: 'ALLOCATION_SPACING_DOWN',
    min: 0,
    max: 10 * MINUTE,
    description: 'Least time between two resizes of one pod that is given less, but for what pays for a raise.',
  }),
  topologySpread: flag(false, {
    env: 'ALLOCATION_TOPOLOGY_SPREAD',
    description: 'Pods with few of their like in their zone or on their node bargain with more weight.',
  }),
  spreadCeiling: flag(false, {
    env: 'ALLOCATION_SPREAD_CEILING',
    description:
      'No replica is given more than half again what the replicas of its workload have in the middle, from three of them on.',
  }),
  nodeAffinity: flag(false, {
    env: 'ALLOCATION_NODE_AFFINITY',
    description: 'Pods on nodes they prefer bargain with a little more weight.',
  }),
  maxConcurrentResizes: integer(200, {
    env: 'ALLOCATION_MAX_CONCURRENT_RESIZES',
    min: 1,
    max: 10_000,
    description: 'Resizes under way in the whole cluster.',
  }),
  maxChangesPerMinute: integer(3000, {
    env: 'ALLOCATION_MAX_CHANGES_PER_MINUTE',
    min: 1,
    max: 100_000,
    description: 'Resizes begun in any minute in the whole cluster.',
  }),
  warmUp: duration('10s', {
    env: 'ALLOCATION_WARM_UP',
    min: 0,
    description: 'How long a new leader watches before it changes anything.',
  }),
} as const;
