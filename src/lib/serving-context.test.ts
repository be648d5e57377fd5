import { expect, test } from 'vitest';
import { servingContext } from './serving-context.ts';

test('a served pair comes with a list of authorities, an empty one, and nothing else of what it was given', () => {
  const pair = { cert: 'CERT', key: 'KEY', more: true };
  expect(servingContext(pair)).toEqual({ cert: 'CERT', key: 'KEY', ca: [], minVersion: 'TLSv1.2' });
});
