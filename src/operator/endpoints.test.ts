import { describe, expect, test } from 'vitest';
import { createJournal } from '../act/journal.ts';
import type { SizingStory } from '../controllers/rightsizing/explain.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
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
async function ask(workload: string) {
  const clock = createVirtualClock(1_000);
  const journal = createJournal({ clock });
  journal.record('DaemonSet/ops/agents', { kind: 'done', reason: 'Resized', message: 'smaller' });
  const endpoint = createExplainEndpoint({
    explain: () => undefined,
    sizing: ({ kind, name }) => (kind === 'DaemonSet' && name === 'agents' ? story : undefined),
    journal,
    view: { workloads: () => [] },
    isLeader: () => true,
    clock,
  });
  const { status, body } = await endpoint(new URLSearchParams({ workload }));
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
