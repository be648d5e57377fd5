import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { resources } from '../api/resources.ts';
import { runCommand } from '../cli/testing/run-command.ts';
import { createApiServer } from '../cluster/apiserver/api-server.ts';
import { loadConfig } from '../config/load.ts';
import { configOf } from '../config/testing/load-text.ts';
import { type Authority, createAuthority, issueServerCertificate } from '../lib/certificates.ts';
import { createSystemClock } from '../lib/clock.ts';
import { createLogger, createSilentLogger, type Logger } from '../lib/log.ts';
import { createSystemRandom } from '../lib/random.ts';
import { eventually } from '../lib/testing/eventually.ts';
import { type Operator, startOperator } from '../wire.ts';
import { deploymentObject, namespaceObject } from './testing/embedded-world.ts';

const validity = { notBeforeMillis: Date.UTC(2020, 0, 1), notAfterMillis: Date.UTC(2099, 0, 1) };
const inShop = { namespace: 'shop' };
let authority: Authority;
let keyPair: { cert: string; key: string };

beforeAll(async () => {
  authority = await createAuthority({ commonName: 'test-ca', ...validity });
  const options = { commonName: 'stowage', ipAddresses: ['127.0.0.1'], ...validity };
  const { certificatePem, privateKeyPem } = await issueServerCertificate(authority, options);
  keyPair = { cert: certificatePem, key: privateKeyPem };
});

interface Setting {
  readonly env?: Record<string, string>;
  readonly log?: Logger;
  readonly withKeyPair?: boolean;
}

/** The operator on real sockets and in real time, with the API in the same process. */
async function start({ env = {}, log = createSilentLogger(), withKeyPair = true }: Setting = {}) {
  const clock = createSystemClock();
  const random = createSystemRandom();
  const server = createApiServer({ clock, random });
  const api = server.client();
  for (const name of ['spotalis-system', 'shop']) await api.create(resources.namespaces, namespaceObject(name));
  const { config } = loadConfig({
    text: '',
    fileName: 'defaults',
    env: {
      SPOTALIS_METRICS_BIND_ADDRESS: '127.0.0.1:0',
      SPOTALIS_HEALTH_BIND_ADDRESS: '127.0.0.1:0',
      SPOTALIS_WEB_BIND_ADDRESS: '127.0.0.1:0',
      SPOTALIS_WEBHOOK_CERT_DIR: '/nowhere',
      ...env,
    },
  });
  // Port 0 is for tests only; the configuration refuses it.
  const anyPort = { ...config, webhook: { ...config.webhook, port: 0, shutdownDelay: 0 } };
  onTestFinished(() => server.close());
  const operator = await startOperator({
    config: anyPort,
    api,
    clock,
    random,
    log,
    identity: 'test_1',
    webhookHost: '127.0.0.1',
    ...(withKeyPair && { keyPair }),
  });
  onTestFinished(() => operator.stop());
  await operator.synced;
  return { api, operator };
}

const urlOf = (operator: Operator, kind: 'metrics' | 'health', path: string): string =>
  `http://127.0.0.1:${operator.ports[kind]}${path}`;

