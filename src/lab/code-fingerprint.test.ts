import { expect, test } from 'vitest';
import { labArms } from './arms.ts';
import { codeFingerprint } from './code-fingerprint.ts';
import { labLoads } from './loads.ts';

const node = { cpus: 2, allocatable: 1800, warmUpMillis: 15_000 };
const [load] = labLoads;
const [arm] = labArms;
if (load === undefined || arm === undefined) throw new Error('there are loads and arms');

test('the same code has the same fingerprint', async () => {
  const [one, again] = await Promise.all([
    codeFingerprint({ load, arm, ...node }),
    codeFingerprint({ load, arm, ...node }),
  ]);
  expect(one).toMatch(/^[0-9a-f]{12}$/);
  expect(again).toBe(one);
});

test('another node, a changed load or an arm that does otherwise has another', async () => {
  const [first, ...others] = load.pods;
  if (first === undefined) throw new Error('there are pods');
  const pods = [{ ...first, request: first.request + 1 }, ...others];
  const found = await Promise.all([
    codeFingerprint({ load, arm, ...node }),
    codeFingerprint({ load, arm, ...node, allocatable: 1700 }),
    codeFingerprint({
      load: { ...load, pods },
      arm: {
        ...arm,
        create: (facts) => ({ ...arm.create(facts), initial: ({ request }) => ({ request, limit: undefined }) }),
      },
      ...node,
    }),
    codeFingerprint({
      load,
      arm: {
        ...arm,
        create: (facts) => ({ ...arm.create(facts), initial: ({ request }) => ({ request, limit: undefined }) }),
      },
      ...node,
    }),
  ]);
  expect(new Set(found).size).toBe(4);
});
