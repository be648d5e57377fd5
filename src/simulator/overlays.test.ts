import { expect, test } from 'vitest';
import { createOverlays } from './overlays.ts';

function setUp() {
  const told: (string | undefined)[] = [];
  return { told, overlays: createOverlays<string>((inForce) => told.push(inForce)) };
}

test('of overlapping ones the latest is in force, and each ends for itself', () => {
  const { told, overlays } = setUp();
  const endFirst = overlays.begin('first');
  const endSecond = overlays.begin('second');
  endFirst();
  endSecond();
  expect(told).toEqual(['first', 'second', 'second', undefined]);
});

test('what is within another gives it back', () => {
  const { told, overlays } = setUp();
  overlays.begin('outer');
  overlays.begin('inner')();
  expect(told).toEqual(['outer', 'inner', 'outer']);
});

test('all can be ended; whoever ends one of them later changes nothing', () => {
  const { told, overlays } = setUp();
  const end = overlays.begin('first');
  overlays.begin('second');
  overlays.endAll();
  overlays.begin('third');
  end();
  expect(told).toEqual(['first', 'second', undefined, 'third', 'third']);
});
