/** Every property, public bug, golden vector and pinned behaviour of the rightsizing engine is a test, with its number in its name where it has one. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { root } from './numbered.ts';
import { DEFAULT_RUNS, type TaggedTest, taggedTests, testFiles } from './tagged-tests.ts';

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);
const PROPERTIES = upTo(32);
/** Those that speak of the API: each has a twin on the real API server. */
const TWINS = [3, 6, 8, 9, 10, 15, 16, 19, 20, 21, 23, 24, 26, 27, 28, 29, 31, 32];
const BUGS = upTo(35);

const read = (files: ReadonlyMap<string, string>): readonly TaggedTest[] =>
  [...files].flatMap(([path, source]) => taggedTests(path, source));
const beside = testFiles(root, 'src');
const onCluster = new Map([...testFiles(root, 'test/conformance'), ...testFiles(root, 'test/cluster')]);
const [properties, twins] = [read(beside), read(onCluster)];
// This file and its like speak of tags without being tests of what they stand for.
const suites = [...testFiles(root, 'test')].filter(([path]) => !path.startsWith('test/structure/'));
const sources = [...beside.values(), ...suites.map(([, source]) => source)];

const name = ({ path, title }: TaggedTest): string => `${path}: ${title}`;
const isTagged =
  (number: number) =>
  ({ properties, comments }: TaggedTest): boolean =>
    properties.includes(number) && comments.includes(number);

describe('the 32 properties', () => {
  test('each is a test of at least 100 runs, with its number in the title and in the comment above', () => {
    expect(PROPERTIES.filter((number) => !properties.filter(isTagged(number)).some(({ runs }) => runs >= 100))).toEqual(
      [],
    );
  });

  test('no test that carries the comment makes fewer runs', () => {
    expect(properties.filter(({ comments, runs }) => comments.length > 0 && runs < 100).map(name)).toEqual([]);
  });

  test('a comment and the title below it name the same numbers, and none is made up', () => {
    const all = [...properties, ...twins];
    const isWhole = ({ properties: numbers, comments }: TaggedTest): boolean =>
      comments.length === 0 || (comments.length === numbers.length && comments.every((each) => numbers.includes(each)));
    expect(all.filter((each) => !isWhole(each)).map(name)).toEqual([]);
    expect(all.flatMap((each) => each.properties).filter((number) => !PROPERTIES.includes(number))).toEqual([]);
  });

  test('no comment stands anywhere but above a test', () => {
    const written = [...beside.values(), ...onCluster.values()].join('\n').match(/Feature: k8s-workload-rightsizing/g);
    expect([...properties, ...twins].flatMap(({ comments }) => comments)).toHaveLength(written?.length ?? 0);
  });

  test('runs that a test does not name are those of fast-check', () => {
    expect(fc.readConfigureGlobal().numRuns ?? DEFAULT_RUNS).toBe(DEFAULT_RUNS);
  });

  test('those that speak of the API have a twin on the real API server', () => {
    expect(TWINS.filter((number) => !twins.some(isTagged(number)))).toEqual([]);
  });
});

/** Numbers after a word in what stands before the colon of a title: `rightsizing bug 4, 32: ...`. */
function numbersAfter(word: string): ReadonlySet<number> {
  const tags = new RegExp(`['"\`](?:[^'"\`:\\n]*, )?${word} (\\d+(?:, \\d+)*)(?:,[^'"\`:\\n]*)?:`, 'g');
  return new Set(
    sources
      .flatMap((source) => [...source.matchAll(tags)])
      .flatMap((match) => (match[1] ?? '').split(', ').map(Number)),
  );
}

