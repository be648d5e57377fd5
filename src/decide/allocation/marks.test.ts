import { describe, expect, test } from 'vitest';
import { managedOf, type PodMarks, readMarks } from './marks.ts';

const marks = (row: Record<string, string>): PodMarks =>
  readMarks(Object.fromEntries(Object.entries(row).map(([key, value]) => [`mbcas.io/${key}`, value])));

describe('what people write on a pod', () => {
  test.each<[string, Record<string, string>, Partial<PodMarks>]>([
    [
      'nothing',
      {},
      {
        managed: undefined,
        minCpu: undefined,
        weight: undefined,
        hpaMode: 'auto',
        managesGuaranteed: false,
        isLatencySensitive: false,
        metric: undefined,
        problems: [],
      },
    ],
    ['opt-out', { managed: 'false' }, { managed: 'false' }],
    ['opt-in', { managed: 'true' }, { managed: 'true' }],
    ['only exactly true or false count', { managed: 'False' }, { managed: undefined }],
    ['bounds', { 'min-cpu': '250m', 'max-cpu': '1.5' }, { minCpu: 250, maxCpu: 1500 }],
    ['the documented alias of the lower bound', { 'min-acceptable-cpu': '300m' }, { minCpu: 300 }],
    ['the key itself wins over its alias', { 'min-cpu': '200m', 'min-acceptable-cpu': '300m' }, { minCpu: 200 }],
    ['weight', { weight: '2.5' }, { weight: 2.5 }],
    ['the documented classes', { 'priority-class': 'critical' }, { weight: 1.5 }],
    ['low', { 'priority-class': 'low' }, { weight: 0.7 }],
    ['a class of the name of something every object has', { 'priority-class': 'constructor' }, { weight: undefined }],
    ['a weight wins over a class', { 'priority-class': 'low', weight: '3' }, { weight: 3 }],
    ['priority multiplier', { 'priority-multiplier': '0.5' }, { priorityMultiplier: 0.5 }],
    ['coalition', { coalition: 'checkout' }, { coalition: 'checkout' }],
    ['an empty coalition is none', { coalition: '' }, { coalition: undefined }],
    ['Guaranteed pods too', { 'skip-guaranteed': 'false' }, { managesGuaranteed: true }],
    ['a latency target makes a pod latency-sensitive', { 'target-latency-ms': '200' }, { isLatencySensitive: true }],
    ['so does its type', { 'workload-type': 'latency' }, { isLatencySensitive: true, isBatch: false }],
    ['batch', { 'workload-type': 'batch' }, { isBatch: true, isLatencySensitive: false }],
    ['autoscaler: limits only', { 'hpa-mode': 'limits-only' }, { hpaMode: 'limits-only' }],
    ['autoscaler: no coordination', { 'hpa-coordination': 'false', 'hpa-mode': 'off' }, { hpaMode: 'ignore' }],
    [
      'a metric and its target',
      { 'demand-metric': 'queue', 'demand-target': '20' },
      { metric: { name: 'queue', target: 20, isAuthoritative: false } },
    ],
    [
      'one that knows better',
      { 'demand-metric': 'queue', 'demand-target': '20', 'demand-authoritative': 'true' },
      { metric: { name: 'queue', target: 20, isAuthoritative: true } },
    ],
    [
      'a latency to aim at is a metric, and the pod is latency sensitive',
      { 'target-latency-ms': '200' },
      { isLatencySensitive: true, metric: { name: 'target-latency-ms', target: 200, isAuthoritative: false } },
    ],
    [
      'another metric takes its place',
      { 'target-latency-ms': '200', 'demand-metric': 'queue', 'demand-target': '20' },
      { isLatencySensitive: true, metric: { name: 'queue', target: 20, isAuthoritative: false } },
    ],
    ['a metric without a target is none', { 'demand-metric': 'queue' }, { metric: undefined }],
  ])('%s', (_name, row, wanted) => {
    expect(marks(row)).toMatchObject(wanted);
  });

  test.each<[Record<string, string>, RegExp]>([
    [
      { 'min-cpu': 'much' },
      /mbcas.io\/min-cpu: "much" is not valid and ignored; accepted: an amount of CPU above zero/,
    ],
    [{ 'max-cpu': '-1' }, /max-cpu: "-1" is not valid/],
    [{ 'min-cpu': '0' }, /min-cpu: "0" is not valid/],
    [{ weight: 'NaN' }, /weight: "NaN" is not valid/],
    [{ weight: '' }, /weight: "" is not valid/],
    [{ weight: '-3' }, /accepted: a number above zero/],
    [{ 'hpa-mode': 'sometimes' }, /accepted: auto, limits-only, off, ignore/],
    [{ 'priority-class': 'urgent' }, /accepted: critical, normal, low/],
    [{ managed: 'False' }, /mbcas.io\/managed: "False" is not valid and ignored; accepted: true, false$/],
    [{ 'skip-guaranteed': 'no' }, /skip-guaranteed: "no" is not valid and ignored; accepted: true, false$/],
    [{ 'workload-type': 'latency-sensitive' }, /accepted: latency, batch$/],
    [{ 'hpa-coordination': '0' }, /accepted: true, false$/],
    [{ 'demand-authoritative': 'yes' }, /accepted: true, false$/],
    [
      { 'demand-metric': 'queue' },
      /demand-metric: "queue" .*; accepted: a name, with mbcas.io\/demand-target beside it$/,
    ],
    [{ 'demand-target': '20' }, /demand-target: "20" .*; accepted: a number, with mbcas.io\/demand-metric beside it$/],
    [{ weight: 'x'.repeat(9_000) }, /^mbcas.io\/weight: "x{100}\.\.\. \(9000 characters\)" is not valid/],
    [{ coalition: 'x'.repeat(101) }, /accepted: a name of at most 100 characters$/],
    [{ 'demand-metric': 'x'.repeat(101), 'demand-target': '2' }, /accepted: a name of at most 100 characters$/],
  ])('not understood, told and ignored: %j', (row, problem) => {
    const found = marks(row);
    expect(found.problems).toHaveLength(1);
    expect(found.problems[0]).toMatch(problem);
    expect(found).toMatchObject({ minCpu: undefined, maxCpu: undefined, weight: undefined, hpaMode: 'auto' });
    expect(found).toMatchObject({ coalition: undefined, metric: undefined });
  });
});

test.each([
  [{ 'mbcas.io/managed': 'true' }, 'true'],
  [{ 'mbcas.io/managed': 'false' }, 'false'],
  [{ 'mbcas.io/managed': 'True' }, undefined],
  [{ 'mbcas.io/managed': '' }, undefined],
  [{}, undefined],
  [undefined, undefined],
])('labels %j: managed %s', (labels, expected) => {
  expect(managedOf(labels)).toBe(expected);
});
