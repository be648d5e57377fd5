import { expect, test } from 'vitest';
import { configOf } from '../config/testing/load-text.ts';
import { oncePerConfig } from './once-per-config.ts';

test('is made once of each configuration, and anew of another', () => {
  let config = configOf();
  let made = 0;
  const settings = oncePerConfig(
    () => config,
    ({ operator }) => ({ readOnly: operator.readOnlyMode, number: ++made }),
  );
  expect(settings()).toBe(settings());
  config = configOf('operator:\n  readOnlyMode: true');
  expect([settings(), settings()]).toEqual(Array(2).fill({ readOnly: true, number: 2 }));
});
