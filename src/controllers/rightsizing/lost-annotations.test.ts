import { expect, test } from 'vitest';
import { keptAnnotations, lostAnnotations } from './lost-annotations.ts';

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
