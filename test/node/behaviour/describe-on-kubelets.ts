/** Runs one set of assertions on the kubelet of the current configuration: the embedded one in `npm test`, a real one in `npm run test:node`. */
import { afterAll, beforeAll, describe, inject, test } from 'vitest';
import type { Pod } from '../../../src/api/core.ts';
import { resources } from '../../../src/api/resources.ts';
import { isReady } from '../pod-access.ts';
import { startEmbeddedKubelet } from './embedded-kubelet.ts';
import type { KubeletUnderTest } from './kubelet-under-test.ts';
import { type LoadPod, loadPod, type Resources, resize } from './pods.ts';
import { connectRealKubelet } from './real-kubelet.ts';

/** A kubelet with a namespace for one test. */
export interface Stage extends KubeletUnderTest {
  readonly current: string;
  /** Creates a pod and returns it once it is ready. */
  run(spec: LoadPod): Promise<Pod>;
  create(spec: LoadPod): Promise<Pod>;
  read(name: string): Promise<Pod>;
  /** Returns once there is no such pod. */
  gone(name: string): Promise<void>;
  resize(name: string, next: Readonly<Record<string, Resources>>, kind?: 'containers' | 'initContainers'): Promise<Pod>;
}

/** Like vitest's `test`, on a stage of its own that is cleared afterwards. */
export interface StageTest {
  (title: string, body: (stage: Stage) => Promise<void>): void;
  /** The first of each row stands for `%s` in the title. */
  each<Row extends readonly [string, ...unknown[]]>(
    rows: readonly Row[],
  ): (title: string, body: (stage: Stage, ...row: Row) => Promise<void>) => void;
}

type Suite = (test: StageTest) => void;

/**
 * Like `describe`. On a real kubelet the tests run side by side, as most of what they do is wait; `inOrder` is for those that
 * must not. Virtual time has only one hand that moves it: there they always run in order.
 */
export function describeOnKubelets(title: string, suite: Suite): void {
  describeStages(title, suite, inject('realNodes') === undefined ? describe : describe.concurrent);
}
describeOnKubelets.inOrder = (title: string, suite: Suite): void => describeStages(title, suite, describe);

function describeStages(
  title: string,
  suite: Suite,
  describeSuite: typeof describe | typeof describe.concurrent,
): void {
  const access = inject('realNodes');
  describeSuite(`${title} (${access === undefined ? 'embedded' : 'real'} kubelet)`, () => {
    let kubelet: KubeletUnderTest | undefined;
    beforeAll(async () => {
      kubelet = access === undefined ? await startEmbeddedKubelet() : await connectRealKubelet(access);
    });
    afterAll(() => kubelet?.stop());
    const onStage = async (body: (stage: Stage) => Promise<void>): Promise<void> => {
      if (kubelet === undefined) throw new Error('the kubelet is there only while tests run');
      const stage = createStage(kubelet, await kubelet.namespace());
      try {
        await body(stage);
      } finally {
        await stage.clear(stage.current);
      }
    };
    const stageTest: StageTest = (name, body) => test(name, () => onStage(body));
    stageTest.each = (rows) => (name, body) => {
      for (const row of rows) stageTest(name.replace('%s', String(row[0])), (stage) => body(stage, ...row));
    };
    suite(stageTest);
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
    // Not `expect(…).rejects`, tried until it holds: of tests side by side the runner may take a try that failed for another's.
    gone: (name) =>
      kubelet.eventually(async () => {
        const { items } = await api.list(resources.pods, { namespace });
        if (items.some(({ metadata }) => metadata?.name === name)) throw new Error(`pod ${name} is still there`);
      }),
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
