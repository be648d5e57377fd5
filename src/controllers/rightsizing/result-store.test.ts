import { describe, expect, test } from 'vitest';
import { policyStatusSchema } from '../../api/optimization-policy-status-schema.ts';
import { noAdvice, type ResourceAdvice } from '../../decide/rightsizing/advice.ts';
import type { SizedAdvice } from '../../decide/rightsizing/recommend-workload.ts';
import { workloadStatus } from '../../decide/rightsizing/workload-status.ts';
import { brokenResult, type WorkloadResult } from './result.ts';
import { createResultStore, entryOf } from './result-store.ts';

const web = { kind: 'Deployment', namespace: 'shop', name: 'web' };
const cpu: ResourceAdvice = {
  target: 250,
  request: 200,
  limit: undefined,
  isDue: true,
  held: undefined,
  capped: 'AtMax',
  notes: [
    { stage: 'target', value: 261.5, text: '95 % of the time no more than 261.5m is used' },
    { stage: 'bounds', value: 250, text: 'the policy’s maximum is 250m' },
  ],
};
const advice = [
  { container: 'app', current: { cpuRequest: 100 }, cpu, memory: noAdvice('NoData', 'nothing is known') },
];
const noTimes = {
  lastRecommendation: 0,
  lastApplied: undefined,
  lastApplyMethod: undefined,
  fieldOwnership: undefined,
} as const;
const result: WorkloadResult = {
  entry: workloadStatus({
    workload: web,
    advice,
    outcome: { status: 'Recommended', reason: 'AtMax', message: 'more is needed' },
    ...noTimes,
  }),
  advice,
  saving: { cpuMillis: -100, memoryBytes: 0 },
  hasUsage: true,
  metricsProblem: undefined,
  forbidden: undefined,
  failure: undefined,
  againAfterMillis: 5,
};

describe('results of looks', () => {
  test('read as they were set: each number and each sentence', () => {
    const results = createResultStore();
    results.set('web', result);
    const { entry, advice: kept, ...rest } = results.get('web') ?? result;
    const { entry: _, advice: given, ...told } = result;
    expect(rest).toEqual(told);
    expect(entry).toMatchObject({ ...web, status: 'Recommended', reason: 'AtMax', message: 'more is needed' });
    expect(kept.map((each) => ({ ...each, cpu: { ...each.cpu, notes: each.cpu.notes } }))).toEqual(
      given.map((each) => ({ ...each, memory: { ...kept[0]?.memory } })),
    );
    expect(kept[0]?.memory.notes).toEqual(given[0]?.memory.notes);
  });

  test('the entry of the status is the one that was made of the look', () => {
    const results = createResultStore();
    results.set('web', result);
    expect([...results.values()].map(entryOf)).toEqual([result.entry]);
  });

  test('an entry tells of as many containers as the definition takes: one more, and no status could be written', () => {
    const many = Array.from({ length: 201 }, (_, index) => ({ ...advice[0], container: `c${index}` }) as SizedAdvice);
    const results = createResultStore();
    results.set('web', { ...result, advice: many });
    const of = { workload: web, advice: many, outcome: { status: 'Recommended' } } as const;
    const entries = [...[...results.values()].map(entryOf), workloadStatus({ ...noTimes, ...of })];
    expect(entries.map(({ recommendations }) => recommendations?.length)).toEqual([200, 200]);
    const status = policyStatusSchema.safeParse({ workloads: entries.slice(1) });
    expect(status.error?.issues).toBeUndefined();
  });

  test('a failure keeps what was recommended before', () => {
    const results = createResultStore();
    results.set('web', result);
    results.set('web', brokenResult(web, 'boom', results.get('web')));
    const kept = results.get('web');
    expect(kept && entryOf(kept)).toMatchObject({
      reason: 'ProcessingFailed',
      recommendations: result.entry.recommendations,
    });
  });

  test('nothing is recommended where there is no advice', () => {
    expect(entryOf(brokenResult(web, 'boom', undefined))).not.toHaveProperty('recommendations');
  });

  test('come and go by key', () => {
    const results = createResultStore();
    results.set('a', result);
    results.set('b', result);
    expect([results.size, results.has('a'), results.delete('a'), results.delete('a'), [...results.keys()]]).toEqual([
      2,
      true,
      true,
      false,
      ['b'],
    ]);
    results.clear();
    expect([results.size, results.get('b')]).toEqual([0, undefined]);
  });
});
