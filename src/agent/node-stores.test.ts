import { describe, expect, test } from 'vitest';
import { createSilentLogger } from '../lib/log.ts';
import { createPodProjection } from './node-stores.ts';

const UID = 'a1b2c3d4-0000-4000-8000-00000000ABCD';
const HASH = '0123456789abcdef0123456789ABCDEF';

function groupUidOf(annotations: Readonly<Record<string, string>>): string | undefined {
  const project = createPodProjection(createSilentLogger());
  return project({
    metadata: { namespace: 'shop', name: 'web-1', uid: UID, annotations },
    spec: { containers: [{ name: 'app' }] },
    status: { phase: 'Running' },
  })?.tracked.groupUid;
}

describe('the control group of a pod', () => {
  test('is named after its uid', () => {
    expect(groupUidOf({})).toBe(UID.toLowerCase());
  });

  test('of a static pod after the hash of its file', () => {
    const mirror = { 'kubernetes.io/config.mirror': HASH, 'kubernetes.io/config.hash': HASH };
    expect(groupUidOf(mirror)).toBe(HASH.toLowerCase());
  });

  test.each([
    ['the hash of a static pod, written on an ordinary one', { 'kubernetes.io/config.hash': HASH }],
    ['the uid of another pod', { 'kubernetes.io/config.hash': 'ffffffff-0000-4000-8000-000000000001' }],
    [
      'the uid of another pod, on one that poses as static',
      {
        'kubernetes.io/config.hash': 'ffffffff-0000-4000-8000-000000000001',
        'kubernetes.io/config.mirror': 'x',
      },
    ],
    ['a path', { 'kubernetes.io/config.hash': '../../other', 'kubernetes.io/config.mirror': 'x' }],
  ])('is not %s', (_, annotations) => {
    expect(groupUidOf(annotations)).toBe(UID.toLowerCase());
  });
});
