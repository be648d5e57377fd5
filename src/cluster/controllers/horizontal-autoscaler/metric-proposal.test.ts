import { describe, expect, test } from 'vitest';
import { type ProposalInput, proposeReplicas, type ScaledPod } from './metric-proposal.ts';

const NOW = Date.UTC(2026, 5, 1, 12);
const HOUR = 3_600_000;

const pod = (amount: number | undefined, more: Partial<ScaledPod> = {}): ScaledPod => ({
  isPending: false,
  startedAtMillis: NOW - HOUR,
  isReady: true,
  readyChangedAtMillis: NOW - HOUR,
  request: 100,
  usage: amount === undefined ? undefined : { amount, atMillis: NOW, windowMillis: 15_000 },
  ...more,
});
const propose = (pods: readonly ScaledPod[], more: Partial<ProposalInput> = {}) =>
  proposeReplicas({
    resource: 'cpu',
    target: { utilization: 50 },
    pods,
    currentReplicas: pods.length,
    tolerance: 0.1,
    now: NOW,
    ...more,
  });

describe('a utilization target', () => {
  test.each([
    ['is met', [50, 50], 2],
    ['is missed by 10 % only', [55, 55], 2],
    ['is missed by more', [60, 60], 3],
    ['is missed by far', [300], 6],
    ['is missed downwards', [20, 20, 20, 20], 2],
    ['is missed to nothing', [0, 0, 0], 0],
  ])('%s', (_, amounts, replicas) => {
    expect(propose(amounts.map((amount) => pod(amount)))).toMatchObject({ ok: true, replicas });
  });

  test('is told with what was measured', () => {
    expect(propose([pod(29), pod(29)])).toEqual({ ok: true, replicas: 2, utilization: 29, average: 29 });
    expect(propose([pod(29), pod(29), pod(29)])).toMatchObject({ replicas: 2 });
  });

  test('cannot be judged without requests, figures or ready pods', () => {
    expect(propose([pod(50), pod(50, { request: undefined })])).toEqual({ ok: false, problem: 'missing request' });
    expect(propose([pod(undefined)])).toEqual({ ok: false, problem: 'no metrics' });
    expect(propose([])).toEqual({ ok: false, problem: 'no metrics' });
    expect(propose([pod(50, { isReady: false, startedAtMillis: NOW - 60_000 })])).toEqual({
      ok: false,
      problem: 'no ready pods',
    });
  });
});

describe('pods without figures', () => {
  test('count as fully busy on the way down', () => {
    // (20 + 20 + 100 + 100) / 400 = 60 %: not down any more.
    expect(propose([pod(20), pod(20), pod(undefined), pod(undefined)])).toMatchObject({ replicas: 4 });
    expect(propose([pod(5), pod(5), pod(5), pod(5), pod(undefined)])).toMatchObject({ replicas: 3 });
  });

  test('do so whether or not they are ready yet', () => {
    const starting = { isReady: false, startedAtMillis: NOW - 60_000, readyChangedAtMillis: NOW - 60_000 };
    // (20 + 20 + 100) / 300 = 46 %: down, were the third left out.
    expect(propose([pod(20), pod(20), pod(undefined, starting)])).toMatchObject({ replicas: 3 });
  });

  test('count as idle on the way up', () => {
    expect(propose([pod(300), pod(undefined)])).toMatchObject({ replicas: 6 });
    expect(propose([pod(60), pod(undefined)])).toMatchObject({ replicas: 2 });
  });
});

describe('pods that are not ready', () => {
  const starting = { isReady: false, startedAtMillis: NOW - 60_000, readyChangedAtMillis: NOW - 60_000 };

  test('count as idle on the way up, and not at all on the way down', () => {
    expect(propose([pod(150), pod(500, starting)])).toMatchObject({ replicas: 3 });
    expect(propose([pod(10), pod(500, starting)])).toMatchObject({ replicas: 1 });
  });

  test('are those pending, and those just ready whose figures are from before', () => {
    expect(propose([pod(150), pod(undefined, { isPending: true })])).toMatchObject({ replicas: 3 });
    const justReady = { startedAtMillis: NOW - 60_000, readyChangedAtMillis: NOW - 10_000 };
    expect(propose([pod(150), pod(500, justReady)])).toMatchObject({ replicas: 3 });
    expect(propose([pod(150), pod(150, { ...justReady, readyChangedAtMillis: NOW - 20_000 })])).toMatchObject({
      replicas: 6,
    });
  });

  test('matter for CPU only', () => {
    expect(propose([pod(150), pod(150, starting)], { resource: 'memory' })).toMatchObject({ replicas: 6 });
  });

  test('are not those that were ready long ago', () => {
    expect(propose([pod(150), pod(150, { isReady: false, readyChangedAtMillis: NOW - 1000 })])).toMatchObject({
      replicas: 6,
    });
  });
});

test('an average target needs no requests', () => {
  const pods = [pod(300, { request: undefined }), pod(100, { request: undefined })];
  expect(propose(pods, { target: { average: 100 } })).toEqual({
    ok: true,
    replicas: 4,
    utilization: undefined,
    average: 200,
  });
});
