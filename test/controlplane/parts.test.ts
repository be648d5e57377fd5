import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { chosenParts, filesOf, type PartName, partNames } from './parts.ts';

const root = resolve(import.meta.dirname, '..', '..');
const find = (patterns: readonly string[]): string[] => globSync(patterns, { cwd: root });

function filesIn(part: PartName | undefined): string[] {
  const { include, exclude } = filesOf(part);
  const left = new Set(find(exclude));
  return find(include).filter((file) => !left.has(file));
}

describe('the parts', () => {
  test('have every file once', () => {
    expect(filesIn(undefined).length).toBeGreaterThan(40);
    expect(partNames.flatMap(filesIn).toSorted()).toEqual(filesIn(undefined).toSorted());
  });

  test('have a file for each pattern', () => {
    for (const name of partNames) for (const pattern of filesOf(name).include) expect(find([pattern])).not.toEqual([]);
  });
});

describe('a command line', () => {
  const partsOf = (...args: readonly string[]): readonly PartName[] | undefined => chosenParts(args)?.parts;

  test('without arguments means every part', () => {
    expect(partsOf()).toEqual(partNames);
  });

  test('names parts, or those to leave out; both together are all', () => {
    const [only, others] = [partsOf('--only', 'harness,outages'), partsOf('--except', 'harness,outages')];
    expect(only).toEqual(['outages', 'harness']);
    expect([...(only ?? []), ...(others ?? [])].toSorted()).toEqual(partNames.toSorted());
  });

  test('may say how many run at once', () => {
    expect(chosenParts(['--only', 'base', '--at-once', '2'])).toEqual({ parts: ['base'], atOnce: 2 });
    expect(chosenParts(['--at-once', '1'])).toEqual({ parts: partNames, atOnce: 1 });
  });

  test('with files, or options of the runner, means no parts', () => {
    expect(partsOf('test/cluster/usage.test.ts')).toBeUndefined();
    expect(partsOf('-t', 'a name')).toBeUndefined();
    expect(partsOf('--only', 'harness', 'test/cluster/usage.test.ts')).toBeUndefined();
  });

  test.each([
    [['--only', 'harness,nothing'], /^--only names "nothing"; the parts are rightsizing, base, /],
    [['--except'], /^--except names ""; /],
    [['--at-once', 'many'], /^--at-once takes a whole number from 1 on, not "many"$/],
    [['--at-once', '0'], /not "0"$/],
  ])('%j is refused', (args, message) => {
    expect(() => chosenParts(args)).toThrow(message);
  });
});
