/** The ways to share a node's CPU that are compared on a real kubelet, and the pods they are compared with. */
import type { Millicores, Millis } from '../../../src/lib/units.ts';
import type { SharedPod } from './shared-pods.ts';

export interface NodeArm {
  readonly name: string;
  readonly describe: string;
  /** Limit of a pod from its beginning; undefined is none. */
  readonly limitOf: (pod: SharedPod) => Millicores | undefined;
  /** Settings of the node agent; undefined: nothing of Stowage runs. */
  readonly agent?: Readonly<Record<string, string>>;
}

/** What the hog used where all others were well (the pilot's figure). */
const HAND_CEILING: Millicores = 330;
const none = (): undefined => undefined;

export const nodeArms: readonly NodeArm[] = [
  { name: 'static', describe: 'requests as written, no limits', limitOf: none },
  {
    name: 'static-2x',
    describe: 'requests as written, limits of twice the request',
    limitOf: ({ request }) => 2 * request,
  },
  {
    name: 'hand-tuned',
    describe: `requests as written, and the ceiling a person who knows this load puts on the hog (${HAND_CEILING}m)`,
    limitOf: ({ isBatch }) => (isBatch ? HAND_CEILING : undefined),
  },
  {
    name: 'stowage',
    describe: 'agent and operator with their defaults: requests, and a ceiling on who takes everything',
    limitOf: none,
    agent: {},
  },
  {
    name: 'stowage-requests',
    describe: 'agent and operator, no ceilings',
    limitOf: none,
    agent: { STOWAGE_ALLOCATION_CEILINGS: 'none' },
  },
  {
    name: 'stowage-all',
    describe: 'agent and operator, loose ceilings on all pods',
    limitOf: none,
    agent: { STOWAGE_ALLOCATION_CEILINGS: 'all' },
  },
];

/** `wrong`: A asks for 100m where it needs 870m at its height; `right`: for its mean. */
export const requestKinds = ['wrong', 'right'] as const;
export type RequestKind = (typeof requestKinds)[number];

/** Two services that are busy in turn and a hog, as in the pilot. */
export function nodePods(kind: RequestKind): readonly SharedPod[] {
  const requestOfA = kind === 'wrong' ? 100 : 600;
  return [
    { name: 'a', request: requestOfA, claim: 200, weight: 4, isBatch: false, workers: 2 },
    { name: 'b', request: 600, claim: 200, weight: 2, isBatch: false, workers: 2 },
    { name: 'hog', request: 600, claim: 100, weight: 1, isBatch: true, burns: 2000 },
  ];
}

const HALF: Millis = 30_000;

/** Requests per second; 0 for a pod that serves nobody. */
export function rateOf(pod: string, millis: Millis): number {
  const isFirstHalf = Math.floor(millis / HALF) % 2 === 0;
  if (pod === 'a') return isFirstHalf ? 200 : 50;
  if (pod === 'b') return isFirstHalf ? 50 : 175;
  return 0;
}
