import { expect, test } from 'vitest';
import { rightsizingKeys } from '../api/annotations-rightsizing.ts';
import { createDeferred } from '../lib/deferred.ts';
import { createSilentLogger } from '../lib/log.ts';
import { aSizedWorkload } from '../model/testing/sizing-records.ts';
import { createHandBack } from './rightsizing-hand-back.ts';
import { createRightsizingMemory } from './rightsizing-memory.ts';

test('a workload that two come to in one moment is given back once, and again when it is needed again', async () => {
  let written = 0;
  const answer = createDeferred<void>();
  const handBack = createHandBack({
    async annotate() {
      written++;
      await answer.promise;
      return { result: 'written' };
    },
    template: async () => ({ result: 'unchanged' }),
    isReadOnly: () => false,
    memory: createRightsizingMemory(),
    log: createSilentLogger(),
  });
  const workload = aSizedWorkload({ annotations: { [rightsizingKeys.managed]: 'true' } });
  const { signal } = new AbortController();
  const both = [handBack(workload, signal), handBack(workload, signal)];
  await Promise.resolve();
  answer.resolve();
  await Promise.all(both);
  expect(written).toBe(1);
  await handBack(workload, signal);
  expect(written).toBe(2);
});
