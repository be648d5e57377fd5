import { describe, expect, test } from 'vitest';
import { createSilentLogger } from '../lib/log.ts';
import { listenForMistakes } from './listen-for-mistakes.ts';

function heardOf(error: unknown): (string | undefined)[] {
  const heard: (string | undefined)[] = [];
  const log = listenForMistakes(createSilentLogger(), (mistake) => heard.push(mistake));
  log.child('part').warn({ error }, 'It will be tried again.');
  log.error({ error }, 'It will be tried again.');
  return heard;
}

describe('listenForMistakes', () => {
  test.each([
    ['a mistake', new TypeError('x is undefined')],
    ['one behind another error', new Error('failed', { cause: new RangeError('x is undefined') })],
    ['one of several', new AggregateError([new Error('refused'), new SyntaxError('x is undefined')])],
  ])('%s is told at warnings and errors, of children too, with the place', (_name, error) => {
    const told = expect.stringMatching(/^It will be tried again\. .*x is undefined.* at .*mistakes\.test/);
    expect(heardOf(error)).toEqual([told, told]);
  });

  test.each([[new Error('connection refused')], ['text'], [undefined]])('%s is none', (error) => {
    expect(heardOf(error)).toEqual([undefined, undefined]);
  });

  test('what carries nothing thrown, or is no warning, is not counted', () => {
    const heard: unknown[] = [];
    const log = listenForMistakes(createSilentLogger(), (mistake) => heard.push(mistake));
    log.warn({ pod: 'a' }, 'Late.');
    log.info({ error: new TypeError('x') }, 'Fine.');
    log.debug({ error: new TypeError('x') }, 'Fine.');
    expect(heard).toEqual([]);
  });
});
