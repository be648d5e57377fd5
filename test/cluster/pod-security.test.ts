/** Which of an installation's pods namespaces that enforce a level of Pod Security let in. */
import { describe, expect, test } from 'vitest';
import type { Pod } from '../../src/api/core.ts';
import { isForbidden } from '../../src/api/kube-error.ts';
import { resources } from '../../src/api/resources.ts';
import { describeError } from '../../src/lib/errors.ts';
import { isWorkload, podSpecOf } from '../chart/pod-specs.ts';
import { CHART, findHelm, render } from '../chart/render.ts';
import { useRealCluster } from './real-cluster.ts';

type PodSpec = Required<Pod>['spec'];

const { programs, missing } = await findHelm();
/** What an agent measures lies on its node. */
const NEEDS_HOST = expect.stringMatching(/violates PodSecurity.*hostPath/);

describe.skipIf(missing !== undefined)('Pod Security', () => {
  const cluster = useRealCluster();
  const workloads =
    missing === undefined ? render(programs, { values: [`${CHART}/ci/all-engines.yaml`] }).filter(isWorkload) : [];

  test.each([
    ['restricted', { Deployment: 'let in', Pod: 'let in', DaemonSet: NEEDS_HOST }],
    ['baseline', { Deployment: 'let in', Pod: 'let in', DaemonSet: NEEDS_HOST }],
    ['privileged', { Deployment: 'let in', Pod: 'let in', DaemonSet: 'let in' }],
  ])('a namespace that enforces %s', async (level, expected) => {
    const { api, namespace: makeNamespace, eventually } = cluster();
    const namespace = await makeNamespace();
    const labels = { 'pod-security.kubernetes.io/enforce': level };
    await api.patch(resources.namespaces, namespace, { type: 'merge', body: { metadata: { labels } } });
    const verdictOn = async (spec: PodSpec): Promise<string> => {
      try {
        await api.create(resources.pods, { metadata: { name: 'asked' }, spec }, { namespace, dryRun: true });
        return 'let in';
      } catch (error) {
        if (isForbidden(error)) return describeError(error);
        throw error;
      }
    };
    // The namespace's account, and what admission knows of its labels, come a moment later.
    await eventually(async () => {
      const verdicts: Record<string, string> = {};
      for (const workload of workloads) {
        const spec = podSpecOf(workload) as PodSpec;
        verdicts[workload.kind ?? ''] = await verdictOn({ ...spec, serviceAccountName: 'default' });
      }
      expect(verdicts).toEqual(expected);
    });
  });
});
