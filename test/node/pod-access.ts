/** Looking at a pod from outside: whether it is ready, and what it answers. */
import { request } from 'node:http';
import type { Pod } from '../../src/api/core.ts';

export function isReady(pod: Pod): boolean {
  return (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');
}

/** Plain HTTP to a pod's address, which is in reach inside the network namespace. @throws Error on any other answer than 200. */
export function getText(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { timeout: 5000, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () =>
        response.statusCode === 200
          ? resolve(text)
          : reject(new Error(`${url} answered ${response.statusCode}: ${text}`)),
      );
      response.on('error', reject);
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error(`${url} did not answer in 5 s`)));
    outgoing.on('error', reject);
    outgoing.end();
  });
}
