import { expect, test } from 'vitest';
import { NOON } from '../../model/testing/records.ts';
import { aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { keptAnnotations, lostAnnotations, WrittenAnnotations } from './written-annotations.ts';

const ours = {
  'optipod.io/managed': 'true',
  'optipod.io/recommendation.app.cpu-request': '200m',
  'optipod.io/applied-sizes': '{"app":{"cpuRequest":[250,120]}}',
  'optipod.io/last-applied': '2026-06-01T00:00:00Z',
};
const kept = {
  'optipod.io/applied-sizes': '{"app":{"cpuRequest":[250,120]}}',
  'optipod.io/last-applied': '2026-06-01T00:00:00Z',
};

test.each<[string, Record<string, string>, typeof kept | undefined]>([
  ['what sizes hang on', { ...ours, told: 'by people' }, kept],
  ['nothing where only advice is told', { 'optipod.io/managed': 'true' }, undefined],
  ['nothing of others', { told: 'by people' }, undefined],
])('keptAnnotations: %s', (_, annotations, expected) => {
  expect(keptAnnotations({ annotations })).toEqual(expected);
});

test.each<[string, Record<string, string>, typeof kept | undefined]>([
  ['all of it is gone', { told: 'by people' }, kept],
  ['somebody paused it meanwhile', { 'optipod.io/paused': 'true' }, kept],
  ['some of it is there', { 'optipod.io/managed': 'true' }, undefined],
  ['all of it is there', ours, undefined],
])('lostAnnotations: %s', (_, annotations, expected) => {
  expect(lostAnnotations({ annotations }, kept)).toEqual(expected);
  expect(lostAnnotations({ annotations }, undefined)).toBeUndefined();
});

test('what was written is on the workload before the view shows it, for half a minute', () => {
  const annotations = new WrittenAnnotations();
  annotations.note({ told: null, 'optipod.io/managed': 'true' }, NOON - 1);
  annotations.note({ 'optipod.io/policy': 'p' }, NOON);
  const found = aSizedWorkload({ annotations: { told: 'by people' } });
  const written = { 'optipod.io/managed': 'true', 'optipod.io/policy': 'p' };
  expect(annotations.putOn(found, NOON + 29_999).annotations).toEqual(written);
  expect(annotations.areShown).toBe(false);
  expect(annotations.putOn(found, NOON + 30_000)).toBe(found);
  expect(annotations.areShown).toBe(true);
});

test('it is shown once the view has it all', () => {
  const annotations = new WrittenAnnotations();
  annotations.note(kept, NOON);
  const found = aSizedWorkload({ annotations: { ...kept } });
  expect([annotations.putOn(found, NOON), annotations.areShown]).toEqual([found, true]);
});

test('what went with the whole object is to be put back until it is there again', () => {
  const annotations = new WrittenAnnotations();
  const replaced = aSizedWorkload();
  annotations.keep(aSizedWorkload({ annotations: ours }), NOON);
  annotations.keep(replaced, NOON);
  expect(annotations.lostOf(replaced)).toEqual(kept);
  annotations.keep(aSizedWorkload({ annotations: { 'optipod.io/managed': 'true' } }), NOON);
  expect(annotations.lostOf(replaced)).toBeUndefined();
});
