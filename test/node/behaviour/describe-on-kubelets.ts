/** Runs one set of assertions on the kubelet of the current configuration: the embedded one in `npm test`, a real one in `npm run test:node`. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, inject } from 'vitest';
import type { Pod } from '../../../src/api/core.ts';
import { resources } from '../../../src/api/resources.ts';
import { isReady } from '../pod-access.ts';
import { startEmbeddedKubelet } from './embedded-kubelet.ts';
import type { KubeletUnderTest } from './kubelet-under-test.ts';
import { type LoadPod, loadPod, type Resources, resize } from './pods.ts';
import { connectRealKubelet } from './real-kubelet.ts';

/** A kubelet with a namespace for the current test. */
export interface Stage extends KubeletUnderTest {
  readonly current: string;
  /** Creates a pod and returns it once it is ready. */
  run(spec: LoadPod): Promise<Pod>;
  create(spec: LoadPod): Promise<Pod>;
  read(name: string): Promise<Pod>;
  resize(name: string, next: Readonly<Record<string, Resources>>, kind?: 'containers' | 'initContainers'): Promise<Pod>;
}

/** Like `describe`; `suite` gets the stage, usable inside tests. */
export function describeOnKubelets(title: string, suite: (stage: () => Stage) => void): void {
  const access = inject('realNodes');
  const name = access === undefined ? 'embedded' : 'real';
  describe(`${title} (${name} kubelet)`, () => {
    let kubelet: KubeletUnderTest | undefined;
    let stage: Stage | undefined;
    beforeAll(async () => {
      kubelet = access === undefined ? await startEmbeddedKubelet() : await connectRealKubelet(access);
    });
    beforeEach(async () => {
      if (kubelet !== undefined) stage = createStage(kubelet, await kubelet.namespace());
    });
    afterEach(async () => {
      if (stage !== undefined) await stage.clear(stage.current);
    });
    afterAll(() => kubelet?.stop());
    suite(() => {
      if (stage === undefined) throw new Error('the kubelet is there only while tests run');
      return stage;
    });
  });
}

function createStage(kubelet: KubeletUnderTest, namespace: string): Stage {
  const { api } = kubelet;
  const read = (name: string): Promise<Pod> => api.get(resources.pods, name, { namespace });
  const create = (spec: LoadPod): Promise<Pod> => api.create(resources.pods, loadPod(kubelet, spec), { namespace });
  return {
    ...kubelet,
    current: namespace,
    read,
    create,
    resize: (name, next, kind) => resize(api, namespace, name, next, kind),
    async run(spec) {
      await create(spec);
      return kubelet.eventually(async () => {
        const pod = await read(spec.name);
        if (!isReady(pod)) throw new Error(`pod ${spec.name} is not ready: ${JSON.stringify(pod.status)}`);
        return pod;
      });
    },
  };
}
