import { describe, expect, test } from 'vitest';
import { NOON } from '../model/testing/records.ts';
import { inspect, inspectAll } from './guard.ts';
import { createDisruptionLog } from './history.ts';
import { rules } from './rules.ts';
import {
  evict,
  managed,
  pod,
  pods,
  restamp,
  type SceneChanges,
  scene,
  web,
  windowOf,
  withPods,
} from './testing/scene.ts';

const firstBlock = (changes: SceneChanges) => {
  const verdict = inspect(evict(), scene(changes));
  return verdict.kind === 'blocked' ? verdict.block : undefined;
};

describe('inspect', () => {
  test('approves what no rule objects to, and hands the decision back', () => {
    const decision = evict();
    expect(inspect(decision, scene())).toEqual({ kind: 'approved', approved: { decision } });
  });

  test('blocks with rule, reason, sentence and time', () => {
    const log = createDisruptionLog({ initial: 1, max: 1 });
    log.recordDisruption(web.uid, NOON - 4000);
    expect(firstBlock({ history: log })).toEqual({
      rule: 'cooled-down',
      reason: 'CooldownActive',
      message: 'The last disruption was 4s ago; the next may follow in 6s',
      advice: 'Nothing to do; the pause is controllers.workloadTiming.cooldownPeriod.',
      retryAfterMillis: 6000,
    });
  });

  test('case 58: case 33: read-only blocks everything, re-stamps included', () => {
    expect(firstBlock({ settings: { readOnly: true } })?.reason).toBe('ReadOnly');
    expect(inspect(restamp(), scene({ settings: { readOnly: true } })).kind).toBe('blocked');
  });

  test('a re-stamp disrupts nothing: timing, budgets and room do not concern it', () => {
    const changes: SceneChanges = {
      policy: { ...managed, window: windowOf('0 2 * * *', '1h') },
      inFlight: [{ workloadUid: web.uid, podUid: 's1', since: NOON }],
      records: withPods({ s3: { protectedBy: 'x' } }),
    };
    expect(firstBlock(changes)).toBeDefined();
    expect(inspect(restamp(), scene(changes)).kind).toBe('approved');
  });

  test.each([
    ['the workload is gone', { workloads: [] }],
    [
      'case 72: the pod is gone, one of its name has come',
      { pods: [...pods.slice(0, 2), pod('s3', 's', { uid: 'new' })] },
    ],
    ['case 55: the pod belongs to somebody else by now', { replicaSets: [] }],
    ['the pod is going already', withPods({ s3: { deletingAt: NOON } })],
  ])('a decision about what is no longer there is blocked: %s', (_, records) => {
    expect(firstBlock({ records })).toMatchObject({ rule: 'subject', reason: 'PreconditionFailed' });
  });

  test('a re-stamp of a pod that is going is harmless', () => {
    const records = withPods({ s3: { deletingAt: NOON } });
    expect(inspect(restamp(), scene({ records })).kind).toBe('approved');
  });

  test('the same question gets the same answer', () => {
    const context = scene({ settings: { allowSingleReplica: true } });
    expect(inspect(evict(), context)).toEqual(inspect(evict(), context));
  });
});

describe('inspectAll', () => {
  const many: SceneChanges = {
    settings: { readOnly: true, maxConcurrentEvictions: 1 },
    leadership: { leader: false, sinceMillis: NOON },
    records: withPods({ s3: { protectedBy: 'karpenter.sh/do-not-disrupt' } }),
    inFlight: [{ workloadUid: 'other', podUid: 'p', since: NOON }],
  };

  test('lists every objection in the order of the rules; the first is the one inspect reports', () => {
    const blocks = inspectAll(evict(), scene(many));
    expect(blocks.map(({ reason }) => reason)).toEqual([
      'ReadOnly',
      'NotLeader',
      'Protected',
      'LeaderWarmup',
      'ConcurrencyLimit',
    ]);
    expect(firstBlock(many)).toEqual(blocks[0]);
  });

  test('is empty for what would be approved', () => {
    expect(inspectAll(evict(), scene())).toEqual([]);
  });
});

describe('the list of rules', () => {
  test('every rule has its own name and says why it exists', () => {
    expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length);
    for (const { why } of rules) expect(why).toMatch(/^[A-Z].{20,}\.$/s);
  });

  test('asks the shared budget last and what is switched off first', () => {
    expect(rules.at(0)?.name).toBe('engine-on');
    expect(rules.at(-1)?.name).toBe('within-budget');
  });
});

// What does not go through the guard does not compile.
test('an approval cannot be made elsewhere', () => {
  const verdict = inspect(evict(), scene());
  if (verdict.kind !== 'approved') throw new Error('expected an approval');
  const act = (approved: typeof verdict.approved): string => approved.decision.pod.name;
  // @ts-expect-error the brand is missing
  expect(act({ decision: evict() })).toBe('s3');
  expect(act(verdict.approved)).toBe('s3');
});
