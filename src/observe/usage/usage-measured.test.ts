import { expect, test } from 'vitest';
import { HOUR } from '../../model/testing/usage.ts';
import { POD, start, steady, web } from './testing/collected.ts';
import { aPodOf, aTarget, START } from './testing/collecting.ts';

const OTHER = 'web-7d4f9c5b8-abcde';
const MINUTE = 60_000;

test.each(['range', 'instant'] as const)('of a %s source it is known when each pod was last measured', async (kind) => {
  const collecting = start({ kind, targets: [aTarget(web)], pods: [aPodOf(POD), aPodOf(OTHER)] });
  const measured = () => collecting.collector.stateOf(web).measured;
  expect(measured()).toBeUndefined();
  collecting.answer = steady;
  await collecting.clock.advance(HOUR);
  const { pods = [], times = [] } = measured() ?? {};
  expect(pods).toEqual([POD, OTHER]);
  for (const at of times) expect(at).toBeGreaterThan(START + HOUR - 10 * MINUTE);

  // Of one that is gone nothing is kept, and nothing is said of one that the answer leaves out.
  collecting.pods = [aPodOf(POD), aPodOf('web-7d4f9c5b8-fresh')];
  collecting.answer = (request) => steady({ ...request, pods: [POD] });
  await collecting.clock.advance(10 * MINUTE);
  expect(measured()?.pods).toEqual([POD]);

  collecting.answer = () => ({ ok: false, problem: { reason: 'Unreachable', message: 'nobody there' } });
  await collecting.clock.advance(10 * MINUTE);
  expect(measured()).toBeUndefined();
});
