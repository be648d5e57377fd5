/** Connections of an HTTP/1.1 agent that lead through a proxy. */
import type { Agent } from 'node:http';
import type { Socket } from 'node:net';
import { type DialOptions, dialTls } from './dial.ts';

/** Has the agent make its connections this way. */
export function connectThrough(agent: Agent, way: Omit<DialOptions, 'protocols' | 'signal'>): void {
  // Not tied to the request that needs it: the connection is lent to the next as well.
  const { signal } = new AbortController();
  agent.createConnection = (_, callback) => {
    const done = callback as ((error: unknown, socket?: Socket) => void) | undefined;
    dialTls({ ...way, protocols: ['http/1.1'], signal }).then(
      (socket) => done?.(null, socket),
      (error: unknown) => done?.(error),
    );
    return undefined;
  };
}
