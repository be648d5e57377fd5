import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ConfigError } from '../../lib/errors.ts';
import { checkAssertion } from './assertions.ts';
import { libraryNames, loadScenario, parseScenario } from './load-scenario.ts';

const base = `
name: test
duration: 1h
pools:
  - { name: on-demand, class: on-demand }
workloads:
  - { name: web, replicas: 3 }
`;

function problemsOf(text: string): readonly string[] {
  try {
    parseScenario(text, 'test.yaml');
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe('parseScenario', () => {
  test('fills in defaults', () => {
    const scenario = parseScenario(base, 'test.yaml');
    expect(scenario).toMatchObject({ duration: 3_600_000, seed: 1, replicas: 1, events: [], correlation: 0.5 });
    expect(scenario.pools[0]).toMatchObject({ type: 'm6i.xlarge', min: 0, provision: 40_000 });
    expect(scenario.workloads[0]).toMatchObject({ namespace: 'default', kind: 'Deployment', enabled: true, cpu: 250 });
  });

  test.each<[string, string, string]>([
    ['an unknown key', `${base}nonsense: 1\n`, 'test.yaml:8: unknown key nonsense'],
    [
      'an unknown key of an entry',
      `${base}  - { name: api, replica: 3 }\n`,
      'test.yaml:8: workloads[1]: unknown key replica',
    ],
    ['a mistake in a later entry', `${base}  - name: api\n    replicas: -1\n`, 'test.yaml:9: workloads[1].replicas:'],
    ['a later entry that misses something', `${base}  - name: api\n`, 'test.yaml:8: workloads[1].replicas:'],
    [
      'a missing key',
      'name: test\nduration: 1h\nworkloads: [{ name: web, replicas: 1 }]\n',
      'test.yaml: pools: is missing; give a list',
    ],
    ['an empty list', base.replace(/pools:[^\n]*\n(?: +-[^\n]*\n)*/, 'pools: []\n'), 'pools: give at least 1'],
    ['a wrong kind', base.replace(/pools:[^\n]*\n(?: +-[^\n]*\n)*/, 'pools: spot\n'), 'pools: should be a list'],
    [
      'a bad duration',
      base.replace('1h', 'soon'),
      'test.yaml:3: duration: "soon" is not valid; accepted: a duration such as',
    ],
    [
      'a bad rate',
      base.replace('on-demand }', 'on-demand, interruptions: often }'),
      'pools[0].interruptions: "often" is not valid',
    ],
    [
      'an unknown event',
      `${base}events: [{ at: 1m, do: explode }]\n`,
      'events[0].do: is not known: "explode"; accepted: one of close-pools, open-pools, storm,',
    ],
    ['no event', `${base}events: [{ at: 1m }]\n`, 'events[0].do: is missing; give one of close-pools, open-pools,'],
    [
      'a missing time',
      `${base}events: [{ do: webhook-up }]\n`,
      'events[0].at: is missing; give a duration such as 90s',
    ],
    [
      'a time that is none',
      `${base}events: [{ at: [1], do: webhook-up }]\n`,
      'events[0].at: should be a duration such as',
    ],
    [
      'a missing share',
      `${base}events: [{ at: 1m, do: storm }]\n`,
      'events[0].share: is missing; give a share such as 30% or 0.3',
    ],
    [
      'an unknown word',
      base.replace('class: on-demand', 'class: cheap'),
      'pools[0].class: is not known: "cheap"; accepted: one of spot, on-demand',
    ],
    [
      'a missing word',
      base.replace(', class: on-demand', ''),
      'pools[0].class: is missing; give one of spot, on-demand',
    ],
    ['half a machine', base.replace('on-demand }', 'on-demand, max: 1.5 }'), 'pools[0].max: should be a whole number'],
    ['too few', base.replace('on-demand }', 'on-demand, max: 0 }'), 'pools[0].max: should be 1 or more'],
    ['too many', base.replace('on-demand }', 'on-demand, max: 20000 }'), 'pools[0].max: should be 10000 or less'],
    ['an empty text', base.replace('on-demand }', 'on-demand, type: "" }'), 'pools[0].type: should not be empty'],
    [
      'an unknown figure',
      `${base}asserts: ["speed <= 3"]\n`,
      'asserts[0]: there is no figure "speed"; there are hours,',
    ],
    ['no assertion', `${base}asserts: ["be good"]\n`, 'asserts[0]: "be good" is no assertion: write a figure'],
    [
      'a wrong time in a curve',
      base.replace('replicas: 3', 'replicas: { points: { soon: 3 } }'),
      'the keys of points are times',
    ],
    [
      'two bounds of a budget',
      base.replace('replicas: 3', 'replicas: 3, pdb: { minAvailable: 1, maxUnavailable: 1 }'),
      'give exactly one of',
    ],
    [
      'nothing to run',
      base.replace('  - { name: web, replicas: 3 }\n', '').replace('workloads:', 'workloads: []'),
      'there is nothing to run',
    ],
  ])('%s is told with its place', (_, text, message) => {
    expect(problemsOf(text).join('\n')).toContain(message);
  });

  test('every problem is told at once', () => {
    expect(problemsOf(base.replace('1h', 'soon').replace('replicas: 3', 'replicas: -3'))).toHaveLength(2);
  });
});

describe('loadScenario', () => {
  test('knows a library, each scenario named after its file and holding the floor as an assertion', () => {
    expect(libraryNames()).toEqual([
      'black-friday',
      'five-hundred-nodes',
      'noisy-neighbour',
      'quiet-day',
      'rollout-under-storm',
      'spot-famine',
      'spot-storm',
      'week',
      'wrong-requests',
    ]);
    for (const name of libraryNames()) {
      const { scenario } = loadScenario(name);
      expect(scenario.name).toBe(name);
      expect(scenario.asserts.map(({ text }) => text)).toContain('floorViolations == 0');
    }
  });

  test('reads files, and says which names there are when there is no such file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'stowage-scenario-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'mine.yaml');
    writeFileSync(path, base);
    expect(loadScenario(path)).toMatchObject({ scenario: { name: 'test' }, folder });
    expect(() => loadScenario(join(folder, 'other.yaml'))).toThrow(
      /there is no scenario .*black-friday, five-hundred-nodes/,
    );
  });
});

test('an assertion compares a figure with a number or another figure', () => {
  const [small, large] = parseScenario(`${base}asserts: ["evictions <= evictionsBound", "spotGap < 2"]\n`, 't').asserts;
  const figures = { evictions: 4, evictionsBound: 3, spotGap: 1.5 } as Parameters<typeof checkAssertion>[1];
  if (small === undefined || large === undefined) throw new Error('two assertions were written');
  expect(checkAssertion(small, figures)).toMatchObject({ actual: 4, limit: 3, ok: false });
  expect(checkAssertion(large, figures)).toMatchObject({ actual: 1.5, limit: 2, ok: true });
});
