import { expect, test } from 'vitest';
import { MAX_WORKLOADS_IN_STATUS } from '../../api/optimization-policy-status.ts';
import { noAdvice } from '../../decide/rightsizing/advice.ts';
import { dueAdvice } from '../../decide/rightsizing/testing/advice.ts';
import { createMetrics, type Metrics } from '../../lib/metrics.ts';
import { policyRecord } from '../../model/testing/policies.ts';
import { smallSize } from '../../model/testing/sizing-records.ts';
import { reportRightsizing } from './metrics.ts';
import type { PolicyBook } from './policies.ts';
import { brokenResult } from './result.ts';
import { createResultStore } from './result-store.ts';

/** Each workload could not be worked on, and would free 100m. */
function bookOf(...names: readonly string[]): PolicyBook {
  const results = createResultStore();
  for (const name of names) {
    const result = brokenResult({ kind: 'Deployment', namespace: 'shop', name }, 'no', undefined);
    results.set(name, { ...result, saving: { cpuMillis: 100, memoryBytes: 0 } });
  }
  return { results, discovered: {}, owned: names.length };
}

const seriesOf = async (metrics: Metrics): Promise<string[]> =>
  (await metrics.render())
    .split('\n')
    .filter((line) => /^optipod_(workloads_(monitored|skipped)|savings_cpu)/.test(line));

const books: Readonly<Record<string, PolicyBook>> = { a: bookOf('web'), b: bookOf('api', 'job'), c: bookOf('db') };
const of = (uid: string): PolicyBook => books[uid] ?? bookOf();

test('policies of one name have series of their own in each namespace, and one together in both API groups', async () => {
  const metrics = createMetrics();
  const policies = [
    policyRecord({ namespace: 'shop', name: 'sizes', uid: 'a' }),
    policyRecord({ namespace: 'shop', name: 'sizes', uid: 'b', group: 'optipod.optipod.io' }),
    policyRecord({ namespace: 'bank', name: 'sizes', uid: 'c' }),
  ];
  reportRightsizing(metrics, policies, { of });
  const both = [
    'optipod_workloads_monitored{namespace="shop",policy="sizes"} 3',
    'optipod_workloads_monitored{namespace="bank",policy="sizes"} 1',
    'optipod_workloads_skipped{namespace="shop",policy="sizes",reason="ProcessingFailed"} 3',
    'optipod_workloads_skipped{namespace="bank",policy="sizes",reason="ProcessingFailed"} 1',
    'optipod_savings_cpu_cores{namespace="shop",policy="sizes"} 0.3',
    'optipod_savings_cpu_cores{namespace="bank",policy="sizes"} 0.1',
  ];
  expect(new Set(await seriesOf(metrics))).toEqual(new Set(both));

  // One of them is deleted.
  reportRightsizing(metrics, policies.slice(1), { of });
  expect(await seriesOf(metrics)).toContain('optipod_workloads_monitored{namespace="shop",policy="sizes"} 2');
});

test('workloads whose usage cannot be read are counted, whether or not anything is due there', async () => {
  const metrics = createMetrics();
  const { results, ...book } = bookOf('web', 'api', 'db');
  for (const name of ['web', 'api']) {
    const result = results.get(name);
    if (result !== undefined) results.set(name, { ...result, metricsProblem: 'nobody answers' });
  }
  const policy = policyRecord({ namespace: 'shop', name: 'sizes', uid: 'a' });
  reportRightsizing(metrics, [policy], { of: () => ({ ...book, results }) });
  expect(await metrics.render()).toContain('optipod_workloads_unread{namespace="shop",policy="sizes"} 2');
});

test('a policy that is not valid is told to be, for as long as it is there and is not', async () => {
  const metrics = createMetrics();
  const told = async (): Promise<string[]> =>
    (await metrics.render()).split('\n').filter((line) => line.startsWith('optipod_policy_invalid{'));
  const valid = policyRecord({ namespace: 'bank', name: 'sizes', uid: 'a' });
  const problems = ['it has no mode'] as const;
  const invalid = { ...policyRecord({ namespace: 'shop', name: 'sizes', uid: 'b' }), spec: undefined, problems };
  reportRightsizing(metrics, [valid, invalid], { of });
  expect(await told()).toEqual([
    'optipod_policy_invalid{namespace="bank",policy="sizes"} 0',
    'optipod_policy_invalid{namespace="shop",policy="sizes"} 1',
  ]);
  reportRightsizing(metrics, [valid], { of });
  expect(await told()).toEqual(['optipod_policy_invalid{namespace="bank",policy="sizes"} 0']);
});

test('of more workloads than a status lists, those have series that it lists, also where all save the same', async () => {
  const metrics = createMetrics();
  const { results, ...book } = bookOf();
  for (let index = MAX_WORKLOADS_IN_STATUS; index >= 0; index--) {
    const name = `w${String(index).padStart(3, '0')}`;
    const cpu = dueAdvice(250);
    const advice = [{ container: 'app', current: smallSize, cpu, memory: noAdvice('NoData', 'nothing is known') }];
    const result = brokenResult({ kind: 'Deployment', namespace: 'shop', name }, 'no', undefined);
    results.set(name, { ...result, advice, saving: { cpuMillis: 100, memoryBytes: 0 } });
  }
  const policy = policyRecord({ namespace: 'shop', name: 'sizes', uid: 'a' });
  reportRightsizing(metrics, [policy], { of: () => ({ ...book, results }) });
  const text = await metrics.render();
  const recommended = text.split('\n').filter((line) => line.startsWith('optipod_recommended_cpu_cores{'));
  expect(recommended).toHaveLength(MAX_WORKLOADS_IN_STATUS);
  expect(text).toContain('workload="w000"');
  expect(text).not.toContain('workload="w200"');
});

test('what is gone is told of no more', async () => {
  const metrics = createMetrics();
  reportRightsizing(metrics, [policyRecord({ uid: 'a' })], { of });
  expect((await seriesOf(metrics)).length).toBe(3);
  reportRightsizing(metrics, [], { of });
  expect(await seriesOf(metrics)).toEqual([]);
});
