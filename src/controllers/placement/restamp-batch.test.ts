import { describe, expect, test } from 'vitest';
import { createEvents } from '../../act/events.ts';
import { createJournal } from '../../act/journal.ts';
import type { RestampOutcome } from '../../act/restamp.ts';
import { pod, restamp, type SceneChanges, scene, web } from '../../guard/testing/scene.ts';
import { createSilentLogger } from '../../lib/log.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { workloadKey } from '../../model/cluster-view.ts';
import { NOON } from '../../model/testing/records.ts';
import { createRestampBatch } from './restamp-batch.ts';

const restamped: RestampOutcome = { result: 'restamped' };
const failed: RestampOutcome = { result: 'failed', message: 'no' };
const changed: RestampOutcome = { result: 'changed' };

/** Applies one decision for each outcome. */
async function apply(outcomes: readonly RestampOutcome[], changes: SceneChanges = {}) {
  const clock = createVirtualClock(NOON);
  const journal = createJournal({ clock });
  const metrics = createMetrics();
  const told: string[] = [];
  let asked = 0;
  const batch = createRestampBatch({
    restamp: async () => outcomes[asked++] ?? restamped,
    events: createEvents({ record: ({ note }) => void told.push(note) }, clock, 'Place'),
    journal,
    metrics,
    log: createSilentLogger(),
  });
  const pods = outcomes.map((_, index) => pod(`p${index}`, 's'));
  const decisions = pods.map(({ namespace, name, uid }) => ({ ...restamp(), pod: { namespace, name, uid } }));
  const context = scene({ records: { pods }, ...changes });
  const again = await batch.apply(web, decisions, context, new AbortController().signal);
  const text = await metrics.render();
  const counted = (result: string): number =>
    Number(new RegExp(`^spotalis_restamps_total\\{.*result="${result}".*\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  const kinds = journal.entries(workloadKey(web)).map(({ kind }) => kind);
  return { again, asked, told, kinds, counted: [counted('success'), counted('error')] };
}

describe('a batch of corrections', () => {
  test.each<[string, readonly RestampOutcome[], Partial<Awaited<ReturnType<typeof apply>>>]>([
    [
      'all are made: the pods themselves will tell',
      [restamped, restamped],
      { again: undefined, told: [expect.stringContaining('2')], kinds: ['done'], counted: [2, 0] },
    ],
    [
      'one fails: the others are made, and it is tried again later',
      [failed, restamped],
      { again: 30_000, told: [expect.stringContaining('1')], counted: [1, 1] },
    ],
    [
      'a pod that changed meanwhile is no failure and nothing done',
      [changed],
      { again: undefined, told: [], kinds: [], counted: [0, 0] },
    ],
  ])('%s', async (_, outcomes, expected) => {
    expect(await apply(outcomes)).toMatchObject(expected);
  });

  test('is of twenty at a time; the rest follows soon', async () => {
    const of = async (count: number) => {
      const { again, asked } = await apply(new Array<RestampOutcome>(count).fill(restamped));
      return [asked, again];
    };
    expect([await of(20), await of(21)]).toEqual([
      [20, undefined],
      [20, 1_000],
    ]);
  });

  test('ends with the first that the guard objects to, and says why', async () => {
    const seen = await apply([restamped, restamped], { settings: { readOnly: true } });
    expect(seen).toMatchObject({ asked: 0, kinds: ['blocked'], told: [] });
  });
});
