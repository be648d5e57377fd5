import { describe, expect, test } from 'vitest';
import { metrics, problemsOf } from './testing/policy-spec.ts';

describe('the samples OptiPod ships', () => {
  const bounds = (cpuRange: [string, string], memoryRange: [string, string]) => ({
    cpu: { min: cpuRange[0], max: cpuRange[1] },
    memory: { min: memoryRange[0], max: memoryRange[1] },
  });
  const production = bounds(['100m', '4000m'], ['128Mi', '8Gi']);
  const development = bounds(['50m', '2000m'], ['64Mi', '4Gi']);
  const labelled = (key: string, value: string) => ({ matchLabels: { [key]: value } });

  test.each<[string, object]>([
    [
      'production-workloads-ssa',
      {
        selector: {
          namespaceSelector: labelled('environment', 'production'),
          workloadSelector: labelled('optimize', 'true'),
          namespaces: { allow: ['default', 'production'], deny: ['kube-system'] },
        },
        metricsConfig: { provider: 'prometheus', rollingWindow: '24h', percentile: 'P90', safetyFactor: 1.2 },
        resourceBounds: production,
        updateStrategy: {
          allowInPlaceResize: true,
          allowRecreate: false,
          updateRequestsOnly: true,
          useServerSideApply: true,
        },
        reconciliationInterval: '5m',
      },
    ],
    [
      'dev-workloads-strategic-merge, whose P95 OptiPod itself refuses',
      {
        selector: { namespaceSelector: labelled('environment', 'development') },
        metricsConfig: { provider: 'prometheus', rollingWindow: '12h', percentile: 'P95', safetyFactor: 1.1 },
        resourceBounds: development,
        updateStrategy: {
          allowInPlaceResize: true,
          allowRecreate: true,
          updateRequestsOnly: false,
          useServerSideApply: false,
        },
        reconciliationInterval: '10m',
      },
    ],
    ['argocd-managed-apps', { selector: { workloadSelector: labelled('argocd.argoproj.io/instance', 'my-app') } }],
    [
      'exclude-precedence-example',
      {
        selector: {
          namespaceSelector: labelled('environment', 'development'),
          workloadTypes: { include: ['Deployment', 'StatefulSet', 'DaemonSet'], exclude: ['Deployment'] },
        },
        resourceBounds: development,
      },
    ],
    [
      'statefulset-policy',
      {
        mode: 'Recommend',
        weight: 100,
        selector: {
          namespaceSelector: labelled('environment', 'production'),
          workloadTypes: { include: ['StatefulSet'] },
        },
        metricsConfig: { provider: 'prometheus', rollingWindow: '48h', percentile: 'P95', safetyFactor: 1.3 },
        resourceBounds: bounds(['100m', '8000m'], ['256Mi', '16Gi']),
        reconciliationInterval: '15m',
      },
    ],
    ['the 168h window of its documentation', metrics({ rollingWindow: '168h' })],
    ['the 7d window of its documentation, which stalls its operator', metrics({ rollingWindow: '7d' })],
  ])('%s is valid', (_, spec) => {
    expect(problemsOf(spec)).toEqual([]);
  });
});
