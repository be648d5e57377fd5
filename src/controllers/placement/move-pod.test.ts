import { describe, expect, test } from 'vitest';
import { createEvents } from '../../act/events.ts';
import type { EvictionOutcome } from '../../act/eviction-outcome.ts';
import { createJournal } from '../../act/journal.ts';
import type { EvictDecision } from '../../decide/decision.ts';
import type { Block } from '../../guard/context.ts';
import { createDisruptionLog } from '../../guard/history.ts';
import { evict, managed, type SceneChanges, scene, web, withPods } from '../../guard/testing/scene.ts';
import { createSilentLogger } from '../../lib/log.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import { NOON, someSettings } from '../../model/testing/records.ts';
import { createMovePod } from './move-pod.ts';
import { compilePlacementRules } from './rules.ts';

const pods = ['s1', 's3'].map((name) => ({ ref: { namespace: 'shop', name, uid: name } }));
const plan = { policy: managed, drift: 1, replicas: 4, pods };
const turn: Block = { rule: 'turn', reason: 'AwaitingTurn', message: 'm', advice: 'a', retryAfterMillis: 5_000 };
const settings = someSettings({ cooldownMillis: 10_000, disruptionRetryMillis: 60_000 });

/** What happens is told in order, in a word and what it is about. */
function setUp(outcomes: readonly EvictionOutcome[], changes: SceneChanges & { readonly others?: Block } = {}) {
  const { others, ...context } = changes;
  const clock = createVirtualClock(NOON);
  const journal = createJournal({ clock });
  const history = createDisruptionLog(settings.moveBackoffMillis);
  const story: string[] = [];
  const logged: object[] = [];
  let asked = 0;
  const movePod = createMovePod({
    rules: () => compilePlacementRules(settings),
    disruptions: {
      contextWith: () => scene({ ...context, now: clock.now() }),
      async disrupt() {
        story.push('evict');
        return outcomes[asked++] ?? { result: 'evicted' };
      },
      history,
      turns: {
        take() {
          story.push('take');
          return others;
        },
        noteBlocked: (_, { reason }) => void story.push(`no place for ${reason}`),
      },
    },
    moves: { started: ({ pod }, _, known) => void story.push(`watch ${pod.name} of ${[...(known ?? [])].join()}`) },
    spot: {
      startProbe: () => void story.push('probe'),
      cancelProbe: () => void story.push('no probe'),
    },
    blocks: { report: (_, __, { reason }) => void story.push(`blocked ${reason}`) },
    events: createEvents({ record: ({ reason }) => void story.push(`event ${reason}`) }, clock, 'Place'),
    journal,
    metrics: createMetrics(),
    clock,
    log: { ...createSilentLogger(), info: (fields, message) => void logged.push({ ...fields, message }) },
  });
  return {
    clock,
    history,
    story,
    logged,
    journal: () => journal.entries(workloadKey(web)).map(({ kind, reason }) => `${kind} ${reason}`),
    run: (decision: EvictDecision = evict()) => movePod(web, plan, decision, new AbortController().signal),
  };
}

