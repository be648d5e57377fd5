/** Chromium's debugging protocol over two pipes, each message ended by a zero byte: calls with answers, and events by session. */
import type { Readable, Writable } from 'node:stream';
import { isRecord } from '../../src/lib/is-record.ts';

export type Fields = Readonly<Record<string, unknown>>;
export type OnEvent = (method: string, params: Fields) => void;

export interface DevTools {
  /** @throws Error with what Chromium says. */
  call(method: string, params?: Fields, session?: string): Promise<Fields>;
  onEvent(session: string, listener: OnEvent): void;
  close(): void;
}

interface Waiting {
  readonly method: string;
  resolve(result: Fields): void;
  reject(error: Error): void;
}

export function connectDevTools(requests: Writable, answers: Readable): DevTools {
  const waiting = new Map<number, Waiting>();
  const listeners = new Map<string, OnEvent>();
  let lastId = 0;
  const onMessage = (text: string): void => {
    const message: unknown = JSON.parse(text);
    if (!isRecord(message)) return;
    const { id, result, error, method, params, sessionId } = message;
    if (typeof id === 'number') {
      const caller = waiting.get(id);
      waiting.delete(id);
      if (isRecord(error)) caller?.reject(new Error(`${caller.method}: ${String(error['message'])}`));
      else caller?.resolve(isRecord(result) ? result : {});
    } else if (typeof method === 'string' && typeof sessionId === 'string') {
      listeners.get(sessionId)?.(method, isRecord(params) ? params : {});
    }
  };
  let rest = '';
  answers.setEncoding('utf8').on('data', (chunk: string) => {
    const messages = (rest + chunk).split('\0');
    rest = messages.pop() ?? '';
    for (const message of messages) onMessage(message);
  });
  answers.once('close', () => {
    for (const { method, reject } of waiting.values()) reject(new Error(`${method}: Chromium has ended`));
    waiting.clear();
  });
  // Writing to one that has ended; the calls under way are told above.
  requests.on('error', () => undefined);
  return {
    call: (method, params = {}, session) =>
      new Promise((resolve, reject) => {
        const id = ++lastId;
        waiting.set(id, { method, resolve, reject });
        const message = { id, method, params, ...(session !== undefined && { sessionId: session }) };
        requests.write(`${JSON.stringify(message)}\0`);
      }),
    onEvent: (session, listener) => void listeners.set(session, listener),
    close: () => void requests.end(),
  };
}
