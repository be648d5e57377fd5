/** Chromium's debugging protocol over a WebSocket: calls with answers, and events by session. */
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

export async function connectDevTools(url: string): Promise<DevTools> {
  const socket = new WebSocket(url);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve(), { once: true });
    socket.addEventListener('error', () => reject(new Error(`no connection to ${url}`)), { once: true });
  });
  const waiting = new Map<number, Waiting>();
  const listeners = new Map<string, OnEvent>();
  let lastId = 0;
  socket.addEventListener('message', ({ data }) => {
    const message: unknown = JSON.parse(String(data));
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
  });
  socket.addEventListener('close', () => {
    for (const { method, reject } of waiting.values()) reject(new Error(`${method}: Chromium has ended`));
    waiting.clear();
  });
  return {
    call: (method, params = {}, session) =>
      new Promise((resolve, reject) => {
        const id = ++lastId;
        waiting.set(id, { method, resolve, reject });
        socket.send(JSON.stringify({ id, method, params, ...(session !== undefined && { sessionId: session }) }));
      }),
    onEvent: (session, listener) => void listeners.set(session, listener),
    close: () => socket.close(),
  };
}
