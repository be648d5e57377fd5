import { expect, test } from 'vitest';
import type { Pod } from '../api/core.ts';
import { resources } from '../api/resources.ts';
import { startVirtualCluster, testDeployment, testNodes } from '../cluster/testing/virtual-cluster.ts';
import { createInForceJudge, wantedIn } from './in-force-judge.ts';
import { createLedger } from './ledger.ts';
import { aFleet } from './testing/facts.ts';

test('the annotation is read as it is written', () => {
  const text = '{"app":{"cpuRequest":[250,120],"memoryLimit":[null,1024],"else":[1,2]},"proxy":{"cpuLimit":7}}';
  expect(wantedIn(text)).toEqual([
    { container: 'app', key: 'cpu request', from: 250, to: 120 },
    { container: 'app', key: 'memory limit', from: undefined, to: 1024 },
  ]);
  expect([wantedIn(undefined), wantedIn('no'), wantedIn('[]')]).toEqual([[], [], []]);
});

const inForce = { 'optipod.io/applied-sizes': '{"app":{"cpuRequest":[100,150]}}' };
const auto = { mode: 'Auto', updateStrategy: { allowInPlaceResize: true } };

interface Scene {
  readonly annotations?: Record<string, string>;
  readonly cpu?: string;
  readonly spec?: object;
  readonly isAllocated?: boolean;
  readonly explanation?: string;
}

/** Checks made and broken of a Deployment of two pods, one of which asks for `cpu`; its template for 100m. */
async function judged({ annotations = inForce, cpu = '100m', spec = auto, isAllocated = false, explanation }: Scene) {
  await using at = await startVirtualCluster({ nodes: testNodes(1) });
  const web = testDeployment('web', { replicas: 2 });
  await at.cluster.apply([{ ...web, metadata: { ...web.metadata, annotations } }]);
  await at.seconds(10);
  const [first, second] = at.pods();
  const resize = (pod: Pod | undefined, request: string): Promise<Pod> => {
    const body = { spec: { containers: [{ name: 'app', resources: { requests: { cpu: request } } }] } };
    const options = { namespace: 'default', subresource: 'resize' };
    return at.cluster.api.patch(resources.pods, pod?.metadata?.name ?? '', { type: 'strategic', body }, options);
  };
  await resize(first, '150m');
  if (cpu !== '100m') await resize(second, cpu);
  await at.seconds(5);
  const ledger = createLedger(at.clock);
  const judge = createInForceJudge({
    caches: at.cluster.caches,
    ledger,
    consent: {
      ofWorkload: () => [spec as Record<string, unknown>],
      isAllocated: () => isAllocated,
      templateSize: () => new Map([['cpu request', 100]]),
    },
  });
  const pods = new Map(
    [...aFleet({ replicas: 2, spotPercentage: 0 }).pods.values()].map((facts, index) => {
      const uid = at.pods()[index]?.metadata?.uid ?? '';
      return [uid, { ...facts, uid }];
    }),
  );
  const facts = { ...aFleet({ replicas: 2, spotPercentage: 0 }), key: 'default/web', pods };
  judge(facts, () => explanation);
  return [ledger.checks().inForce, ledger.broken().inForce];
}

test.each<[string, Scene, readonly [number, number]]>([
  ['a pod without it', {}, [2, 1]],
  ['all pods with it', { cpu: '150m' }, [2, 0]],
  ['one without it, and somebody says why', { explanation: 'the node has no room' }, [2, 0]],
  ['CPU that is shared out', { isAllocated: true }, [2, 0]],
  ['nothing in force', { annotations: {} }, [0, 0]],
  [
    'a template that was changed since',
    { annotations: { ...inForce, 'optipod.io/applied-sizes': '{"app":{"cpuRequest":[90,150]}}' } },
    [2, 0],
  ],
  ['sizes of replicas', { annotations: { ...inForce, 'optipod.io/replica-sizes': '{}' } }, [0, 0]],
  ['pods that may not be resized', { spec: { updateStrategy: { allowInPlaceResize: false } } }, [0, 0]],
])('%s', async (_, scene, expected) => {
  expect(await judged(scene)).toEqual(expected);
});
