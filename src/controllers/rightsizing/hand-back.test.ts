import { expect, test } from 'vitest';
import { recommendationKey, rightsizingKeys } from '../../api/annotations-rightsizing.ts';
import { createDeferred } from '../../lib/deferred.ts';
import { createSilentLogger } from '../../lib/log.ts';
import { aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { createHandBack, type HandBackOptions } from './hand-back.ts';
import { createRightsizingMemory } from './memory.ts';

const left: string[] = [];
const turns = { leave: (engine: string, key: string) => void left.push(`${engine} ${key}`) };

/** Without a template of ours, OptiPod or a dry run, but for what is said. */
const handBackWith = (options: Pick<HandBackOptions, 'annotate'> & Partial<HandBackOptions>) =>
  createHandBack({
    template: async () => ({ result: 'unchanged' }),
    isReadOnly: () => false,
    isOptipodRunning: () => false,
    memory: createRightsizingMemory(),
    turns,
    log: createSilentLogger(),
    ...options,
  });

test('a workload that two come to in one moment is given back once, and again when there is something of ours again', async () => {
  let written = 0;
  const answer = createDeferred<void>();
  const handBack = handBackWith({
    async annotate() {
      written++;
      await answer.promise;
      return { result: 'written' };
    },
  });
  const workload = aSizedWorkload({ annotations: { [rightsizingKeys.managed]: 'true' } });
  const { signal } = new AbortController();
  const both = [handBack.giveBack(workload, signal), handBack.giveBack(workload, signal)];
  await Promise.resolve();
  answer.resolve();
  await Promise.all(both);
  expect(written).toBe(1);
  await handBack.giveBack(workload, signal);
  expect(written).toBe(1);
  await handBack.giveBack({ ...workload }, signal);
  expect(written).toBe(2);
});

test('who gives it back does not forget what was done to it', async () => {
  const gone: string[] = [];
  const memory = createRightsizingMemory((uid, key) => gone.push(`${uid} ${key}`));
  const handBack = handBackWith({
    annotate: async () => ({ result: 'unchanged' }),
    memory,
  });
  const workload = aSizedWorkload({ annotations: {} });
  const known = memory.of(workload.uid);
  await handBack.giveBack(workload, new AbortController().signal);
  expect(memory.of(workload.uid)).not.toBe(known);
  expect(left).toContain('rightsizing Deployment/shop/web');
  expect(gone).toEqual([]);
  memory.forget(workload.uid, 'Deployment/shop/web');
  expect(gone).toEqual(['uid-web Deployment/shop/web']);
});

test('what was refused is tried again', async () => {
  let asked = 0;
  const handBack = handBackWith({
    annotate: async () => ({ result: ++asked === 1 ? 'gone' : 'written' }),
  });
  const workload = aSizedWorkload({ annotations: { [rightsizingKeys.managed]: 'true' } });
  for (let look = 0; look < 3; look++) await handBack.giveBack(workload, new AbortController().signal);
  expect(asked).toBe(2);
});

test('what OptiPod writes as well is left to it while it runs, and looked at again; all else is given back', async () => {
  const annotated: string[] = [];
  let isRunning = true;
  const handBack = handBackWith({
    async annotate({ name }) {
      annotated.push(name);
      return { result: 'written' };
    },
    isOptipodRunning: () => isRunning,
  });
  const { signal } = new AbortController();
  const theirs = { [rightsizingKeys.managed]: 'true', [recommendationKey('app', 'cpu-request')]: '250m' };
  const web = aSizedWorkload({ annotations: theirs });
  const sized = aSizedWorkload({ name: 'sized', annotations: { ...theirs, [rightsizingKeys.appliedSizes]: '{}' } });
  const plain = aSizedWorkload({ name: 'plain', annotations: {} });
  const again = await Promise.all([web, sized, plain].map((each) => handBack.giveBack(each, signal)));
  expect([again, annotated]).toEqual([[120_000, undefined, undefined], ['sized']]);
  isRunning = false;
  expect(await handBack.giveBack(web, signal)).toBeUndefined();
  expect(annotated).toEqual(['sized', 'web']);
});
