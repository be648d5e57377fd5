/** Files that nobody meant: whatever stands in one, there is a configuration, or a list of what is wrong with it. */
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { spoiled } from '../lib/testing/spoiled.ts';
import { configAliases } from './aliases.ts';
import { listConfigKeys } from './schema.ts';
import { problemsOf } from './testing/load-text.ts';

/** Of keys that have no default, something that is accepted. */
const samples: Readonly<Record<string, unknown>> = {
  'controllers.namespaceSelector': { matchLabels: { team: 'shop' } },
  'controllers.nodeClassifier.profiles': ['eks'],
  'controllers.nodeClassifier.spotLabels': [{ matchExpressions: [{ key: 'pool', operator: 'In', values: ['spot'] }] }],
};

/** Every key with its default, nested as in the file. */
function wholeFile(): Record<string, unknown> {
  const file: Record<string, unknown> = {};
  for (const { path, key } of listConfigKeys()) put(file, path.split('.'), samples[path] ?? key.defaultValue);
  return file;
}

function put(section: Record<string, unknown>, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (value === undefined) return;
  if (rest.length === 0) section[name] = value;
  else {
    const inner = { ...Object(section[name]) };
    put(inner, rest, value);
    section[name] = inner;
  }
}

/** JSON is YAML. Any other error than the one with a list of problems would end an operator that follows its file. */
const judged = (file: unknown): readonly string[] => problemsOf(JSON.stringify(file));

const isTold = (problems: readonly string[]): void => {
  for (const problem of problems) expect(problem).toMatch(/^\S/);
};

describe('a file', () => {
  test('with every key at its default is valid', () => {
    expect(judged(wholeFile())).toEqual([]);
  });

  test('with anything in any one place is judged', () => {
    fc.assert(
      fc.property(spoiled(wholeFile()), (file) => isTold(judged(file ?? {}))),
      { numRuns: 400 },
    );
  });

  test('with anything in a key of another spelling is judged', () => {
    const alias = fc.constantFrom(...configAliases.map(({ from }) => from));
    fc.assert(
      fc.property(alias, fc.jsonValue({ maxDepth: 2 }), (from, value) => {
        const file: Record<string, unknown> = {};
        put(file, from.split('.'), value);
        isTold(judged(file));
      }),
      { numRuns: 300 },
    );
  });

  test('of any text is judged', () => {
    const words = ['operator', 'webhook', 'port', 'leaderElection', 'null', '.inf', '1', '__proto__', 'x'];
    const marks = [
      ':',
      ': ',
      ' ',
      '\n',
      '\n  ',
      '- ',
      '{',
      '}',
      '[',
      ']',
      ',',
      '&x ',
      '*x',
      '"',
      '? ',
      '<<: ',
      '!!str ',
    ];
    const piece = fc.constantFrom(...words, ...marks);
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 25 }), (pieces) => isTold(problemsOf(pieces.join('')))),
      { numRuns: 500 },
    );
  });

  test('that the parser only warns of puts nothing into the log beside the records', () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => warned.mockRestore());
    expect(problemsOf('? [webhook]\n: 1\n')).toEqual([]);
    expect(warned).not.toHaveBeenCalled();
  });

  test.each(['webhook: &x\n  port: *x\n', 'operator: &x\n  namespace: [*x]\n', 'placement: {owners: &x [*x]}\n'])(
    '%j, which holds itself, is refused by name',
    (text) => {
      expect(problemsOf(text)).toEqual([
        expect.stringMatching(/^failed to parse YAML config file config\.yaml: .* alias /),
      ]);
    },
  );
});
