import { describe, expect, test } from 'vitest';
import { createHostCheck } from './host-check.ts';

const isOwn = createHostCheck(['Stowage.Example.com']);

describe('under which names a server may be asked', () => {
  test.each([
    'localhost',
    'LOCALHOST:8083',
    'stowage.localhost:1',
    '127.0.0.1:8083',
    '[fd00::12]:80',
    'stowage.example.com.:443',
    'stowage.stowage-system.svc:8080',
    'stowage.stowage-system.svc.cluster.local.',
  ])('%s', (host) => {
    expect(isOwn(host)).toBe(true);
  });

  test.each([
    undefined,
    '',
    'evil.example.com',
    'localhost.evil.com',
    '127.0.0.1.evil.com',
    'stowage.svc.evil.com',
    'stowage.evil-svc',
    'cluster.local',
    'stowage.example.com.evil.com',
    '[evil]:80',
    'a@localhost',
  ])('not %j, wherever it points', (host) => {
    expect(isOwn(host)).toBe(false);
  });
});
