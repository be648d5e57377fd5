/** Rightsizing where usage is real: pods that burn and hold, measured by cAdvisor, told by a real Prometheus and the real metrics-server, resized by a real kubelet. */
import { afterAll, beforeAll, beforeEach, expect, onTestFailed, test } from 'vitest';
import type { Deployment, Pod } from '../../src/api/core.ts';
import { policyType } from '../../src/api/optimization-policy.ts';
import type { PolicyWorkloadStatus } from '../../src/api/optimization-policy-status.ts';
import { resources } from '../../src/api/resources.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { parseQuantity, toBytes, toMillicores } from '../../src/lib/quantity.ts';
import { type OperatorProcess, podWith, startOperatorProcess } from '../cluster/operator-process.ts';
import { installPolicies, type PolicyFields, policyObject } from '../cluster/rightsizing-objects.ts';
import { readLogTail } from '../controlplane/process-group.ts';
import type { RunningPrometheus } from '../prometheus/prometheus.ts';
import { LOAD_IMAGE } from './image/images.ts';
import { useRealNodes } from './kit.ts';
import { getText } from './pod-access.ts';
import { startKubeletPrometheus } from './rightsizing/kubelet-prometheus.ts';

const MEBIBYTE = 1024 ** 2;
/** metrics-server measures every ten seconds, and needs two for a pod; the rate of Prometheus takes four scrapes. */
const PATIENCE_MILLIS = 150_000;
const OPERATOR = 'rightsizing-operator';

const clock = createSystemClock();
const kit = useRealNodes();
let operator: OperatorProcess | undefined;
let prometheus: RunningPrometheus | undefined;
/** Of the policies with each source. */
let viaPrometheus: string;
let viaMetricsServer: string;

interface Size {
  readonly cpu?: string;
  readonly memory?: string;
}

/** One pod of the load program. `cpuMilli` and `memMib` are what it burns and holds from its start. */
function loaded(name: string, load: { cpuMilli: number; memMib: number }, requests: Size, limits: Size): Deployment {
  const env = Object.entries({ CPU_MILLI: load.cpuMilli, MEM_MIB: load.memMib });
  return {
    metadata: { name, labels: { optimize: 'true', app: name } },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          terminationGracePeriodSeconds: 1,
          automountServiceAccountToken: false,
          containers: [
            {
              name: 'app',
              image: LOAD_IMAGE,
              imagePullPolicy: 'Never',
              env: env.map(([key, value]) => ({ name: key, value: String(value) })),
              resources: { requests: { ...requests }, limits: { ...limits } },
            },
          ],
        },
      },
    },
  };
}

const deploy = (namespace: string, deployment: Deployment): Promise<Deployment> =>
  kit().api.create(resources.deployments, deployment, { namespace });
const createPolicy = (namespace: string, fields: PolicyFields): Promise<object> =>
  kit().api.create(policyType('optipod.io'), policyObject(namespace, fields), { namespace });

async function podOf(namespace: string, app: string): Promise<Pod> {
  const { items } = await kit().api.list(resources.pods, { namespace, labelSelector: `app=${app}` });
  const [pod] = items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
  if (pod === undefined) throw new Error(`there is no pod of ${app}`);
  return pod;
}

async function statusOf(
  namespace: string,
  workload: string,
  policy: string,
): Promise<PolicyWorkloadStatus | undefined> {
  const { status } = await kit().api.get(policyType('optipod.io'), policy, { namespace });
  return status?.workloads?.find(({ name }) => name === workload);
}

/** Of container `app`: what the kubelet says it holds and has got, in millicores and mebibytes. */
function sizeOf({ spec, status }: Pod) {
  const asked = spec?.containers[0]?.resources?.requests;
  const told = status?.containerStatuses?.[0];
  const read = (size: Readonly<Record<string, string>> | undefined) => ({
    cpu: toMillicores(parseQuantity(size?.['cpu'] ?? '0')),
    memory: toBytes(parseQuantity(size?.['memory'] ?? '0')) / MEBIBYTE,
  });
  return { asked: read(asked), allocated: read(told?.allocatedResources), actual: read(told?.resources?.requests) };
}

