import { describe, expect, test } from 'vitest';
import { chooseStyle } from './style.ts';

describe('chooseStyle', () => {
  test.each([
    ['a terminal', { isTerminal: true, disabled: false, env: {} }, true],
    ['a pipe', { isTerminal: false, disabled: false, env: {} }, false],
    ['--no-color', { isTerminal: true, disabled: true, env: { FORCE_COLOR: '1' } }, false],
    ['NO_COLOR', { isTerminal: true, disabled: false, env: { NO_COLOR: '1', FORCE_COLOR: '1' } }, false],
    ['an empty NO_COLOR', { isTerminal: true, disabled: false, env: { NO_COLOR: '' } }, true],
    ['FORCE_COLOR in a pipe', { isTerminal: false, disabled: false, env: { FORCE_COLOR: '1' } }, true],
    ['FORCE_COLOR=0', { isTerminal: true, disabled: false, env: { FORCE_COLOR: '0' } }, false],
    ['a dumb terminal', { isTerminal: true, disabled: false, env: { TERM: 'dumb' } }, false],
  ])('%s: colours are on: %s', (_name, choice, expected) => {
    expect(chooseStyle(choice)('bad', 'x') !== 'x').toBe(expected);
  });

  test('an empty text stays empty', () => {
    expect(chooseStyle({ isTerminal: true, disabled: false, env: {} })('bad', '')).toBe('');
  });
});
