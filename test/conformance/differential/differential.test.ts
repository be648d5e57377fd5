import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unequalPlaces } from './compare.ts';
import { define } from './define.ts';
import { drawSequence } from './draw-sequence.ts';
import { type EmbeddedApi, startEmbeddedApi } from './embedded-api.ts';
import { drawnKinds } from './kinds.ts';
import { createPlayer } from './play.ts';
import { fingerprint, PREFIX, RECORD, type RecordedAnswers } from './recorded-answers.ts';
import { seenAnswer } from './seen-answer.ts';

describe('sequences', () => {
  test('are the same for the same seed', () => {
    for (const seed of [1, 2, 3])
      expect(drawSequence({ seed, prefix: 'x' })).toEqual(drawSequence({ seed, prefix: 'x' }));
    expect(drawSequence({ seed: 1, prefix: 'x' })).not.toEqual(drawSequence({ seed: 2, prefix: 'x' }));
  });

  test('are about every kind, with every verb', () => {
    const steps = Array.from({ length: 600 }, (_, seed) => drawSequence({ seed, prefix: 'x' })).flatMap(
      ({ steps }) => steps,
    );
    const deeds = new Set(steps.map(({ what }) => what));
    for (const { plural } of drawnKinds) expect(deeds).toContain(`${plural} create`);
    expect(new Set(steps.map(({ method }) => method))).toEqual(new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']));
    for (const deed of [
      'pods resize strategic patch',
      'pods eviction',
      'pods binding',
      'deployments scale replace',
      'pods watch',
    ])
      expect(deeds).toContain(deed);
  });
});

describe('what is compared', () => {
  const answer = (body: Record<string, unknown>) => ({ status: 200, body, text: '', headers: {} });

  test('is not what differs from server to server by right', () => {
    const pod = (uid: string, resourceVersion: string, creationTimestamp: string) =>
      seenAnswer(answer({ metadata: { name: 'a', uid, resourceVersion, creationTimestamp } }), new Map());
    expect(pod('2b7e1516-28ae-42d2-a6ab-f7158809cf4f', '7', '2026-11-28T01:02:03Z')).toEqual(
      pod('8e73b0f7-da0e-4452-8810-f32b809079e5', '9123', '2026-11-29T00:00:00Z'),
    );
  });

  test('is whether a version has changed', () => {
    const versions = new Map<string, string>();
    const seen = (resourceVersion: string) =>
      seenAnswer(answer({ metadata: { uid: '2b7e1516-28ae-42d2-a6ab-f7158809cf4f', resourceVersion } }), versions).body;
    expect([seen('1'), seen('1'), seen('2')]).toMatchObject(
      ['FIRST', 'SAME', 'ANOTHER'].map((resourceVersion) => ({ metadata: { resourceVersion } })),
    );
  });

  test('is told place by place', () => {
    expect(unequalPlaces({ a: [{ b: 1 }], c: 2 }, { a: [{ b: 2 }], d: 3 })).toEqual([
      { where: '.a[].b', real: 1, embedded: 2 },
      { where: '.c', real: 2, embedded: undefined },
      { where: '.d', real: undefined, embedded: 3 },
    ]);
    expect(unequalPlaces([1], [1, 2])).toEqual([{ where: '', real: [1], embedded: [1, 2] }]);
  });
});

describe('the embedded API server', () => {
  let server: EmbeddedApi;
  beforeAll(async () => {
    server = await startEmbeddedApi();
    await define(server.endpoint);
  });
  afterAll(() => server.stop());

  test('answers as Kubernetes did', async () => {
    const { kubernetes, sequences }: RecordedAnswers = JSON.parse(readFileSync(RECORD, 'utf8'));
    const seeds = Object.keys(sequences).map(Number);
    const wrong = await Promise.all(
      seeds.map(async (seed) => {
        const player = createPlayer(server.endpoint);
        const { steps } = drawSequence({ seed, prefix: PREFIX });
        for (const [index, expected] of (sequences[seed] ?? []).entries()) {
          const step = steps[index];
          if (step === undefined) return [`seed ${seed} has no step ${index}`];
          const answered = fingerprint(await player.play(step));
          if (expected !== null && answered !== expected)
            return [
              `seed ${seed}, step ${index} (${step.what} ${step.how}): ${answered}, Kubernetes ${kubernetes} ${expected}`,
            ];
        }
        return [];
      }),
    );
    // What was answered instead: npm run differential -- --sequences 1 --seed SEED
    expect(wrong.flat()).toEqual([]);
  });
});
