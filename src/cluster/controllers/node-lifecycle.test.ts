import { describe, expect, test } from 'vitest';
import type { Pod } from '../../api/core.ts';
import type { Taint, Toleration } from '../scheduler/node-matching.ts';
import { evictionTime } from './node-lifecycle.ts';

const NOW = Date.UTC(2026, 5, 1, 0, 10);
const ADDED = '2026-06-01T00:00:00Z';
const ADDED_MILLIS = Date.UTC(2026, 5, 1);

const pod = (...tolerations: Toleration[]): Pod => ({ spec: { containers: [], tolerations } });
const taint = (key: string): Taint => ({ key, effect: 'NoExecute', timeAdded: ADDED });
const unreachable = taint('node.kubernetes.io/unreachable');

describe('evictionTime', () => {
  test.each<[string, Pod, Taint[], number | undefined]>([
    ['no taint', pod(), [], undefined],
    ['an untolerated taint: at once', pod(), [taint('k')], NOW],
    ['tolerated for good', pod({ key: 'k', operator: 'Exists' }), [taint('k')], undefined],
    [
      'tolerated for a time',
      pod({ key: 'k', operator: 'Exists', tolerationSeconds: 900 }),
      [taint('k')],
      ADDED_MILLIS + 900_000,
    ],
    [
      'tolerated for a negative time: since the taint',
      pod({ key: 'k', operator: 'Exists', tolerationSeconds: -5 }),
      [taint('k')],
      ADDED_MILLIS,
    ],
    [
      'the shortest of several tolerations',
      pod({ key: 'k', operator: 'Exists', tolerationSeconds: 900 }, { operator: 'Exists', tolerationSeconds: 60 }),
      [taint('k')],
      ADDED_MILLIS + 60_000,
    ],
    [
      'the earliest of several taints',
      pod(
        { key: 'a', operator: 'Exists', tolerationSeconds: 900 },
        { key: 'b', operator: 'Exists', tolerationSeconds: 30 },
      ),
      [taint('a'), taint('b')],
      ADDED_MILLIS + 30_000,
    ],
    [
      'one of several taints untolerated: at once',
      pod({ key: 'a', operator: 'Exists' }),
      [taint('a'), taint('b')],
      NOW,
    ],
    ['an unreachable node: five minutes by default', pod(), [unreachable], ADDED_MILLIS + 300_000],
    ['an unreachable node tolerated for good, as daemons do', pod({ operator: 'Exists' }), [unreachable], undefined],
  ])('%s', (_, subject, taints, expected) => {
    expect(evictionTime(subject, taints, NOW)).toBe(expected);
  });
});
