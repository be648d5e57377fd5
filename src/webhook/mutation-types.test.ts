import { expect, test } from 'vitest';
import { mutationTypesOf } from './mutation-types.ts';

test('each part of a pod that is changed is one, whether it was there or not', () => {
  const typesOf = (...paths: string[]) => mutationTypesOf(paths.map((path) => ({ path })));
  expect(typesOf()).toEqual([]);
  expect(typesOf('/spec/nodeSelector', '/metadata/annotations')).toEqual(['nodeSelector', 'annotations']);
  expect(
    typesOf(
      '/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution',
      '/spec/tolerations/-',
      '/spec/tolerations/-',
      '/metadata/annotations/spotalis.io~1slot',
    ),
  ).toEqual(['affinity', 'tolerations', 'annotations']);
  expect(typesOf('/spec/containers/0/resources')).toEqual([]);
});
