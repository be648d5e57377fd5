import { PassThrough } from 'node:stream';
import type { WriteStream } from 'node:tty';
import { describe, expect, test } from 'vitest';
import { terminalsOf } from './standard-streams.ts';

function startWith(...args: readonly string[]) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()] as unknown as [WriteStream, WriteStream];
  const exits: number[] = [];
  const terminals = terminalsOf({ stdout, stderr, exit: (code) => exits.push(code) }, args);
  return { stdout, stderr, exits, terminals };
}
const failure = (code: string): Error => Object.assign(new Error(code), { code });

describe('a reader that has left', () => {
  test.each([
    ['of the result: there is nobody left to tell', 'EPIPE', 0, undefined],
    [
      'of a file on a full disk: the result is not there',
      'ENOSPC',
      1,
      'stowage: the result cannot be written: the disk is full\n',
    ],
  ])('%s', (_, code, exitCode, told) => {
    const { stdout, stderr, exits } = startWith('plan', '-n', 'shop');
    stdout.emit('error', failure(code));
    expect(exits).toEqual([exitCode]);
    expect(stderr.read()?.toString()).toBe(told);
  });

  test('of the notes ends nothing', () => {
    const { stderr, exits } = startWith('plan');
    stderr.emit('error', failure('EPIPE'));
    expect(exits).toEqual([]);
  });

  test('of what restore tells does not end it half-way, as `restore | head` would look like all of it', () => {
    const { stdout, exits, terminals } = startWith('restore', '-n', 'shop');
    stdout.emit('error', failure('EPIPE'));
    terminals.out.write('shop/web-1  allocation  restored\n');
    expect(exits).toEqual([]);
  });

  test('what restore tells into a full disk does not end it either, and is told once', () => {
    const { stdout, stderr, exits } = startWith('restore');
    for (let line = 0; line < 2; line++) stdout.emit('error', failure('ENOSPC'));
    expect(exits).toEqual([]);
    expect(stderr.read()?.toString()).toBe('stowage: the result cannot be written: the disk is full\n');
  });
});

test('what is no terminal has no size', () => {
  const { terminals } = startWith('plan');
  expect([terminals.out.isTerminal, terminals.out.size()]).toEqual([false, undefined]);
});