describe('case 76: what is served', () => {
  test('health contains ok; readiness turns on when caches, certificate and election are there', async () => {
    const { operator } = await start();
    expect(await (await fetch(urlOf(operator, 'health', '/healthz'))).text()).toContain('ok');
    await eventually(async () => expect((await fetch(urlOf(operator, 'health', '/readyz'))).status).toBe(200));
  });

  test('metrics parse: every required name, no NaN, the leader says so', async () => {
    const { api, operator } = await start();
    const annotations = { 'spotalis.io/spot-percentage': '70' };
    await api.create(resources.deployments, deploymentObject({ name: 'web', replicas: 10, annotations }), inShop);
    const scrape = async () => (await fetch(urlOf(operator, 'metrics', '/metrics'))).text();
    const text = await eventually(async () => {
      const now = await scrape();
      expect(now).toContain('workload="web"');
      expect(now).toContain('spotalis_leader_election_status{controller_name="spotalis-controller"} 1');
      return now;
    });
    for (const name of [
      'spotalis_workload_replicas',
      'spotalis_workload_replicas_desired',
      'spotalis_reconcile_duration_seconds_bucket',
      'spotalis_webhook_requests_total',
      'spotalis_webhook_mutations_total',
      'spotalis_controller_last_seen_timestamp',
      'spotalis_leader_election_status',
      'spotalis_evictions_total',
      'spotalis_disruptions_blocked_total',
      'spotalis_window_open',
      'stowage_informer_objects',
      'stowage_informer_lists_total',
      'stowage_informer_events_total',
      'stowage_api_requests_total',
      'stowage_api_request_duration_seconds_bucket',
      'stowage_workqueue_depth',
      'stowage_workqueue_adds_total',
      'stowage_workqueue_wait_seconds_bucket',
    ]) {
      expect(text).toContain(`\n${name}{`);
    }
    for (const line of text.split('\n')) {
      if (line === '' || line.startsWith('#')) continue;
      expect(line).toMatch(/^[a-zA-Z_:][a-zA-Z0-9_:]*(\{.*\})? (-?[0-9.e+-]+|\+Inf)( \d+)?$/);
    }
    const { validFromDate, validToDate } = new X509Certificate(keyPair.cert);
    expect(text).toContain(`\nstowage_certificate_start_timestamp_seconds ${validFromDate.getTime() / 1000}\n`);
    expect(text).toContain(`\nstowage_certificate_expiry_timestamp_seconds ${validToDate.getTime() / 1000}\n`);
    expect(text).toContain(
      'spotalis_workload_replicas_desired{namespace="shop",workload="web",workload_type="deployment",replica_type="spot"} 7',
    );
  });

  test('series of a workload that is deleted are gone', async () => {
    const { api, operator } = await start();
    const scrape = async () => (await fetch(urlOf(operator, 'metrics', '/metrics'))).text();
    await api.create(resources.deployments, deploymentObject({ name: 'web', replicas: 1 }), inShop);
    await eventually(async () => expect(await scrape()).toContain('workload="web"'));
    await api.delete(resources.deployments, 'web', inShop);
    await eventually(async () => expect(await scrape()).not.toContain('workload="web"'));
  });

  test('explain answers for a workload, and says what is wrong with a question', async () => {
    const { api, operator } = await start();
    await api.create(resources.deployments, deploymentObject({ name: 'web', replicas: 3 }), inShop);
    const ask = (workload: string) =>
      fetch(urlOf(operator, 'metrics', `/explain?workload=${encodeURIComponent(workload)}`));
    await eventually(async () => expect((await ask('Deployment/shop/web')).status).toBe(200));
    expect(await (await ask('Deployment/shop/web')).json()).toMatchObject({ plan: { replicas: 3 } });
    expect((await ask('Deployment/shop/nothing')).status).toBe(404);
    expect(await (await ask('web')).json()).toMatchObject({ code: 'INVALID_WORKLOAD' });
  });

  test('a page of somebody else whose name points here reads no explanation and no journal; scrapers ask by any name', async () => {
    const { operator } = await start();
    const port = operator.ports.metrics ?? 0;
    const ask = (path: string, host: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const call = httpRequest({ host: '127.0.0.1', port, path, headers: { host }, agent: false }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode));
        });
        call.on('error', reject).end();
      });
    for (const path of ['/explain', '/journal']) {
      expect(await ask(path, `evil.example.com:${port}`)).toBe(403);
      expect(await ask(path, 'stowage.stowage-system.svc:8080')).toBe(200);
    }
    expect(await ask('/metrics', 'stowage-metrics:8080')).toBe(200);
  });

  test('with a prices file the scrape tells costs; without a valid one the operator works all the same', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stowage-serving-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const prices = join(folder, 'prices.yaml');
    writeFileSync(prices, 'instanceTypes: { big: { onDemand: 1 } }');
    const { api, operator } = await start({ env: { SPOTALIS_PLACEMENT_PRICES: prices } });
    await api.create(resources.deployments, deploymentObject({ name: 'web', replicas: 1 }), inShop);
    const scrape = async () => (await fetch(urlOf(operator, 'metrics', '/metrics'))).text();
    const series = 'stowage_workload_unpriced_pods{namespace="shop",workload="web",workload_type="deployment"} 0';
    await eventually(async () => expect(await scrape()).toContain(series));

    const broken = await start({ env: { SPOTALIS_PLACEMENT_PRICES: join(folder, 'nowhere.yaml') } });
    expect((await fetch(urlOf(broken.operator, 'metrics', '/metrics'))).status).toBe(200);
  });

  test('the command line shows what the running operator knows', async () => {
    const { api, operator } = await start({ env: { SPOTALIS_OPERATOR_READ_ONLY_MODE: 'true' } });
    await api.create(resources.deployments, deploymentObject({ name: 'web', replicas: 3 }), inShop);
    await api.create(resources.deployments, deploymentObject({ name: 'plain', replicas: 1, labels: {} }), inShop);
    const url = urlOf(operator, 'metrics', '/');
    await eventually(async () => {
      expect((await fetch(`${url}explain`)).status).toBe(200);
      expect(operator.explain({ kind: 'Deployment', ...inShop, name: 'web' })).toBeDefined();
    });
    const { code, stdout } = await runCommand(['explain', 'deploy/shop/web', '--operator', url]);
    expect(stdout).toMatch(/^Deployment\/shop\/web: 0 on spot, 0 on on-demand/);
    expect(stdout).toContain('Next: nothing to move: 3 of 3 replicas are not there');
    expect(code).toBe(0);
    const missing = await runCommand(['explain', 'deploy/shop/nothing', '--operator', url]);
    expect(missing.stderr).toContain('says: there is no Deployment/shop/nothing');
    const fleet: unknown = await (await fetch(`${url}explain`)).json();
    expect(fleet).toMatchObject({
      isLeader: expect.any(Boolean),
      workloads: [{ workload: 'Deployment/shop/web', blocks: [] }],
    });
  });

  /** @returns the body of the webhook's answer. */
  const review = (operator: Operator, request: object): Promise<string> =>
    new Promise<string>((resolve, reject) => {
      const body = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request });
      const options = { host: '127.0.0.1', port: operator.ports.webhook, path: '/mutate', method: 'POST' };
      const headers = { 'content-type': 'application/json' };
      const call = httpsRequest({ ...options, headers, ca: authority.certificatePem, agent: false }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => resolve(text));
      });
      call.on('error', reject);
      call.end(body);
    });

  test('the webhook answers over TLS; whoever asks it makes no series of his own', async () => {
    const { operator } = await start();
    const request = { uid: 'r1', operation: 'CREATE', kind: { group: '', version: 'v1', kind: 'Pod' }, object: {} };
    expect(JSON.parse(await review(operator, request))).toMatchObject({ response: { uid: 'r1', allowed: true } });
    for (let index = 0; index < 3; index++) {
      const madeUp = { uid: 'r2', operation: `made-up-${index}`, kind: { kind: `Made-up-${index}` }, object: {} };
      expect(JSON.parse(await review(operator, madeUp))).toMatchObject({ response: { allowed: true } });
    }
    const text = await (await fetch(urlOf(operator, 'metrics', '/metrics'))).text();
    expect(text).not.toMatch(/made-up/i);
    expect(text).toContain('{operation="other",resource_kind="other",result="allowed"} 3');
  });

  test('logs are JSON with level, time, msg and logger', async () => {
    const lines: string[] = [];
    const log = createLogger({
      level: 'info',
      format: 'json',
      clock: createSystemClock(),
      write: (line) => lines.push(line),
    });
    const { operator } = await start({ log });
    await operator.stop();
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines)
      expect(JSON.parse(line)).toMatchObject({
        level: expect.any(String),
        time: expect.any(String),
        msg: expect.any(String),
      });
    expect(lines.some((line) => JSON.parse(line).logger === 'webhook')).toBe(true);
  });
});

