import { describe, expect, test } from 'vitest';
import { createJournal } from '../act/journal.ts';
import type { SizingStory } from '../controllers/rightsizing/explain.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import type { Freshness } from '../model/cluster-view.ts';
import { aDeployment } from '../model/testing/records.ts';
import { createExplainEndpoint } from './endpoints.ts';

const story: SizingStory = {
  policy: 'ops/sizes',
  mode: 'Auto',
  others: [],
  entry: undefined,
  containers: [],
  ongoing: undefined,
};

/** Nothing is placed; the DaemonSet `ops/agents` is sized. */
async function ask(workload: string | undefined, freshness: Freshness = { synced: true, stale: [] }) {
  const clock = createVirtualClock(1_000);
  const journal = createJournal({ clock });
  journal.record('DaemonSet/ops/agents', { kind: 'done', reason: 'Resized', message: 'smaller' });
  const endpoint = createExplainEndpoint({
    explain: () => undefined,
    sizing: ({ kind, name }) => (kind === 'DaemonSet' && name === 'agents' ? story : undefined),
    journal,
    view: { workloads: () => [], freshness: () => freshness },
    isLeader: () => true,
    clock,
  });
  const { status, body } = await endpoint(new URLSearchParams(workload === undefined ? {} : { workload }));
  return { status, answer: JSON.parse(body) };
}

describe('explaining a workload that placement does not follow', () => {
  test('tells its sizes and what was done', async () => {
    const { status, answer } = await ask('DaemonSet/ops/agents');
    expect(status).toBe(200);
    expect(answer).toMatchObject({
      at: 1_000,
      isLeader: true,
      story: { headline: 'not placed: no pod of a DaemonSet is steered or moved' },
      sizing: { policy: 'ops/sizes' },
      journal: [{ reason: 'Resized' }],
    });
  });

  test.each([
    ['DaemonSet/ops/others', 404, 'there is no DaemonSet/ops/others'],
    ['agents', 400, 'workload "agents" is not valid; accepted: KIND/NAMESPACE/NAME such as Deployment/shop/web'],
  ])('%s: %i', async (workload, status, message) => {
    expect(await ask(workload)).toEqual({ status, answer: expect.objectContaining({ message }) });
  });
});

describe('what is told before all is read, and after the API server has fallen silent', () => {
  test.each(['DaemonSet/ops/agents', undefined])('%s: it says so', async (workload) => {
    const news = { synced: true, stale: ['pods', 'nodes'] };
    expect((await ask(workload, news)).answer).toMatchObject(news);
  });

  test('a workload that is not known may be there all the same', async () => {
    const { status, answer } = await ask('Deployment/shop/web', { synced: false, stale: [] });
    expect({ status, answer }).toEqual({
      status: 404,
      answer: {
        code: 'NOT_FOUND',
        message: 'Deployment/shop/web is not known: the first lists are not complete yet',
      },
    });
  });
});

test('all who ask for all workloads at one time have one answer; it is not kept for those who ask later', async () => {
  const clock = createVirtualClock(1_000);
  let looks = 0;
  const endpoint = createExplainEndpoint({
    explain: () => undefined,
    journal: createJournal({ clock }),
    view: {
      workloads() {
        looks++;
        return [aDeployment()];
      },
      freshness: () => ({ synced: true, stale: [] }),
    },
    isLeader: () => true,
    clock,
  });
  const askAll = async (): Promise<string> => (await endpoint(new URLSearchParams())).body;
  const [first, second] = await Promise.all([askAll(), askAll()]);
  expect(second).toBe(first);
  expect(looks).toBe(1);
  await clock.advance(1_000);
  expect(JSON.parse(await askAll())).toMatchObject({ at: 2_000 });
  expect(looks).toBe(2);
});