describe('public bugs and golden vectors', () => {
  test('each of the 35 rows of peers is a named test, and none is made up', () => {
    expect([...numbersAfter('rightsizing bug')].sort((a, b) => a - b)).toEqual(BUGS);
  });

  // Targets of memory by bucket, in bytes, and a limit in proportion; the floors of a pod are left out of the estimator on purpose.
  test.each([23_574_999, 380_258_472, 476_450_463, 548_861_636, 764_046_746, 731_815_515])(
    'VPA: %d stands in a test',
    (golden) => {
      const text = golden.toLocaleString('en').replaceAll(',', '_');
      expect(sources.some((source) => source.includes(text))).toBe(true);
    },
  );

  test('no row is named in any other form', () => {
    const other = /['"`][^'"`\n]*(?:\(bug rows? \d|\(rightsizing bug|\brow \d+:)/g;
    expect(sources.flatMap((source) => source.match(other) ?? [])).toEqual([]);
  });
});

/** A behaviour pinned by OptiPod's own suites and scripts, the file that proves it here, and the words of the title it is proved by. */
const PINNED: readonly (readonly [behaviour: string, path: string, words: string])[] = [
  ['validation, bounds and kinds', 'src/api/optimization-policy-check.test.ts', 'what OptiPod pins about validation'],
  ['its own samples are valid', 'src/api/optimization-policy-samples.test.ts', 'the samples OptiPod ships'],
  ['active workload types', 'src/decide/rightsizing/policy-match.test.ts', 'kinds: %s'],
  ['percentiles to the last digit', 'src/lib/exact-percentile.test.ts', 'optipod: P90 of three'],
  ['providers and their fallback', 'src/observe/usage/usage-providers.test.ts', 'optipod: prometheus needs an address'],
  [
    'percentile times factor, cut',
    'src/decide/rightsizing/cpu-target.test.ts',
    'optipod pinned: P90 of 100, 200, 300 times 1.2',
  ],
  ['canonical quantities', 'src/decide/rightsizing/amount-text.test.ts', 'optipod pinned: 73847603 bytes'],
  ['limits times 1.0 and 1.1', 'src/decide/rightsizing/limits.test.ts', 'optipod: memory times 1.1, cut'],
  ['support of in-place resize', 'src/model/resize-support.test.ts', 'Property 20: for any version and gate'],
  [
    'in place, else recreate, else skip',
    'src/decide/rightsizing/choose-method.test.ts',
    'in place is preferred to new pods',
  ],
  ['the patch, with and without server-side apply', 'src/act/retemplate.test.ts', 'server-side apply: %s'],
  ['texts of 403, 409 and 422', 'src/act/resize-outcome.test.ts', 'texts of the API server'],
  [
    'a conflict names manager and field',
    'src/act/retemplate.test.ts',
    'without force, the other manager and the field are named',
  ],
  [
    'Recommend',
    'src/operator/rightsizing.test.ts',
    'has the recommendation in its status, and nothing is written to the workload',
  ],
  [
    'a policy that is Disabled',
    'src/operator/rightsizing-properties.test.ts',
    'Property 19: any workload of a policy that is disabled',
  ],
  [
    'discovery, lists and kinds',
    'src/decide/rightsizing/select-policy.test.ts',
    'Property 16: a policy finds every matching',
  ],
  [
    'caches',
    'src/observe/usage/provider-metrics-server.test.ts',
    'Property 32: for any number of workloads of a namespace',
  ],
  ['events', 'src/act/rightsizing-events.test.ts', 'optipod defect B14: every event OptiPod names has a row'],
  [
    'the next look at a policy',
    'src/decide/rightsizing/requeue.test.ts',
    'optipod pinned: Recommend after 1m comes again after 2m',
  ],
  ['a schema that takes min above max', 'test/conformance/policies.conformance.ts', 'is refused'],
  ['script resource-bounds', 'src/operator/rightsizing-pinned.test.ts', "'below-min'"],
  ['script limit-config', 'src/operator/rightsizing-pinned.test.ts', 'default 1.0 and 1.1'],
  ['script update-strategies', 'src/operator/rightsizing-pinned.test.ts', 'optipod pinned: requests only leaves them'],
  ['script workload-types', 'src/operator/rightsizing-pinned.test.ts', 'optipod pinned: workload types of a policy'],
  ['script weights', 'src/operator/rightsizing-pinned.test.ts', 'optipod pinned: of weights 200, 100 and 50'],
  [
    'script policy-modes',
    'src/operator/rightsizing-pinned.test.ts',
    'optipod pinned: a policy that is switched from Recommend to Auto',
  ],
  [
    'script memory-decrease-safety',
    'src/guard/size/rules/size-change.test.ts',
    'Property 5: for any use, peak and new limit',
  ],
  ['script concurrent', 'src/act/retemplate.test.ts', 'a change in the same moment'],
  [
    'script dry-run',
    'test/cluster/rightsizing-modes.test.ts',
    'Property 29: dry-run, switched on in a running operator',
  ],
  ['script rbac', 'test/cluster/rightsizing-refusals.test.ts', 'Property 28: without the right to resize'],
  ['script error-handling', 'test/conformance/policies.conformance.ts', 'Property 15: the API server refuses'],
];

test.each(PINNED)('pinned by OptiPod: %s', (_, path, words) => {
  expect(beside.get(path) ?? onCluster.get(path) ?? '').toContain(words);
});

describe('the reader of tests', () => {
  const tag = (number: number): string =>
    `// ${['Feature', ' k8s-workload-rightsizing'].join(':')}, Property ${number}: text`;
  const one = (...lines: readonly string[]) => taggedTests('a.test.ts', lines.join('\n'));

  test('takes the default where no number of runs is given, and the fewest of several', () => {
    expect(
      one(
        `  ${tag(3)}`,
        "  test('Property 3: one', () => {",
        '    fc.assert(fc.property(numbers, holds));',
        '    fc.assert(fc.property(numbers, holds), { numRuns: 300 });',
        '  });',
        "  test('another', () => fc.assert(fc.property(numbers, holds), { numRuns: 5 }));",
      ),
    ).toEqual([{ path: 'a.test.ts', title: 'Property 3: one', properties: [3], comments: [3], runs: 100 }]);
  });

  test('reads constants, several numbers, and cases sampled by a function of the file', () => {
    expect(
      one(
        'const COUNT = 110;',
        'function anyCases() {',
        '  return fc.sample(cases, { numRuns: COUNT });',
        '}',
        tag(2),
        tag(9),
        'test(',
        "  'Property 2, Property 9: two',",
        '  () => check(anyCases()),',
        '  TIMEOUT,',
        ');',
      ),
    ).toMatchObject([{ properties: [2, 9], comments: [9, 2], runs: 110 }]);
  });

  test('counts no runs for examples, none that cannot be read, and no comment that is not right above', () => {
    expect(one(tag(5), '', "test('Property 5: apart', () => {", '});')).toMatchObject([{ comments: [], runs: 0 }]);
    expect(one(tag(5), "test('Property 5: read', () => {", '  fc.assert(p, { numRuns: many });', '});')).toMatchObject([
      { comments: [5], runs: 0 },
    ]);
    expect(one("test('as Property 5 says, one', () => {});")).toEqual([]);
  });
});