describe('start and stop', () => {
  test('each server can be switched off', async () => {
    const off = {
      SPOTALIS_WEBHOOK_ENABLED: 'false',
      SPOTALIS_METRICS_ENABLED: 'false',
      SPOTALIS_HEALTH_ENABLED: 'false',
      SPOTALIS_WEB_ENABLED: 'false',
    };
    const { operator } = await start({ env: off });
    expect(operator.ports).toEqual({
      webhook: undefined,
      metrics: undefined,
      health: undefined,
      dashboard: undefined,
    });
  });

  test('without a certificate the start fails with the file and the key to set, and leaves no port open', async () => {
    await expect(start({ withKeyPair: false })).rejects.toThrow(
      /\/nowhere\/tls\.crt cannot be read .*webhook\.certDir/,
    );
  });

  test('stopping twice is stopping once, and every port is closed', async () => {
    const { operator } = await start();
    const url = urlOf(operator, 'health', '/healthz');
    await Promise.all([operator.stop(), operator.stop()]);
    await operator.ended;
    await expect(fetch(url)).rejects.toThrow();
  });

  test('settings that can change in a running process do so', async () => {
    const { api, operator } = await start();
    await api.create(resources.deployments, deploymentObject({ name: 'web', replicas: 10 }), inShop);
    const target = () => operator.explain({ kind: 'Deployment', ...inShop, name: 'web' })?.plan.target;
    await eventually(() => expect(target()).toBeDefined());
    expect(target()).toEqual({ spot: 0, onDemand: 10 });
    // An engine does not come or go in a running process: that key waits for the next start.
    const env = { SPOTALIS_PLACEMENT_DEFAULTS_SPOT_PERCENTAGE: '50', SPOTALIS_ENGINES_PLACEMENT: 'false' };
    operator.applyConfig(configOf('', env));
    expect(target()).toEqual({ spot: 5, onDemand: 5 });
  });
});
