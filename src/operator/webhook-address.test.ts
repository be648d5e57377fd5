import { expect, test } from 'vitest';
import { addressAnnotations, addressOf } from './webhook-address.ts';

const leaderWith = (annotations: Record<string, string>) => ({ identity: 'a_1', annotations });

test.each([
  { host: '10.0.0.7', port: 9443 },
  { host: 'fd00::7', port: 65_535 },
])('$host comes back from the lease', (address) => {
  expect(addressOf(leaderWith({ ...addressAnnotations(address) }))).toEqual(address);
});

test.each(['', '10.0.0.7', '10.0.0.7:0', '10.0.0.7:70000', ':9443', 'fd00::7:9443:x'])('%j is no address', (text) => {
  expect(addressOf(leaderWith({ 'stowage.io/webhook-address': text }))).toBeUndefined();
});

test('no leader, no address', () => {
  expect(addressOf(undefined)).toBeUndefined();
  expect(addressOf(leaderWith({}))).toBeUndefined();
});
