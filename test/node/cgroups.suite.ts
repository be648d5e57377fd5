/** What only a real kubelet does: control groups, in which order they are written, and the figures it serves. */
import { existsSync, readdirSync, readFileSync, watch } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Pod } from '../../src/api/core.ts';
import { resources } from '../../src/api/resources.ts';
import { issueClientCertificate } from '../../src/lib/certificates.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import type { KubeletUnderTest } from './behaviour/kubelet-under-test.ts';
import { amounts, loadPod, resize, resizeConditions, statusOf } from './behaviour/pods.ts';
import { connectRealKubelet } from './behaviour/real-kubelet.ts';
import { isUnified } from './host/cgroups.ts';
import { getText, isReady } from './pod-access.ts';

const access = inject('realNodes');
const clock = createSystemClock();
const start = amounts([100, 200], [64, 128]);
const bigger = amounts([200, 400], [64, 128]);
const MEBIBYTE = 1024 ** 2;
let kubelet: KubeletUnderTest;
let namespace: string;
let pod: Pod;

beforeAll(async () => {
  kubelet = await connectRealKubelet(access);
  namespace = await kubelet.namespace();
  const spec = { name: 'a', containers: [{ name: 'main', resources: start, memoryMebibytes: 20 }] };
  await kubelet.api.create(resources.pods, loadPod(kubelet, spec), { namespace });
  pod = await kubelet.eventually(async () => {
    const now = await read();
    expect(isReady(now)).toBe(true);
    return now;
  });
});
afterAll(async () => {
  await kubelet?.clear(namespace);
  await kubelet?.stop();
});

const read = (): Promise<Pod> => kubelet.api.get(resources.pods, 'a', { namespace });

/** The pod's folder of the CPU controller; its container's lies inside. */
function cpuFolders(): { readonly pod: string; readonly container: string } {
  const cgroup = access.nodes.find(({ name }) => name === kubelet.node)?.cgroup ?? '';
  const root = isUnified() ? '/sys/fs/cgroup' : '/sys/fs/cgroup/cpu';
  const folder = join(root, cgroup, 'kubepods', 'burstable', `pod${pod.metadata?.uid}`);
  const id = statusOf(pod, 'main').containerID?.replace('containerd://', '') ?? '';
  return { pod: folder, container: join(folder, id) };
}

const QUOTA_FILE = isUnified() ? 'cpu.max' : 'cpu.cfs_quota_us';

/** Quota in microseconds for each 100 ms, whichever version of control groups. */
function quotaOf(folder: string): number {
  return Number(readFileSync(join(folder, QUOTA_FILE), 'utf8').split(' ')[0]);
}

/** Resizes, and has the kernel tell of writes to the quotas: in their order, however late it is listened to. @returns which was first. */
async function firstWritten(next: typeof start, quota: number): Promise<'pod' | 'container' | undefined> {
  const folders = cpuFolders();
  const written: ('pod' | 'container')[] = [];
  const watchers = (['pod', 'container'] as const).map((which) =>
    watch(join(folders[which], QUOTA_FILE), () => void written.push(which)),
  );
  try {
    await resize(kubelet.api, namespace, 'a', { main: next });
    await kubelet.eventually(async () => {
      const now = await read();
      expect(statusOf(now, 'main').resources).toEqual(next);
      expect(resizeConditions(now)).toEqual([]);
      expect([quotaOf(folders.pod), quotaOf(folders.container)]).toEqual([quota, quota]);
      expect(new Set(written).size).toBe(2);
    });
  } finally {
    for (const watcher of watchers) watcher.close();
  }
  return written[0];
}

