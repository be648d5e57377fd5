import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../lib/errors.ts';
import { loadPricesFile, parsePrices } from './prices-file.ts';

function problemsOf(text: string): readonly string[] {
  try {
    parsePrices(text, 'p.yaml');
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('parsePrices', () => {
  test('reads prices, discounts and places', () => {
    const text = `
source: mine
asOf: '2026-01-01'
region: r1
instanceTypes:
  a: { onDemand: 0.2, spotDiscount: 66% }
  b:
    onDemand: 1
    spot: 0
    regions: { r2: { spotDiscount: 50 } }
    zones: { r1a: { onDemand: 2, spot: 0.5 } }
`;
    expect(parsePrices(text, 'p.yaml')).toEqual({
      source: 'mine',
      asOf: '2026-01-01',
      region: 'r1',
      instanceTypes: {
        a: { onDemand: 0.2, spotDiscount: 66 },
        b: { onDemand: 1, spot: 0, regions: { r2: { spotDiscount: 50 } }, zones: { r1a: { onDemand: 2, spot: 0.5 } } },
      },
    });
  });

  test('JSON is YAML too', () => {
    const table = { instanceTypes: { a: { onDemand: 0.2, spotDiscount: 33.3 } } };
    expect(parsePrices(JSON.stringify(table), 'p.json')).toEqual(table);
  });

  test.each<[string, string, RegExp]>([
    [
      'no on-demand price',
      'instanceTypes:\n  a: { spot: 1 }',
      /^p\.yaml:2: instanceTypes: a: onDemand is not a number: nothing; accepted: a number of US dollars/,
    ],
    [
      'text for a price',
      'instanceTypes:\n  a:\n    onDemand: cheap',
      /^p\.yaml:3: instanceTypes: a: onDemand is not a number: "cheap"/,
    ],
    ['below 0', 'instanceTypes:\n  a:\n    onDemand: -1', /^p\.yaml:3: .*onDemand is below 0: -1/],
    [
      'more than on-demand',
      'instanceTypes:\n  a:\n    onDemand: 1\n    spotDiscount: 101%',
      /^p\.yaml:4: .*spotDiscount is not a percentage: "101%"; accepted: a percentage from 0/,
    ],
    [
      'a misspelt key',
      'instanceTypes:\n  a:\n    onDemand: 1\n    spotDiscont: 5%',
      /^p\.yaml:4: instanceTypes: a: spotDiscont is not a key of a prices file; accepted: onDemand, spot/,
    ],
    [
      'both kinds of spot price',
      'instanceTypes:\n  a:\n    onDemand: 1\n    spot: 0.5\n    spotDiscount: 5%',
      /^p\.yaml:2: instanceTypes: a has both spot and spotDiscount/,
    ],
    [
      'the same in a zone',
      'instanceTypes:\n  a:\n    onDemand: 1\n    zones:\n      z: { spot: 0.5, spotDiscount: 5% }',
      /^p\.yaml:5: instanceTypes: a: zones: z has both/,
    ],
    [
      'a list',
      'instanceTypes: [a]',
      /^p\.yaml:1: instanceTypes must hold instance types with prices; accepted: instance types/,
    ],
    ['nothing', '', /instanceTypes must hold instance types with prices: nothing/],
    ['another currency', 'currency: EUR\ninstanceTypes: {}', /^p\.yaml:1: currency is not a key of a prices file/],
    ['broken YAML', 'instanceTypes: {', /^failed to parse prices file p\.yaml:1: /],
  ])('%s is told with its line', (_, text, expected) => {
    const problems = problemsOf(text);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(expected);
  });

  test('all problems are told at once', () => {
    expect(problemsOf('instanceTypes:\n  a: { onDemand: x }\n  b: { onDemand: -2 }')).toHaveLength(2);
  });

  test('for any text there is a table or a list of problems, nothing else', () => {
    const piece = fc.constantFrom(
      'instanceTypes',
      ':',
      ' ',
      '\n',
      '  a',
      '{',
      '}',
      '[',
      '1',
      'spot',
      '%',
      '&x',
      '*x',
      '"',
      '- ',
      '__proto__',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 25 }), (pieces) => {
        for (const problem of problemsOf(pieces.join(''))) expect(problem).toMatch(/p\.yaml/);
      }),
      { numRuns: 500 },
    );
  });
});

test('the sample is valid and says where it comes from', () => {
  const sample = loadPricesFile(fileURLToPath(new URL('../../config/prices-sample.yaml', import.meta.url)));
  expect(sample.instanceTypes['m5.xlarge']).toEqual({ onDemand: 0.192, spotDiscount: 66 });
  expect(sample).toMatchObject({ region: 'us-east-1', asOf: '2026-07-20', source: expect.stringContaining('AWS') });
});

test('a file that is not there is one clear problem', () => {
  expect(() => loadPricesFile('/nowhere/prices.yaml')).toThrow(
    /^failed to read prices file \/nowhere\/prices\.yaml: there is no such file; name another/,
  );
});
