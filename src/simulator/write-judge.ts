/**
 * Holds writes to who may make them, and to having a purpose: only the leader writes, and nothing that is there
 * already.
 */
import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord } from '../lib/is-record.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import type { Ledger } from './ledger.ts';
import { treeAt } from './policy-book.ts';
import type { ObservedWrite, SettleWrite } from './watched-api.ts';

export interface WriteJudgeOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly ledger: Ledger;
  /** Whether what the operator reads may be old or missing now. */
  readonly isDisturbed: () => boolean;
}

export interface WriteJudge {
  /** A replica is about to take, keep or give back the lease. */
  onLease(write: ObservedWrite): SettleWrite;
  /** A replica is about to write. */
  onWrite(write: ObservedWrite, identity: string): SettleWrite;
}

/** Caches have caught up so long after a disturbance. */
const CALM_MILLIS: Millis = 120_000;
/** Of one object, within {@link OFTEN_MILLIS}. */
const MAX_OFTEN = 60;
/** A policy's status tells of all its workloads, each of which may be given more memory in every pass. */
const MAX_OFTEN_OF_POLICIES = 300;
const OFTEN_MILLIS: Millis = 600_000;

export function createWriteJudge({ config, clock, ledger, isDisturbed }: WriteJudgeOptions): WriteJudge {
  const { enabled } = config.operator.leaderElection;
  /** Who may hold the lease: several where the answer to somebody who took it was lost. */
  let holders = new Set<string>();
  /** By object: the version that its last write by the operator led to. */
  const versions = new Map<string, string>();
  const times = new Map<string, EpochMillis[]>();
  let disturbedAt = Number.NEGATIVE_INFINITY;

  const checkOften = (key: string, text: string, most: number): void => {
    const recent = (times.get(key) ?? []).filter((at) => clock.now() - at < OFTEN_MILLIS);
    recent.push(clock.now());
    times.set(key, recent);
    ledger.check('quiet', recent.length <= most, () => `${text}: ${recent.length} times within ten minutes`);
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
        const isCalm = clock.now() - disturbedAt > CALM_MILLIS && !isDisturbed();
        if (isCalm) ledger.check('idle', versions.get(object) !== version, () => `${text} changed nothing`);
        versions.set(object, version);
      };
    },
  };
}

function versionOf(answer: unknown): string | undefined {
  const version = isRecord(answer) ? treeAt(answer, 'metadata')['resourceVersion'] : undefined;
  return typeof version === 'string' ? version : undefined;
}