/** GET with a certificate of the cluster's administrators, as a metrics collector would. */
async function fromKubelet(path: string): Promise<string> {
  const authority = { commonName: 'stowage-test-ca', certificatePem: access.caPem, privateKeyPem: access.caKeyPem };
  const validity = { notBeforeMillis: clock.now() - 60_000, notAfterMillis: clock.now() + 600_000 };
  const pair = await issueClientCertificate(authority, {
    commonName: 'collector',
    organizations: ['system:masters'],
    ...validity,
  });
  const url = `${access.nodes.find(({ name }) => name === kubelet.node)?.kubeletUrl}${path}`;
  return new Promise((resolve, reject) => {
    const options = { ca: access.caPem, cert: pair.certificatePem, key: pair.privateKeyPem, agent: false };
    const outgoing = request(url, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () =>
        response.statusCode === 200 ? resolve(text) : reject(new Error(`${url}: ${response.statusCode} ${text}`)),
      );
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

/** Value of a series whose labels include those given. */
function seriesValue(text: string, metric: string, labels: Readonly<Record<string, string>>): number | undefined {
  const line = text
    .split('\n')
    .find(
      (each) =>
        each.startsWith(`${metric}{`) &&
        Object.entries(labels).every(([key, value]) => each.includes(`${key}="${value}"`)),
    );
  const value = line?.slice(line.indexOf('} ') + 2).split(' ')[0];
  return value === undefined ? undefined : Number(value);
}

describe('control groups of a pod', () => {
  test('carry its requests and limits', () => {
    const { pod: folder, container } = cpuFolders();
    expect([quotaOf(folder), quotaOf(container)]).toEqual([20_000, 20_000]);
    if (!isUnified()) {
      const shares = (path: string): number => Number(readFileSync(join(path, 'cpu.shares'), 'utf8'));
      expect([shares(folder), shares(container)]).toEqual([102, 102]);
    }
    // One for each container, and one for the sandbox.
    expect(readdirSync(folder, { withFileTypes: true }).filter((each) => each.isDirectory())).toHaveLength(2);
  });

  test('are written from the outside in when a pod gets more, from the inside out when it gets less', async () => {
    for (let round = 0; round < 3; round++) {
      expect(await firstWritten(bigger, 40_000)).toBe('pod');
      expect(await firstWritten(start, 20_000)).toBe('container');
    }
  });

  test('are gone with the pod', async () => {
    const spec = { name: 'short', containers: [{ name: 'main', resources: start }] };
    await kubelet.api.create(resources.pods, loadPod(kubelet, spec), { namespace });
    const short = await kubelet.eventually(async () => {
      const now = await kubelet.api.get(resources.pods, 'short', { namespace });
      expect(isReady(now)).toBe(true);
      return now;
    });
    const folder = cpuFolders().pod.replace(pod.metadata?.uid ?? '', short.metadata?.uid ?? '');
    expect(existsSync(folder)).toBe(true);
    await kubelet.api.delete(resources.pods, 'short', { namespace });
    await kubelet.eventually(() => expect(existsSync(folder)).toBe(false));
  });
});

describe('a busy pod', () => {
  test('is throttled at its limit, and works on without a break once that is raised', async () => {
    const url = `http://${pod.status?.podIP}:8080`;
    // A thread that works for so long needs three periods of the limit, and never more than one of one core.
    const work = async (): Promise<void> => {
      for (let round = 0; round < 3; round++) await getText(`${url}/work?ms=60`);
    };
    const throttled = (): number =>
      Number(/nr_throttled (\d+)/.exec(readFileSync(join(cpuFolders().container, 'cpu.stat'), 'utf8'))?.[1]);
    await getText(`${url}/set?cpu=1000`);
    const before = throttled();
    await kubelet.eventually(() => expect(throttled()).toBeGreaterThan(before + 10));
    await getText(`${url}/set?cpu=0`);
    const beforeWork = throttled();
    await work();
    expect(throttled()).toBeGreaterThan(beforeWork);
    const next = amounts([100, 1400], [64, 128]);
    await resize(kubelet.api, namespace, 'a', { main: next });
    await kubelet.eventually(() => expect(quotaOf(cpuFolders().container)).toBe(140_000));
    const beforeMore = throttled();
    await work();
    expect(throttled()).toBe(beforeMore);
    expect(await getText(`${url}/metrics`)).toMatch(/load_work_seconds_count 6\n/);
  });
});

describe('figures of the kubelet', () => {
  const labels = { namespace: '', pod: 'a', container: 'main' };

  test('at /metrics/resource name what each container uses', async () => {
    const text = await kubelet.eventually(async () => {
      const answered = await fromKubelet('/metrics/resource');
      const memory = seriesValue(answered, 'container_memory_working_set_bytes', { ...labels, namespace });
      expect(memory).toBeGreaterThan(20 * MEBIBYTE);
      return answered;
    });
    expect(seriesValue(text, 'container_cpu_usage_seconds_total', { ...labels, namespace })).toBeGreaterThan(0);
    expect(seriesValue(text, 'container_start_time_seconds', { ...labels, namespace })).toBeGreaterThan(1e9);
    expect(text).toMatch(/^node_cpu_usage_seconds_total /m);
    expect(text).toMatch(/^node_memory_working_set_bytes /m);
  });

  test('at /metrics/cadvisor tell throttling and limits by container', async () => {
    await kubelet.eventually(async () => {
      const text = await fromKubelet('/metrics/cadvisor');
      expect(seriesValue(text, 'container_cpu_cfs_throttled_periods_total', { ...labels, namespace })).toBeGreaterThan(
        0,
      );
      expect(seriesValue(text, 'container_spec_memory_limit_bytes', { ...labels, namespace })).toBe(128 * MEBIBYTE);
    });
  });

  test('are for those only who may ask', async () => {
    const url = `${access.nodes[0]?.kubeletUrl}/metrics/resource`;
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const outgoing = request(url, { ca: access.caPem, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      outgoing.on('error', reject);
      outgoing.end();
    });
    expect(status).toBe(401);
  });
});
