/** Questions to a Prometheus of the tests. */

import type { UsageRequest } from '../usage-source.ts';
import { isCpu, matrix, type Respond } from './http-source.ts';

export const { signal } = new AbortController();
export const NOW = 1_700_000_040_000;
export const HOUR = 3_600_000;
export const at = NOW - 60_000;
export const metric = { pod: 'web-7d4f9c5b8-x2k7p', container: 'app' };

export function request(changes: Partial<UsageRequest> = {}): UsageRequest {
  return {
    workload: { kind: 'Deployment', namespace: 'shop', name: 'web' },
    pods: ['web-7d4f9c5b8-x2k7p'],
    containers: ['app'],
    from: { cpu: NOW - HOUR, memory: NOW - HOUR },
    to: NOW,
    ...changes,
  };
}

export const both: Respond = (received, response) => {
  response.end(matrix([{ metric, values: [[at / 1000, isCpu(received) ? '0.2509' : '104857600.7']] }]));
};
