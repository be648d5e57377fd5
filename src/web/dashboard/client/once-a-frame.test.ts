import { expect, test } from 'vitest';
import { onceAFrame } from './once-a-frame.ts';

test('a burst is drawn once, as it ended, and what comes later with the next frame', () => {
  const frames: (() => void)[] = [];
  const drawn: number[] = [];
  let state = 0;
  const draw = onceAFrame(
    () => drawn.push(state),
    (callback) => frames.push(callback),
  );
  for (state = 1; state < 500; state++) draw();
  expect([frames.length, drawn]).toEqual([1, []]);
  frames.shift()?.();
  state = 1000;
  draw();
  frames.shift()?.();
  expect([frames.length, drawn]).toEqual([0, [500, 1000]]);
});
