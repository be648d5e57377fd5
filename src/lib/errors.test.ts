import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ConfigError,
  describeError,
  describeFileError,
  describeWriteError,
  hasErrorCode,
  InvalidValueError,
  StowageError,
} from './errors.ts';

describe('describeError', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  const looped = new Error('outer');
  looped.cause = looped;

  test.each<[string, unknown, string]>([
    ['an error', new Error('boom'), 'boom'],
    ['an error and its cause', new Error('cannot list pods', { cause: new Error('reset') }), 'cannot list pods: reset'],
    ['a cause already told', new Error('failed: reset', { cause: new Error('reset') }), 'failed: reset'],
    ['a whole sentence', new Error('No file a.', { cause: new Error('ENOENT') }), 'No file a.'],
    ['a cause that is one', new Error('no b', { cause: new Error('No a.', { cause: new Error('x') }) }), 'no b: No a.'],
    [
      'a certificate',
      new Error('unknown issuer; if the root CA is installed locally, try running Node.js with --use-system-ca'),
      'unknown issuer',
    ],
    ['a cause that is text', new Error('failed', { cause: 'no route' }), 'failed: no route'],
    ['an error that causes itself', looped, 'outer'],
    ['an error without text', new TypeError(), 'TypeError'],
    ['a code without text', Object.assign(new Error(''), { code: 'ECONNRESET' }), 'ECONNRESET'],
    ['several errors', new AggregateError([new Error('a'), new Error('b')]), 'a; b'],
    ['several errors with text', new AggregateError([new Error('a')], 'all failed'), 'all failed'],
    ['no errors', new AggregateError([]), 'several errors'],
    ['text', 'plain', 'plain'],
    ['a number', 7, '7'],
    ['an object', { a: 1 }, '{"a":1}'],
    ['an object JSON cannot print', cyclic, '[object Object]'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['undefined', undefined, 'unknown error'],
    ['null', null, 'unknown error'],
  ])('%s', (_, thrown, text) => expect(describeError(thrown)).toBe(text));
});

const systemError = (code: string) => Object.assign(new Error(`${code}: as the system says`), { code });

test.each([
  ['ENOENT', 'there is no such file'],
  ['EACCES', 'this user may not read it'],
  ['EISDIR', 'it is a folder'],
  ['ENOTDIR', 'a part of the path is no folder'],
  ['ELOOP', 'its symbolic links lead in a circle'],
  ['EIO', 'EIO: as the system says'],
])('a file that is not read: %s', (code, text) => {
  expect(describeFileError(systemError(code))).toBe(text);
});

test.each([
  ['ENOENT', 'folder', 'there is no such folder'],
  ['ENOTDIR', 'folder', 'it is no folder'],
  ['ENOENT', 'file or folder', 'there is no such file or folder'],
  ['ENOTDIR', 'file or folder', 'a part of the path is no folder'],
] as const)('%s, where a %s is wanted', (code, wanted, text) => {
  expect(describeFileError(systemError(code), wanted)).toBe(text);
});

test.each([
  ['ENOENT', 'there is no such folder; make it first'],
  ['EACCES', 'permission denied; name a file in a folder of yours'],
  ['EISDIR', 'it is a folder; name a file in it'],
  ['EEXIST', 'it is a file; name a folder'],
  ['ENOTDIR', 'a part of the path is no folder'],
  ['ELOOP', 'its symbolic links lead in a circle'],
  ['EROFS', 'nothing can be written there: the file system is read-only'],
  ['ENOSPC', 'the disk is full'],
  ['EIO', 'EIO: as the system says'],
])('a file that is not written: %s', (code, text) => {
  expect(describeWriteError(systemError(code))).toBe(text);
});

describe('error classes', () => {
  test('codes are stable and the names tell the class', () => {
    expect(new StowageError('X', 'm')).toMatchObject({ code: 'X', message: 'm', name: 'StowageError' });
    expect(new ConfigError(['a', 'b'])).toMatchObject({
      code: 'INVALID_CONFIGURATION',
      message: 'a\nb',
      problems: ['a', 'b'],
    });
  });

  test('an invalid value tells what, which and what is accepted', () => {
    const error = new InvalidValueError('duration', '5', 'such as 10s');
    expect(error.message).toBe('duration: "5" is not valid; accepted: such as 10s');
    expect(error).toMatchObject({ code: 'INVALID_VALUE', value: '5', accepted: 'such as 10s' });
    expect(error).toBeInstanceOf(StowageError);
  });

  test('hasErrorCode looks at the code only', () => {
    expect(hasErrorCode(Object.assign(new Error('x'), { code: 'ENOENT' }), 'ENOENT')).toBe(true);
    expect(hasErrorCode(new Error('ENOENT'), 'ENOENT')).toBe(false);
    expect(hasErrorCode('ENOENT', 'ENOENT')).toBe(false);
    expect(hasErrorCode(undefined, 'ENOENT')).toBe(false);
  });
});

test('for anything thrown there is a text, and nothing is thrown', () => {
  const anything = fc.anything({ withBigInt: true, withNullPrototype: true, withMap: true, withTypedArray: true });
  fc.assert(
    fc.property(anything, anything, fc.string(), (thrown, cause, message) => {
      expect(describeError(thrown)).not.toBe('');
      expect(describeError(new Error(message, { cause }))).not.toBe('');
    }),
  );
});

test('a value that was refused is quoted as far as anybody reads it', () => {
  const error = new InvalidValueError('weight', 'x'.repeat(250_000), 'a number');
  expect(error.message).toBe(`weight: "${'x'.repeat(300)}... (250000 characters)" is not valid; accepted: a number`);
});