const restartsOf = ({ status }: Pod): number => status?.containerStatuses?.[0]?.restartCount ?? 0;
const containerOf = ({ status }: Pod): string => status?.containerStatuses?.[0]?.containerID ?? '';

const GENEROUS = { cpu: '1', memory: '400Mi' };
const hungry = loaded('hungry', { cpuMilli: 150, memMib: 90 }, { cpu: '50m', memory: '32Mi' }, GENEROUS);
const wasteful = loaded('wasteful', { cpuMilli: 20, memMib: 20 }, { cpu: '300m', memory: '256Mi' }, GENEROUS);
const steady = loaded('steady', { cpuMilli: 20, memMib: 100 }, { cpu: '30m', memory: '200Mi' }, { memory: '250Mi' });
const looping = loaded('looping', { cpuMilli: 0, memMib: 100 }, { cpu: '20m', memory: '60Mi' }, { memory: '60Mi' });
/** Before anything was resized: pods by namespace and workload. */
const before = new Map<string, Pod>();

beforeAll(async () => {
  const { api, access, namespace, eventually } = kit();
  await installPolicies(api, eventually);
  [viaPrometheus, viaMetricsServer] = [await namespace(), await namespace()];
  for (const deployment of [hungry, wasteful, steady, looping]) await deploy(viaPrometheus, deployment);
  for (const deployment of [hungry, wasteful]) await deploy(viaMetricsServer, deployment);
  const { kubeconfigPath, runDirectory } = access;
  prometheus = await startKubeletPrometheus(access, clock);
  for (const namespaceName of [viaPrometheus, viaMetricsServer]) {
    for (const name of ['hungry', 'wasteful', ...(namespaceName === viaPrometheus ? ['steady'] : [])]) {
      await eventually(async () => {
        const pod = await podOf(namespaceName, name);
        expect(pod.status?.containerStatuses?.[0]?.ready).toBe(true);
        before.set(`${namespaceName}/${name}`, pod);
      });
    }
  }
  operator = await startOperatorProcess({
    name: OPERATOR,
    directory: runDirectory,
    kubeconfigPath,
    clock,
    pod: podWith({
      engines: { placement: false, rightsizing: true },
      operator: { namespace: 'default' },
      rightsizing: {
        sampleInterval: '5s',
        collectInterval: '5s',
        warmUp: '0s',
        reconcileInterval: '1s',
        canaryPeriod: '3s',
        // Memory is known before CPU is: what follows must not wait for half an hour.
        revertWindow: '10s',
        prometheus: { url: prometheus.url, step: '5s', scrapeInterval: '5s' },
      },
    }),
  });
  const requestsOnly = { labels: { optimize: 'true' } };
  await createPolicy(viaMetricsServer, { ...requestsOnly, metrics: { provider: 'metrics-server' } });
  await createPolicy(viaPrometheus, requestsOnly);
  // Limits move with requests, down to where nothing would be left: for the two that are about limits.
  await createPolicy(viaPrometheus, {
    name: 'small',
    labels: { app: 'steady' },
    spec: { weight: 200 },
    bounds: { memory: { min: '16Mi', max: '64Mi' } },
    updates: { updateRequestsOnly: false, memoryDecrease: 'Always' },
  });
  await createPolicy(viaPrometheus, {
    name: 'healing',
    labels: { app: 'looping' },
    spec: { weight: 200 },
    updates: { updateRequestsOnly: false, allowRecreate: true },
  });
});
beforeEach(() => {
  onTestFailed(async () => {
    const policies = await kit().api.list(policyType('optipod.io'));
    const told = policies.items.map(({ metadata, status }) => `${metadata?.name}: ${JSON.stringify(status)}`);
    process.stderr.write(`${told.join('\n')}\n${readLogTail(kit().access.runDirectory, OPERATOR, 20)}\n`);
  });
});
afterAll(async () => {
  await operator?.stop();
  await prometheus?.stop();
});

