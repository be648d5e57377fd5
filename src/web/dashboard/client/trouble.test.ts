import { describe, expect, test } from 'vitest';
import { ApiError } from './api.ts';
import { timeOf } from './format.ts';
import { isRefusal, troubleText } from './trouble.ts';

const GONE = 'The operator does not answer; trying again. Has the port-forward ended?';
const drawnAt = Date.UTC(2026, 5, 1, 12, 0, 0);

describe('an answer that did not come', () => {
  test.each<[string, unknown, boolean, string]>([
    ['a connection that fails', new TypeError('Failed to fetch'), false, GONE],
    ['a connection that died without a word', new DOMException('aborted', 'AbortError'), true, GONE],
    ['a refusal', new ApiError(404, 'there is no Deployment/shop/web'), false, 'there is no Deployment/shop/web.'],
    ['a fault of the page', new RangeError('Invalid time value'), false, 'RangeError: Invalid time value.'],
  ])('%s is told in words, and what is left on the page is told to be of before', (_name, error, isLate, text) => {
    expect(troubleText({ error, isLate, drawnAt: undefined })).toBe(text);
    expect(troubleText({ error, isLate, drawnAt })).toBe(`${text} What is shown is of ${timeOf(drawnAt)}.`);
  });

  test('only who can be reached refuses', () => {
    expect(isRefusal(new ApiError(503, 'busy'))).toBe(true);
    expect(isRefusal(new TypeError('Failed to fetch'))).toBe(false);
  });
});