describe('a move', () => {
  test('is watched and told, and the workload is looked at again after its cooldown', async () => {
    const { run, story, journal, history } = setUp([]);
    expect(await run()).toBe(10_000);
    expect(story).toEqual(['take', 'evict', 'watch s3 of s1,s3', 'event EvictedForRebalance']);
    expect(journal()).toEqual(['done EvictedForRebalance']);
    expect(history.returns(web.uid)).toEqual([]);
  });

  test('case 76: is one record of the log, whatever is answered', async () => {
    const { run, logged } = setUp([{ result: 'blocked-by-pdb', message: 'm' }]);
    const why = { summary: 'one moves', numbers: { replicas: 4, spot: 3, targetSpot: 2 } };
    await run({ ...evict(), why });
    const about = {
      controller: 'deployment-controller',
      kind: 'Deployment',
      namespace: 'shop',
      name: 'web',
      pod: 's3',
    };
    const counts = { replicas: 4, current_spot: 3, desired_spot: 2, node: 's', reason: 'one moves' };
    expect(logged).toMatchObject([{ ...about, ...counts, result: 'blocked-by-pdb', message: 'Eviction asked for' }]);
  });

  test('that a guard blocks takes no turn, so that it holds nobody else up', async () => {
    const { run, story } = setUp([], { leadership: { leader: false, sinceMillis: 0 } });
    expect(await run()).toBeUndefined();
    expect(story).toEqual(['no place for NotLeader', 'blocked NotLeader']);
  });

  test('whose turn it is not waits as long as it is told to', async () => {
    const { run, story } = setUp([], { others: turn });
    expect(await run()).toBe(5_000);
    expect(story).toEqual(['take', 'blocked AwaitingTurn']);
  });

  test('back to spot finds it open for this one pod, and is told as a return', async () => {
    const { run, story, history } = setUp([]);
    expect(await run({ ...evict(), pod: { ...evict().pod, name: 'o1', uid: 'o1' }, ...toSpot })).toBe(10_000);
    expect(story).toEqual(['take', 'probe', 'evict', 'watch o1 of s1,s3', 'event ReturnedToSpot']);
    expect(history.returns(web.uid)).toEqual([NOON]);
  });

  test('back to spot of one that runs nowhere counts for no pace of returns', async () => {
    const waiting = { nodeName: undefined, phase: 'Pending', ready: false, fallback: true } as const;
    const { run, story, history } = setUp([], { records: withPods({ o1: waiting }) });
    await run({ ...evict(), pod: { ...evict().pod, name: 'o1', uid: 'o1' }, ...toSpot });
    expect(story).toContain('event ReturnedToSpot');
    expect(history.returns(web.uid)).toEqual([]);
  });
});

const toSpot = { from: 'on-demand', to: 'spot', onDemandFloor: 0, isReturn: true } as const;

describe('an eviction that the API server does not carry out', () => {
  test.each<[EvictionOutcome, string]>([
    [{ result: 'blocked-by-pdb', message: 'm' }, 'blocked BlockedByPdb'],
    [{ result: 'multiple-pdbs', message: 'm' }, 'blocked MultiplePdbs'],
    [{ result: 'changed' }, 'blocked PreconditionFailed'],
  ])('%o is a block like that of a guard: no cooldown begins, and it is tried again', async (outcome, told) => {
    const { run, story, journal } = setUp([outcome]);
    expect(await run()).toBe(60_000);
    expect(story).toEqual(['take', 'evict', 'no probe', told]);
    expect(journal()).toEqual([]);
  });

  test.each(['forbidden', 'failed'] as const)('%s is told once an hour, and retried with back-off', async (result) => {
    const { run, story, journal } = setUp([
      { result, message: 'm' },
      { result, message: 'm' },
    ]);
    await expect(run()).rejects.toMatchObject({ code: 'EVICTION_FAILED' });
    await expect(run()).rejects.toThrow(/s3/);
    expect(story.filter((each) => each === 'event EvictionFailed')).toHaveLength(1);
    expect(journal()).toEqual(['failed EvictionFailed', 'failed EvictionFailed']);
  });

  test.each(['unknown', 'gone'] as const)('%s counts as done for the cooldown, and is no event', async (result) => {
    const { run, story } = setUp([result === 'gone' ? { result } : { result, message: 'm' }]);
    expect(await run()).toBe(10_000);
    expect(story).toEqual(['take', 'evict', 'watch s3 of s1,s3']);
  });

  test('busy, holds back every move until the time it names, and takes no turn meanwhile', async () => {
    const { run, story, clock } = setUp([
      { result: 'throttled', retryAfterMillis: 30_000 },
      { result: 'throttled', retryAfterMillis: 1_000 },
    ]);
    expect(await run()).toBe(30_000);
    expect(story).toEqual(['take', 'evict', 'no probe', 'blocked ThrottledByApi']);
    story.length = 0;
    await clock.advance(29_000);
    expect(await run()).toBe(1_000);
    expect(story).toEqual(['no place for ThrottledByApi', 'blocked ThrottledByApi']);
    story.length = 0;
    await clock.advance(1_000);
    expect(await run()).toBe(1_000);
    expect(story).toContain('evict');
  });
});
