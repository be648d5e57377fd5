/** Evicted pods are made anew. */
import type { Millis } from '../../lib/units.ts';
import { disruptionRule, object } from '../objection.ts';

/** Where nothing is wrong a pod is made within a moment after the other is gone. */
const BRIEF_MILLIS: Millis = 10_000;
const BRIEF_RETRY_MILLIS: Millis = 5_000;
/**
 * In one namespace it may be its own quota; what shows in two may concern everybody. For a while only: two tenants whose
 * quotas are overdrawn must not stop all others.
 */
const WITNESSES = 2;
const EVERYWHERE_MILLIS: Millis = 600_000;

export const replacementsMade = disruptionRule(
  'replacements-made',
  'Where no pod comes in the place of an evicted one (a quota that is overdrawn, a webhook that is down) the next one would be lost as well, of whichever workload.',
  ({ workload }, { missing = [], settings, now }) => {
    const lasting = missing.filter(({ since }) => since + BRIEF_MILLIS <= now);
    const recent = lasting.filter(({ since }) => since + EVERYWHERE_MILLIS > now);
    const isEverywhere = new Set(recent.map((each) => each.workload.namespace)).size >= WITNESSES;
    const here = missing.find((each) => each.workload.namespace === workload.namespace);
    const told = here ?? (isEverywhere ? recent[0] : undefined);
    if (told === undefined) return undefined;
    const { kind, namespace, name } = told.workload;
    const isBrief = !lasting.includes(told);
    const values = { pod: told.pod, workload: `${kind} ${namespace}/${name}` };
    const objection = object(
      'ReplacementMissing',
      values,
      isBrief ? BRIEF_RETRY_MILLIS : settings.disruptionRetryMillis,
    );
    return isBrief ? { ...objection, isBrief } : objection;
  },
);
