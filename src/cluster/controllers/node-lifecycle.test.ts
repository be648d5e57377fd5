import { describe, expect, test } from 'vitest';
import type { Pod } from '../../api/core.ts';
import { resources } from '../../api/resources.ts';
import { createSilentLogger } from '../../lib/log.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { createApiServer } from '../apiserver/api-server.ts';
import { createCaches } from '../caches.ts';
import { nodeObject } from '../kubelet/node-object.ts';
import { nameOf } from '../objects.ts';
import type { Taint, Toleration } from '../scheduler/node-matching.ts';
import { createNodeLifecycle, evictionTime } from './node-lifecycle.ts';

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

describe('a node that falls silent', () => {
  test.each([
    ['by a millisecond, as where its timer comes early', -1],
    ['by an hour', -3_600_000],
  ])('is tainted in time though the clock was set back meanwhile, %s', async (_, setMillis) => {
    const virtual = createVirtualClock(NOW);
    let aheadMillis = 0;
    const clock = { now: () => virtual.now() + aheadMillis, setTimer: virtual.setTimer };
    const random = createSeededRandom(1);
    const log = createSilentLogger();
    const server = createApiServer({ clock: virtual, random });
    const api = server.client();
    const caches = createCaches({ api, clock: virtual, random, log });
    let fallSilent = (_node: string): void => {};
    const liveness = {
      isAlive: () => false,
      onLiveness: (listener: (node: string, isAlive: boolean) => void) => {
        fallSilent = (node) => listener(node, false);
      },
    };
    const controller = createNodeLifecycle({ api, caches, clock, random, log }, { liveness });
    const stop = new AbortController();
    const work = [caches.run(stop.signal), controller.run(stop.signal)];
    await caches.synced();
    const node = nodeObject({ name: 'node-1', cpuMillis: 1000, memoryBytes: 1024 ** 3 }, NOW);
    await api.create(resources.nodes, node);
    const body = { status: node.status };
    await api.patch(resources.nodes, nameOf(node), { type: 'merge', body }, { subresource: 'status' });
    const keys = async (): Promise<(string | undefined)[]> =>
      ((await api.get(resources.nodes, nameOf(node))).spec?.taints ?? []).map(({ key }) => key);
    await virtual.advance(1000);
    fallSilent(nameOf(node));
    await virtual.advance(45_000);
    expect(await keys()).toEqual([]);
    aheadMillis = setMillis;
    await virtual.advance(6000);
    expect(await keys()).toEqual([unreachable.key, unreachable.key]);
    stop.abort();
    await Promise.all(work);
    await server.close();
  });
});
