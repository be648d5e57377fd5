/** A stand-in for a running operator's `/explain`: answers what a test gives it, over a real socket. */
import { createServer } from 'node:http';
import { onTestFinished } from 'vitest';

export interface AskedOperator {
  readonly url: string;
  /** Paths with queries, in order. */
  readonly asked: readonly string[];
}

/** @param body sent as JSON, or as it is where it is text. */
export async function answeringOperator(body: unknown, status = 200): Promise<AskedOperator> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => void server.close(() => resolve())));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, asked };
}
