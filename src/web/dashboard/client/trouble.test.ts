import { describe, expect, test } from 'vitest';
import { ApiError, SilenceError } from './api.ts';
import { timeOf } from './format.ts';
import { isSilence, troubleText } from './trouble.ts';

const GONE = 'The operator does not answer; trying again. Has the port-forward ended?';
const drawnAt = Date.UTC(2026, 5, 1, 12, 0, 0);

describe('an answer that did not come', () => {
  test.each<[string, unknown, boolean, string]>([
    ['a connection that fails', new SilenceError('the operator cannot be heard'), false, GONE],
    ['a connection that died without a word', new DOMException('aborted', 'AbortError'), true, GONE],
    ['a refusal', new ApiError(404, 'there is no Deployment/shop/web'), false, 'there is no Deployment/shop/web.'],
    [
      'an answer of another version',
      new TypeError("Cannot read properties of undefined (reading 'map')"),
      false,
      "What the operator answers cannot be shown (TypeError: Cannot read properties of undefined (reading 'map')). Load the page anew: it may be of another version.",
    ],
  ])('%s is told in words, and what is left on the page is told to be of before', (_name, error, isLate, text) => {
    expect(troubleText({ error, isLate, drawnAt: undefined })).toBe(text);
    expect(troubleText({ error, isLate, drawnAt })).toBe(`${text} What is shown is of ${timeOf(drawnAt)}.`);
  });

  test('who refuses, or is not understood, is heard', () => {
    const silent = [new ApiError(503, 'busy'), new TypeError('x is undefined'), new SilenceError('gone')].map((error) =>
      isSilence({ error, isLate: false }),
    );
    expect(silent).toEqual([false, false, true]);
    expect(isSilence({ error: new DOMException('aborted', 'AbortError'), isLate: true })).toBe(true);
  });
});
