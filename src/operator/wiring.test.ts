/** What the parts of an operator tell outside, put together: the log, the metrics, readiness. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { resources } from '../api/resources.ts';
import { createApiServer } from '../cluster/apiserver/api-server.ts';
import { configOf } from '../config/testing/load-text.ts';
import { formatMicroTime } from '../kube/micro-time.ts';
import { kubeError } from '../kube/testing/scripted-api.ts';
import { createAuthority, issueServerCertificate } from '../lib/certificates.ts';
import { createLogger, createSilentLogger } from '../lib/log.ts';
import { createMetrics } from '../lib/metrics.ts';
import { createSeededRandom } from '../lib/random.ts';
import { eventually } from '../lib/testing/eventually.ts';
import { createVirtualClock } from '../lib/virtual-clock.ts';
import { startOperator } from '../wire.ts';
import { startAllocatedWorld } from './testing/allocated-world.ts';
import { createEmbeddedWorld, deploymentObject, namespaceObject } from './testing/embedded-world.ts';
import {
  annotate,
  deploy,
  eventReasons,
  firstBlock,
  inShop,
  MINUTE,
  podsOf,
  policy,
  startWorld,
  untilReady,
  untilSides,
} from './testing/steps.ts';
import { wish } from './testing/wish.ts';
import { addressAnnotations } from './webhook-address.ts';

test('what is done is in the log as the journal has it', async () => {
  const lines: string[] = [];
  const clock = createVirtualClock(0);
  const log = createLogger({ level: 'info', format: 'json', clock, write: (line) => lines.push(line) });
  const world = await startWorld({ log });
  await deploy(world, 2, policy(0, 0));
  await annotate(world, policy(100, 0));
  await untilSides(world, 'web', 2, 0);
  const done = lines
    .map((line): Record<string, unknown> => JSON.parse(line))
    .filter(({ logger, kind }) => logger === 'journal' && kind === 'done');
  expect(done.map(({ pod }) => pod)).toEqual(world.evictions);
  expect(done[0]).toMatchObject({ workload: 'Deployment/shop/web', engine: 'placement' });
});

test('events that the API server refuses are counted, and hold up nothing', async () => {
  const metrics = createMetrics();
  const world = await startWorld({
    metrics,
    onWrite({ resource }) {
      if (resource === 'events') throw kubeError(403, 'Forbidden', 'events.events.k8s.io is forbidden');
    },
  });
  expect(await metrics.render()).toMatch(/^stowage_events_dropped_total 0$/m);
  await deploy(world, 2, policy(0, 0));
  await annotate(world, policy(100, 0));
  await untilSides(world, 'web', 2, 0);
  await world.clock.advance(MINUTE);
  expect(await metrics.render()).toMatch(/^stowage_events_dropped_total [1-9]/m);
});

test('it tells when it was alive last, whoever leads', async () => {
  const metrics = createMetrics();
  const world = await startWorld({ metrics });
  for (let minute = 0; minute < 3; minute++) {
    const told = /^spotalis_controller_last_seen_timestamp\{.*\} (\S+)$/m.exec(await metrics.render())?.[1];
    expect(world.clock.now() / 1000 - Number(told)).toBeLessThanOrEqual(30);
    await world.clock.advance(MINUTE);
  }
});

test('a changed configuration concerns all workloads at once, however seldom they are looked at', async () => {
  const seldom = 'controllers: { reconcileInterval: 30m }';
  const world = await startWorld({ config: seldom });
  await deploy(world, 2, {});
  await world.clock.advance(MINUTE);
  expect(world.evictions).toEqual([]);
  world.operator().applyConfig(configOf(`${seldom}\nplacement: { defaults: { spotPercentage: 100 } }`));
  await world.clock.advance(5_000);
  expect(world.evictions).toHaveLength(1);
});

test('costs are told by the leader alone: of several replicas their sum would be a multiple', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-wiring-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const prices = join(folder, 'prices.yaml');
  writeFileSync(prices, 'instanceTypes: { big: { onDemand: 1 } }');
  const metrics = createMetrics();
  const world = await createEmbeddedWorld({ metrics, config: `placement: { prices: "${prices}" }` });
  onTestFinished(() => world.stop());
  await world.api.create(resources.namespaces, namespaceObject('shop'));
  const now = formatMicroTime(world.clock.now());
  const spec = { holderIdentity: 'another', leaseDurationSeconds: 15, acquireTime: now, renewTime: now };
  const lease = { metadata: { name: 'spotalis-controller-leader', namespace: 'spotalis-system' }, spec };
  await world.api.create(resources.leases, lease);
  await world.startOperator();
  await world.api.create(resources.deployments, deploymentObject({ name: 'web', replicas: 2 }), inShop);
  await world.clock.advance(10_000);
  const follower = await metrics.render();
  expect(follower).toContain('stowage_informer_objects{resource="pods"} 2');
  expect(follower).not.toContain('stowage_workload_unpriced_pods{');
  await world.clock.advance(MINUTE);
  expect(await metrics.render()).toContain('stowage_workload_unpriced_pods{');
});

test('a pod whose resize was asked for and is not answered yet is not evicted: engines know of each other', async () => {
  const world = await startAllocatedWorld({
    startsAgents: false,
    nodes: [],
    spotNodes: 1,
    onDemandNodes: 1,
    config: 'placement: { allowSingleReplica: true }',
  });
  const deployment = deploymentObject({ name: 'web', replicas: 1, annotations: policy(0, 0) });
  const labels = { app: 'web', 'mbcas.io/managed': 'true' };
  const template = { ...deployment.spec?.template, metadata: { labels } };
  const spec = { ...deployment.spec, selector: { matchLabels: { app: 'web' } }, template };
  await world.api.create(resources.deployments, { ...deployment, spec }, inShop);
  await untilReady(world, 'web', 1);
  await world.clock.advance(15_000);
  const [pod] = await podsOf(world, 'web');
  world.server.faults.add({ resources: ['pods/resize'], effect: { kind: 'slow', millis: 10_000 } });
  await wish(world, pod?.metadata?.name ?? '', { request: 150, urgent: true });
  await world.until('a resize was asked for', () => world.resizes() === 1, 5_000);
  await annotate(world, policy(100, 0));
  await world.clock.advance(6_000);
  expect(firstBlock(world, 'Deployment', 'web')).toBe('ResizeInFlight');
  expect(world.evictions).toEqual([]);
  await untilSides(world, 'web', 1, 0);
});

/** An operator with its webhook and its health on real ports, and its time in the test's hand. */
async function serve(env: Readonly<Record<string, string>> = {}) {
  const clock = createVirtualClock(Date.UTC(2026, 0, 31, 12));
  const [random, log] = [createSeededRandom(1), createSilentLogger()];
  const server = createApiServer({ clock, random });
  onTestFinished(() => server.close());
  const api = server.client();
  await api.create(resources.namespaces, namespaceObject('spotalis-system'));
  const nodesOut = server.faults.add({ resources: ['nodes'], effect: { kind: 'outage' } });
  const certDir = mkdtempSync(join(tmpdir(), 'stowage-wiring-'));
  onTestFinished(() => rmSync(certDir, { recursive: true }));
  const validity = { notBeforeMillis: Date.UTC(2020, 0, 1), notAfterMillis: Date.UTC(2099, 0, 1) };
  const authority = await createAuthority({ commonName: 'test-ca', ...validity });
  const writeCertificate = async (commonName: string): Promise<void> => {
    const pair = await issueServerCertificate(authority, { commonName, ipAddresses: ['127.0.0.1'], ...validity });
    writeFileSync(join(certDir, 'tls.key'), pair.privateKeyPem);
    writeFileSync(join(certDir, 'tls.crt'), pair.certificatePem);
  };
  await writeCertificate('first');
  const { webhook, ...config } = configOf('', {
    SPOTALIS_WEBHOOK_CERT_DIR: certDir,
    SPOTALIS_METRICS_ENABLED: 'false',
    SPOTALIS_WEB_ENABLED: 'false',
    SPOTALIS_HEALTH_BIND_ADDRESS: '127.0.0.1:0',
    ...env,
  });
  const operator = await startOperator({
    // Port 0 is for tests only; the configuration refuses it.
    config: { ...config, webhook: { ...webhook, port: 0 } },
    api,
    clock,
    random,
    log,
    identity: 'test_1',
    webhookHost: '127.0.0.1',
    advertisedHost: '10.0.0.7',
  });
  const stop = async (): Promise<void> => {
    let isStopped = false;
    void operator.stop().then(() => {
      isStopped = true;
    });
    await eventually(async () => {
      await clock.advance(1_000);
      expect(isStopped).toBe(true);
    });
  };
  onTestFinished(stop);
  const url = `http://127.0.0.1:${operator.ports.health}/readyz`;
  const ready = async (): Promise<string> => await (await fetch(url)).text();
  const lease = () => api.get(resources.leases, 'spotalis-controller-leader', { namespace: 'spotalis-system' });
  const servedName = async (): Promise<unknown> => {
    const socket = connectTls({ host: '127.0.0.1', port: operator.ports.webhook, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const { subject } = socket.getPeerCertificate();
    socket.destroy();
    return subject.CN;
  };
  const { shutdownDelay } = webhook;
  return { clock, operator, nodesOut, ready, lease, stop, shutdownDelay, writeCertificate, servedName };
}

test('it is ready when all has been read, and no more from the moment it is told to end', async () => {
  const { clock, operator, nodesOut, ready, shutdownDelay } = await serve();
  await clock.advance(10_000);
  expect(await ready()).toBe('not ready\ncaches: the first lists are not complete: nodes\n');
  nodesOut.remove();
  await clock.advance(2 * MINUTE);
  expect(await ready()).toBe('ok');
  void operator.stop();
  // Endpoints are still being taken out of the Service.
  await clock.advance(shutdownDelay / 2);
  expect(await ready()).toContain('shutdown: the process is ending');
});

test('the webhook serves a certificate that was renewed', async () => {
  const { clock, writeCertificate, servedName } = await serve();
  expect(await servedName()).toBe('first');
  await writeCertificate('second');
  await eventually(async () => {
    await clock.advance(MINUTE);
    expect(await servedName()).toBe('second');
  });
});

test('the leader tells the other replicas on the lease where its webhook is', async () => {
  const { clock, operator, lease } = await serve();
  await clock.advance(MINUTE);
  const { annotations } = (await lease()).metadata ?? {};
  expect(annotations).toEqual(addressAnnotations({ host: '10.0.0.7', port: operator.ports.webhook ?? 0 }));
});

test('one without a webhook tells nothing of the kind, and leads all the same', async () => {
  const { clock, lease } = await serve({ SPOTALIS_WEBHOOK_ENABLED: 'false' });
  await clock.advance(MINUTE);
  const { metadata, spec } = await lease();
  expect([spec?.holderIdentity, metadata?.annotations ?? {}]).toEqual(['test_1', {}]);
});

test('a leader that ends before it has read everything gives the lease back, too', async () => {
  const { clock, lease, stop } = await serve();
  await clock.advance(MINUTE);
  expect((await lease()).spec?.holderIdentity).toBe('test_1');
  await stop();
  expect((await lease()).spec?.holderIdentity ?? '').toBe('');
});

test('a new leader looks at nothing before it has read everything: what is not there yet would pass for changed', async () => {
  const world = await startWorld();
  await deploy(world, 2, policy(50));
  await world.operator().stop();
  const before = await eventReasons(world);
  world.server.faults.add({
    verbs: ['list', 'watch'],
    resources: ['namespaces'],
    effect: { kind: 'slow', millis: 8_000 },
  });
  await world.startOperator('test_2');
  await world.clock.advance(MINUTE);
  expect(await eventReasons(world)).toEqual(before);
});
