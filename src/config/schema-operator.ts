/** The keys of the process as a whole and of its engines. */
import { placementGrammar } from '../api/annotations.ts';
import { duration, flag, text } from './config-key.ts';
import { namespaceName } from './key-formats.ts';

const SECOND = 1000;

/** Names and defaults are Spotalis's; those of the lease are client-go's. */
export const operatorKeys = {
  namespace: text('spotalis-system', {
    env: 'OPERATOR_NAMESPACE',
    restart: true,
    required: true,
    accepted: 'the name of a namespace',
    format: namespaceName,
    description: 'Namespace Stowage runs in; its Lease and its certificate are there.',
  }),
  readOnlyMode: flag(false, {
    env: 'OPERATOR_READ_ONLY_MODE',
    description: 'Decide and report, but write nothing: no eviction, no change of a pod.',
  }),
  leaderElection: {
    enabled: flag(true, {
      env: 'LEADER_ELECTION_ENABLED',
      restart: true,
      description: 'Let one of several replicas act. Switch off only where there is one replica.',
    }),
    id: text('spotalis-controller-leader', {
      env: 'LEADER_ELECTION_ID',
      restart: true,
      required: true,
      accepted: 'the name of a Lease',
      description: 'Name of the Lease.',
    }),
    namespace: text('', {
      env: 'LEADER_ELECTION_NAMESPACE',
      restart: true,
      accepted: 'the name of a namespace, or nothing',
      format: namespaceName,
      description: 'Namespace of the Lease; operator.namespace when empty.',
    }),
    leaseDuration: duration('15s', {
      env: 'LEADER_ELECTION_LEASE_DURATION',
      restart: true,
      min: SECOND,
      description: 'How long others wait for a leader that no longer answers; whole seconds.',
    }),
    renewDeadline: duration('10s', {
      env: 'LEADER_ELECTION_RENEW_DEADLINE',
      restart: true,
      description:
        'How long the leader tries to renew before it gives up; shorter than leaseDuration, and two thirds of one below 15s.',
    }),
    retryPeriod: duration('2s', {
      env: 'LEADER_ELECTION_RETRY_PERIOD',
      restart: true,
      description:
        'Pause between two tries; 1.2 times of it are shorter than renewDeadline. Shorter with a leaseDuration below 15s.',
    }),
  },
  disruptionWindow: {
    schedule: text('', {
      env: 'OPERATOR_DISRUPTION_WINDOW_SCHEDULE',
      accepted: placementGrammar.schedule,
      description:
        'When pods may be moved, for workloads without a window of their own or of their namespace; always when empty.',
    }),
    duration: text('', {
      env: 'OPERATOR_DISRUPTION_WINDOW_DURATION',
      accepted: placementGrammar.duration,
      description: 'How long each window stays open. Goes with the schedule, both or neither.',
    }),
  },
} as const;

/** An engine that is off reads nothing and needs no rights of its own. */
export const enginesKeys = {
  placement: flag(true, {
    env: 'ENGINES_PLACEMENT',
    restart: true,
    description: 'Spot and on-demand: where replicas run.',
  }),
  rightsizing: flag(false, {
    env: 'ENGINES_RIGHTSIZING',
    restart: true,
    description: 'What CPU and memory containers request.',
  }),
  allocation: flag(false, {
    env: 'ENGINES_ALLOCATION',
    restart: true,
    description: 'How the pods of a node share its CPU.',
  }),
} as const;