test.each([['Prometheus'], ['metrics-server']])(
  'what %s tells: a pod that needs three times its request is grown in place, one that wastes is shrunk, and neither notices',
  async (source) => {
    const namespace = source === 'Prometheus' ? viaPrometheus : viaMetricsServer;
    await kit().eventually(async () => {
      const grown = sizeOf(await podOf(namespace, 'hungry'));
      expect(grown.asked.cpu).toBeGreaterThan(100);
      // 90 MiB held, some for the program itself, times 1.2.
      expect(grown.asked.memory).toBeGreaterThan(100);
      expect(grown.asked.memory).toBeLessThan(150);
      expect([grown.allocated, grown.actual]).toEqual([grown.asked, grown.asked]);
      const shrunk = sizeOf(await podOf(namespace, 'wasteful'));
      expect(shrunk.asked.cpu).toBeLessThan(100);
      expect(shrunk.asked.memory).toBeLessThan(60);
      expect([shrunk.allocated, shrunk.actual]).toEqual([shrunk.asked, shrunk.asked]);
      for (const name of ['hungry', 'wasteful']) {
        expect(await statusOf(namespace, name, 'sizes')).toMatchObject({ lastApplyMethod: 'InPlace' });
      }
    }, PATIENCE_MILLIS);
    for (const name of ['hungry', 'wasteful']) {
      const pod = await podOf(namespace, name);
      const old = before.get(`${namespace}/${name}`);
      expect(pod.metadata?.uid).toBe(old?.metadata?.uid);
      expect(containerOf(pod)).toBe(old && containerOf(old));
      expect(restartsOf(pod)).toBe(0);
      expect(pod.spec?.containers[0]?.resources?.limits).toEqual(GENEROUS);
      // It does what it did.
      expect(JSON.parse(await getText(`http://${pod.status?.podIP}:8080/`))).toMatchObject({ workDone: 0 });
    }
  },
);

test('a memory limit is not lowered below what is used, whatever the bounds of the policy say', async () => {
  await kit().eventually(async () => {
    const entry = await statusOf(viaPrometheus, 'steady', 'small');
    expect(entry?.recommendations?.[0]?.memory).toBe('64Mi');
    expect(entry?.reason).toMatch(/^Memory/);
  }, PATIENCE_MILLIS);
  const pod = await podOf(viaPrometheus, 'steady');
  expect(pod.spec?.containers[0]?.resources?.limits?.['memory']).toBe('250Mi');
  expect(restartsOf(pod)).toBe(0);
});

test('a pod that loops because of too little memory is healed: it has enough, and its restarts stop', async () => {
  const healed = await kit().eventually(async () => {
    const pod = await podOf(viaPrometheus, 'looping');
    expect(sizeOf(pod).actual.memory).toBeGreaterThan(100);
    expect(pod.status?.containerStatuses?.[0]).toMatchObject({ ready: true });
    return pod;
  }, PATIENCE_MILLIS);
  const answer = await getText(`http://${healed.status?.podIP}:8080/`);
  expect(JSON.parse(answer)).toMatchObject({ memBytes: 100 * MEBIBYTE });
  // As long again as it took to die before.
  await kit().eventually(async () => {
    expect(JSON.parse(await getText(`http://${healed.status?.podIP}:8080/`)).upSeconds).toBeGreaterThan(10);
  });
  const later = await podOf(viaPrometheus, 'looping');
  expect([later.metadata?.uid, restartsOf(later)]).toEqual([healed.metadata?.uid, restartsOf(healed)]);
});

test('nothing else was restarted or replaced', async () => {
  for (const [key, old] of before) {
    const [namespace = '', name = ''] = key.split('/');
    const pod = await podOf(namespace, name);
    expect([pod.metadata?.uid, restartsOf(pod)]).toEqual([old.metadata?.uid, 0]);
  }
});
