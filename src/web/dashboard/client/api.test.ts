import { afterEach, expect, test, vi } from 'vitest';
import { ApiError, ask, SilenceError } from './api.ts';

afterEach(() => vi.unstubAllGlobals());

const never = new AbortController().signal;
const answering = (answer: () => Promise<Response>) => {
  vi.stubGlobal('fetch', answer);
  return ask('operator', undefined, never);
};

test.each([
  ['a connection that fails', () => Promise.reject(new TypeError('Failed to fetch'))],
  [
    'an answer that breaks off',
    async () => new Response(new ReadableStream({ pull: (stream) => stream.error(new TypeError('network error')) })),
  ],
])('%s is silence, which no fault of a page can be taken for', async (_, answer) => {
  await expect(answering(answer)).rejects.toBeInstanceOf(SilenceError);
});

test('who has given up is told why', async () => {
  const reason = new DOMException('aborted', 'AbortError');
  await expect(answering(() => Promise.reject(reason))).rejects.toBe(reason);
});

test('what the operator refuses is told in its own words, and what is no JSON by its status', async () => {
  const busy = answering(async () => Response.json({ message: 'busy' }, { status: 503 }));
  await expect(busy).rejects.toEqual(new ApiError(503, 'busy'));
  const page = answering(async () => new Response('<html>', { status: 200 }));
  await expect(page).rejects.toThrow('the operator answers 200');
});
