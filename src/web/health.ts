/** Liveness and readiness, told from what the process itself knows: neither ever calls the API server. */
import type { Endpoint } from './endpoint-server.ts';
import { textAnswer } from './endpoint-server.ts';

/** One condition of readiness: undefined when it is met, else what is missing, a few words. */
export type ReadinessCheck = () => string | undefined;

/** The process answers, so it lives. An API outage must never restart it. */
export const healthz: Endpoint = () => textAnswer(200, 'ok');

/** @param checks all must be met; by name. Status 500 otherwise, as Spotalis's probe answers. */
export function createReadyz(checks: Readonly<Record<string, ReadinessCheck>>): Endpoint {
  return () => {
    const missing = Object.entries(checks).flatMap(([name, check]) => {
      const problem = check();
      return problem === undefined ? [] : [`${name}: ${problem}`];
    });
    return missing.length === 0 ? textAnswer(200, 'ok') : textAnswer(500, `not ready\n${missing.join('\n')}\n`);
  };
}
