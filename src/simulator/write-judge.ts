/**
 * Holds writes to who may make them, and to having a purpose: only the leader writes, and nothing that is there
 * already.
 */
import type { Event } from '../api/core.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord } from '../lib/is-record.ts';
import type { Millis } from '../lib/units.ts';
import type { Ledger } from './ledger.ts';
import { treeAt } from './policy-book.ts';
import { createRecentCounts } from './recent-counts.ts';
import type { ObservedWrite, SettleWrite } from './watched-api.ts';

export interface WriteJudgeOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly ledger: Ledger;
  /** Whether what the operator reads may be old or missing now. */
  readonly isDisturbed: () => boolean;
  /** Whether others change what is written on its way: then a write of sense may change nothing. */
  readonly isMeddled: () => boolean;
}

export interface WriteJudge {
  /** A replica is about to take, keep or give back the lease. */
  onLease(write: ObservedWrite): SettleWrite;
  /** A replica is about to write. */
  onWrite(write: ObservedWrite, identity: string): SettleWrite;
  /** A replica is about to tell of something. */
  onEvent(event: Event): SettleWrite;
  /** A replica is about to read. */
  onRead(verb: 'list' | 'watch', resource: string, identity: string): void;
}

/** Caches have caught up so long after a disturbance. */
const CALM_MILLIS: Millis = 120_000;
/** Of one object, within {@link OFTEN_MILLIS}. */
const MAX_OFTEN = 60;
/** A policy's status tells of all its workloads, each of which may be given more memory in every pass. */
const MAX_OFTEN_OF_POLICIES = 300;
const OFTEN_MILLIS: Millis = 600_000;
/** Of one reason and object: what happens again is told in the same event. */
const MAX_OFTEN_OF_EVENTS = 20;
/** Objects whose last write is remembered: pods come and go, and their names never come again. */
const MAX_OBJECTS = 10_000;
/** Of one resource, by one replica: watches end every few minutes, and types that are missing are looked for now and then. */
const MAX_READS = 40;

export function createWriteJudge({ config, clock, ledger, isDisturbed, isMeddled }: WriteJudgeOptions): WriteJudge {
  const { enabled } = config.operator.leaderElection;
  /** Who may hold the lease: several where the answer to somebody who took it was lost. */
  let holders = new Set<string>();
  /** By object: the version that its last write by the operator led to; what was not written for longest comes first. */
  const versions = new Map<string, string>();
  const recent = createRecentCounts(clock, OFTEN_MILLIS);
  let disturbedAt = Number.NEGATIVE_INFINITY;

  const isCalm = (): boolean => {
    if (isDisturbed()) disturbedAt = clock.now();
    return clock.now() - disturbedAt > CALM_MILLIS;
  };
  const checkOften = (key: string, text: string, most: number): void => {
    const count = recent.add(key);
    ledger.check('quiet', count <= most, () => `${text}: ${count} times within ten minutes`);
  };

  return {
    onLease({ body }) {
      const told = isRecord(body) ? treeAt(body, 'spec')['holderIdentity'] : undefined;
      const holder = typeof told === 'string' ? told : '';
      return ({ kind }) => {
        if (kind === 'done') holders = new Set([holder]);
        else if (kind === 'unknown') holders.add(holder);
      };
    },
    onEvent({ reason = '', regarding }) {
      const object = `${regarding?.kind} ${regarding?.namespace}/${regarding?.name}`;
      return ({ kind }) => {
        // What the API server refuses nobody reads, and it is tried again.
        if (kind !== 'refused')
          checkOften(`event ${reason} ${regarding?.uid}`, `${reason} of ${object}`, MAX_OFTEN_OF_EVENTS);
      };
    },
    onRead(verb, resource, identity) {
      // Counted always, and judged when what is asked for has been answered for as long as is counted.
      const count = recent.add(`${verb} ${resource} ${identity}`);
      const isAnswered = isCalm() && clock.now() - disturbedAt > OFTEN_MILLIS;
      if (isAnswered)
        ledger.check(
          'asking',
          count <= MAX_READS,
          () => `${verb} ${resource} by ${identity}: ${count} times within ten minutes`,
        );
    },
    onWrite({ verb, resource, namespace, name, subresource }, identity) {
      const object = `${resource} ${namespace}/${name}`;
      const text = `${verb} ${object}${subresource === undefined ? '' : ` ${subresource}`}`;
      if (isDisturbed()) disturbedAt = clock.now();
      if (enabled) {
        const known = [...holders].join(' or ') || 'nobody';
        ledger.check('leader', holders.has(identity), () => `${text} by ${identity} while ${known} leads`);
      }
      // How often allocation may act is its own rule, `pace`; it reports each time.
      if (name !== '' && resource !== 'podallocations')
        checkOften(
          `${object} ${subresource ?? ''}`,
          text,
          resource === 'optimizationpolicies' ? MAX_OFTEN_OF_POLICIES : MAX_OFTEN,
        );
      return (outcome) => {
        if (outcome.kind !== 'done' || (verb !== 'patch' && verb !== 'replace')) return;
        const version = versionOf(outcome.answer);
        if (version === undefined) return;
        if (isCalm() && !isMeddled())
          ledger.check('idle', versions.get(object) !== version, () => `${text} changed nothing`);
        versions.delete(object);
        versions.set(object, version);
        const [oldest] = versions.keys();
        if (versions.size > MAX_OBJECTS && oldest !== undefined) versions.delete(oldest);
      };
    },
  };
}

function versionOf(answer: unknown): string | undefined {
  const version = isRecord(answer) ? treeAt(answer, 'metadata')['resourceVersion'] : undefined;
  return typeof version === 'string' ? version : undefined;
}
