import { describe, expect, test } from 'vitest';
import type { Candidate } from '../../guard/budget.ts';
import type { Block } from '../../guard/context.ts';
import { object } from '../../guard/objection.ts';
import { validPolicy } from '../../model/testing/policies.ts';
import { aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { decisionFor } from '../testing/resize-in-flight.ts';
import { askForTurn, inLine } from './budget-turn.ts';

const workload = { kind: 'Deployment', namespace: 'shop', name: 'web' } as const;
const resize = decisionFor({ cpuRequest: 300 }, { workload, workloadUid: 'uid-web' });
const evictToResize = {
  ...resize,
  kind: 'evict-to-resize',
  engine: 'rightsizing',
  workload,
  workloadUid: 'uid-web',
  growth: { cpuMillis: 0, memoryBytes: 0 },
} as const;

const blockOf = (objection: ReturnType<typeof object>): Block => {
  if (objection === undefined) throw new Error('no objection');
  return { rule: 'some-rule', ...objection };
};
const others = blockOf(object('AwaitingTurn', { ahead: 1 }));
const full = blockOf(object('ConcurrencyLimit', { inFlight: 1, limit: 1 }));
const readOnly = blockOf(object('ReadOnly', {}));
const approved = { kind: 'approved', approved: 'sealed' } as const;

/** Turns that answer every asker with this. */
function setUp(answer: Block | undefined) {
  const asked: string[] = [];
  const note = (what: string, { engine, key, workloadUid, isRestore }: Candidate): void =>
    void asked.push(`${what} ${engine} ${key} ${workloadUid}${isRestore === true ? ' restore' : ''}`);
  return {
    asked,
    turns: {
      take(candidate: Candidate) {
        note('take', candidate);
        return answer;
      },
      noteBlocked: (candidate: Candidate, block: Block) => note(block.reason, candidate),
    },
  };
}

describe('a place for what rightsizing disrupts', () => {
  const who = 'rightsizing Deployment/shop/web uid-web';

  test('is taken where it is its turn', () => {
    const { turns, asked } = setUp(undefined);
    expect(askForTurn(turns, evictToResize, approved)).toBe(approved);
    expect(asked).toEqual([`take ${who}`]);
  });

  test('is waited for where it is the turn of others, and they are the reason', () => {
    expect(askForTurn(setUp(others).turns, evictToResize, approved)).toEqual({ kind: 'blocked', block: others });
  });

  test.each([
    ['an eviction that lacks a place', evictToResize, full, [`ConcurrencyLimit ${who}`]],
    ['an eviction that is blocked otherwise gives up its turn', evictToResize, readOnly, [`ReadOnly ${who}`]],
    ['a restart that lacks a place', resize, full, [`ConcurrencyLimit ${who}`]],
    ['a restart that is blocked otherwise leaves the turn to other pods of its workload', resize, readOnly, []],
  ])('%s', (_, decision, block, expected) => {
    const { turns, asked } = setUp(undefined);
    expect(askForTurn(turns, decision, { kind: 'blocked', block })).toEqual({ kind: 'blocked', block });
    expect(asked).toEqual(expected);
  });

  test.each([
    ['restart', { ...resize, isRestore: true }],
    ['eviction', { ...evictToResize, isRestore: true }],
  ])('is asked for as one that puts back harm by a %s that does', (_, decision) => {
    const { turns, asked } = setUp(undefined);
    askForTurn(turns, decision, approved);
    expect(asked).toEqual([`take ${who} restore`]);
  });

  test('a look at a workload is one look in the line, also one that fails', async () => {
    const told: string[] = [];
    const turns = {
      look(engine: string, key: string) {
        told.push(`${engine} ${key}`);
        return () => void told.push('over');
      },
    };
    const reconcile = async (): Promise<never> => {
      told.push('looks');
      throw new Error('cannot');
    };
    const { signal } = new AbortController();
    const look = inLine(turns, { reconcile }).reconcile(aSizedWorkload(), validPolicy({}), () => undefined, signal);
    await expect(look).rejects.toThrow('cannot');
    expect(told).toEqual(['rightsizing Deployment/shop/web', 'looks', 'over']);
  });

  test('is not needed for a bare pod', () => {
    const { turns, asked } = setUp(others);
    expect(askForTurn(turns, { ...resize, workload: undefined, workloadUid: undefined }, approved)).toBe(approved);
    expect(asked).toEqual([]);
  });
});
