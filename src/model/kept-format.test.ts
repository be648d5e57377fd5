import { describe, expect, test } from 'vitest';
import { writeAppliedSizes } from './applied-sizes.ts';
import { keyOfNewerFormat } from './kept-format.ts';
import { noLessons, writeLessons } from './learned-floors.ts';
import { sizesOf, writeReplicaSizes } from './replica-sizes.ts';
import { aContainer } from './testing/sizing-records.ts';
import { writeWatch } from './watched-changes.ts';

const keys = [
  'optipod.io/applied-sizes',
  'optipod.io/replica-sizes',
  'optipod.io/learned-floors',
  'optipod.io/watched-changes',
];
const sizes = [{ container: 'v', amounts: { cpuRequest: [100, 200] as const } }];
const written = {
  'optipod.io/applied-sizes':
    writeAppliedSizes([aContainer({ name: 'v', size: {} })], [aContainer({ name: 'v', size: { cpuRequest: 200 } })]) ??
    '',
  'optipod.io/replica-sizes':
    writeReplicaSizes(
      [aContainer({ name: 'v' })],
      new Map([
        ['v', { sizes: sizesOf([aContainer({ name: 'v' })]), changedAt: 5, before: undefined, lessons: noLessons }],
      ]),
    ) ?? '',
  'optipod.io/learned-floors':
    writeLessons({ floors: [{ container: 'v', resource: 'cpu', atLeast: 100, until: 5 }], reverts: 1 }) ?? '',
  'optipod.io/watched-changes':
    writeWatch({
      changes: [{ method: 'InPlace', phase: 'spread', startedAt: 5, canary: undefined, sizes }],
      takenBack: [],
    }) ?? '',
};

describe('keyOfNewerFormat', () => {
  test('what this version writes is none, also of a container that is called v', () => {
    for (const text of Object.values(written)) expect(text).toContain('"v"');
    expect(keyOfNewerFormat(written)).toBeUndefined();
    expect(keyOfNewerFormat({})).toBeUndefined();
  });

  test.each(keys)('%s with a number of a format', (key) => {
    expect(keyOfNewerFormat({ ...written, [key]: '{"v":2,"app":{"cpu":{"request":"200m"}}}' })).toBe(key);
  });

  test.each(['', '{', 'null', '2', '[{"v":2}]', '{"v":"2"}', '{"app":{"v":2}}'])(
    'a text such as %j is damaged or edited, and not later',
    (text) => {
      for (const key of keys) expect(keyOfNewerFormat({ [key]: text })).toBeUndefined();
    },
  );

  test('other annotations are nobody’s business', () => {
    expect(keyOfNewerFormat({ 'example.com/state': '{"v":2}' })).toBeUndefined();
  });
});
