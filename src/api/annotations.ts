/** Every label and annotation of the placement engine: its key, where it stands, what it means, and what is accepted. */

/** Settings are Spotalis' keys with its meanings; the stamps from `slot` on are ours; the last one is Kubernetes'. */
export const placementKeys = {
  enabled: 'spotalis.io/enabled',
  spotPercentage: 'spotalis.io/spot-percentage',
  minOnDemand: 'spotalis.io/min-on-demand',
  disruptionSchedule: 'spotalis.io/disruption-schedule',
  disruptionDuration: 'spotalis.io/disruption-duration',
  slot: 'spotalis.io/slot',
  capacity: 'spotalis.io/capacity',
  admissionId: 'spotalis.io/admission-id',
  unconfirmed: 'spotalis.io/unconfirmed',
  fallback: 'spotalis.io/fallback',
  pinned: 'spotalis.io/pinned',
  podDeletionCost: 'controller.kubernetes.io/pod-deletion-cost',
} as const;

type PlacementKey = (typeof placementKeys)[keyof typeof placementKeys];

export interface KeyDescription {
  readonly key: PlacementKey;
  readonly form: 'label' | 'annotation';
  readonly where: string;
  readonly writtenBy: 'user' | 'Stowage' | 'user or Stowage';
  readonly meaning: string;
  /** What is accepted; also the text of error messages. */
  readonly accepted: string;
  /** What holds when the key is not there. */
  readonly absent: string;
}

/** What people may write, in the words error messages use. */
export const placementGrammar = {
  spotPercentage: 'a whole number from 0 to 100, optionally followed by %, such as 70 or 70%',
  minOnDemand: 'a whole number from 0 to 10000, or a percentage of the replicas such as 30%',
  schedule:
    'one to twenty cron schedules of five fields, separated by ";", each optionally after "CRON_TZ=Area/City ", such as "0 2 * * 1-5"',
  duration: 'a duration longer than zero such as 30m or 2h30m: one for all schedules, or one each, separated by ";"',
} as const;

const onWorkloadOrNamespace = 'workload or namespace';
const fromNamespace = 'the value of the namespace, else of the configuration';

export const placementKeyDescriptions: readonly KeyDescription[] = [
  {
    key: placementKeys.enabled,
    form: 'label',
    where: 'namespace and workload, both',
    writtenBy: 'user',
    meaning: 'Placement manages the workload. Removing either label stops that at once and moves nothing.',
    accepted: 'exactly "true"',
    absent: 'not managed; so is any other value',
  },
  {
    key: placementKeys.spotPercentage,
    form: 'annotation',
    where: onWorkloadOrNamespace,
    writtenBy: 'user',
    meaning: 'The share of the replicas that runs on spot.',
    accepted: placementGrammar.spotPercentage,
    absent: fromNamespace,
  },
  {
    key: placementKeys.minOnDemand,
    form: 'annotation',
    where: onWorkloadOrNamespace,
    writtenBy: 'user',
    meaning: 'The least number of replicas on on-demand; a percentage is rounded up.',
    accepted: placementGrammar.minOnDemand,
    absent: fromNamespace,
  },
  {
    key: placementKeys.disruptionSchedule,
    form: 'annotation',
    where: onWorkloadOrNamespace,
    writtenBy: 'user',
    meaning: 'When pods may be moved: the starts of the windows. Goes with the duration, both or neither.',
    accepted: placementGrammar.schedule,
    absent: `${fromNamespace}; with none at all, always`,
  },
  {
    key: placementKeys.disruptionDuration,
    form: 'annotation',
    where: onWorkloadOrNamespace,
    writtenBy: 'user',
    meaning: 'How long a window stays open.',
    accepted: placementGrammar.duration,
    absent: `${fromNamespace}; with none at all, always`,
  },
  {
    key: placementKeys.slot,
    form: 'annotation',
    where: 'pod',
    writtenBy: 'Stowage',
    meaning: 'The place of the pod among the replicas; each place has a fixed side.',
    accepted: 'a whole number from 1',
    absent: 'the pod takes a free place of its side, oldest first',
  },
  {
    key: placementKeys.capacity,
    form: 'annotation',
    where: 'pod',
    writtenBy: 'Stowage',
    meaning: 'The side the pod was steered to.',
    accepted: 'spot or on-demand',
    absent: 'the side follows from the node of the pod',
  },
  {
    key: placementKeys.admissionId,
    form: 'annotation',
    where: 'pod',
    writtenBy: 'Stowage',
    meaning: 'The uid of the admission request that steered the pod.',
    accepted: 'a uid',
    absent: 'the pod was not steered',
  },
  {
    key: placementKeys.unconfirmed,
    form: 'annotation',
    where: 'pod',
    writtenBy: 'Stowage',
    meaning: 'A replica of Stowage that is not the leader steered the pod; the leader checks it.',
    accepted: '"true"',
    absent: 'the leader steered the pod',
  },
  {
    key: placementKeys.fallback,
    form: 'annotation',
    where: 'pod',
    writtenBy: 'Stowage',
    meaning: 'The pod runs on on-demand as temporary cover for a place on spot, until spot has room again.',
    accepted: '"true"',
    absent: 'the pod runs where its place is',
  },
  {
    key: placementKeys.pinned,
    form: 'annotation',
    where: 'pod',
    writtenBy: 'Stowage',
    meaning:
      'Something besides the template chose the side when the pod was made: the node selector of its namespace, a RuntimeClass or another webhook. The pod is not moved to the other side, as the next one would come back.',
    accepted: '"true"',
    absent: 'Stowage, or the template, chose the side',
  },
  {
    key: placementKeys.podDeletionCost,
    form: 'annotation',
    where: 'pod',
    writtenBy: 'user or Stowage',
    meaning:
      'The lowest cost is removed first when the workload shrinks. Stowage writes minus the slot where the user wrote nothing.',
    accepted: 'a whole number of 32 bits',
    absent: 'counts as 0',
  },
];
