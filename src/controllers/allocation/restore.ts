/**
 * Which pods get back what they had before allocation: those that opted out, and those whose node's agent or allocation
 * is gone.
 */
import { sizingKeys } from '../../api/annotations-sizing.ts';
import { exclusionOf, optedOut } from '../../decide/allocation/eligibility.ts';
import { readMarks } from '../../decide/allocation/marks.ts';
import type { AllocationRules } from '../../decide/allocation/rules.ts';
import type { EpochMillis, Millis } from '../../lib/units.ts';
import type { NodeRecord } from '../../model/records.ts';
import type { AllocatedPod } from './facts.ts';

/** Value of the label `cause`. */
export type RestoreCause = 'opted-out' | 'agent-gone' | 'no-allocation';

/** What one pod's case is judged by. */
export interface RestoreFacts {
  readonly known: AllocatedPod;
  readonly hasAllocation: boolean;
  readonly isAgentGone: boolean;
  readonly rules: AllocationRules;
}

/** Undefined: the pod keeps what it has, or has nothing of ours. `no-allocation` holds only once it has lasted. */
export function restoreCause({ known, hasAllocation, isAgentGone, rules }: RestoreFacts): RestoreCause | undefined {
  const { pod, history } = known;
  if (pod.marks[sizingKeys.allocationOriginals] === undefined) return undefined;
  const excluded = exclusionOf(pod, readMarks(pod.marks), history, rules);
  if (excluded !== undefined) return optedOut.has(excluded) ? 'opted-out' : undefined;
  if (isAgentGone) return 'agent-gone';
  return hasAllocation ? undefined : 'no-allocation';
}

/** Nodes that were not Ready: while they are cut off nobody hears their agents, and these need a moment afterwards. */
export interface Returns {
  /** To be asked at each look at a node. @returns false while it is not Ready, and for a moment after that. */
  isBack(node: Pick<NodeRecord, 'name' | 'ready'> | undefined, now: EpochMillis): boolean;
}

/** A watch is tried again after twelve seconds at the latest; and a node that rests is looked at every fifteen. */
const HEARD_AGAIN: Millis = 45_000;

export function createReturns(): Returns {
  /** When they were last seen so. */
  const cutOff = new Map<string, EpochMillis>();
  return {
    isBack(node, now) {
      // Of nodes that are gone nobody asks any more.
      for (const [name, at] of cutOff) if (Math.abs(now - at) >= HEARD_AGAIN) cutOff.delete(name);
      if (node?.ready === false) cutOff.set(node.name, now);
      return node === undefined || !cutOff.has(node.name);
    },
  };
}

/** Since when pods have been without an allocation: an agent that starts anew makes another one. */
export interface Missing {
  /** How long the pod has been seen without one; 0 with `hasAllocation`. */
  millisFor(podUid: string, hasAllocation: boolean, now: EpochMillis): Millis;
  forget(podUid: string): void;
}

export function createMissing(): Missing {
  const since = new Map<string, EpochMillis>();
  return {
    millisFor(podUid, hasAllocation, now) {
      if (hasAllocation) {
        since.delete(podUid);
        return 0;
      }
      const first = since.get(podUid) ?? now;
      since.set(podUid, first);
      return now - first;
    },
    forget: (podUid) => void since.delete(podUid),
  };
}
