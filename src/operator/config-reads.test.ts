/** Every key of the configuration is read by the program: a key that does nothing passes for a promise. */
import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { resources } from '../api/resources.ts';
import { createApiServer } from '../cluster/apiserver/api-server.ts';
import { checkConfig } from '../config/checks.ts';
import { loadConfig } from '../config/load.ts';
import { type Config, type ConfigTree, configTree, isConfigKey, listConfigKeys } from '../config/schema.ts';
import { createSystemClock } from '../lib/clock.ts';
import { createSilentLogger } from '../lib/log.ts';
import { createSystemRandom } from '../lib/random.ts';
import { eventually } from '../lib/testing/eventually.ts';
import { startOperator } from '../wire.ts';
import { placementSettingsOf } from './placement-settings.ts';
import { deploymentObject, namespaceObject } from './testing/embedded-world.ts';

/** The configuration, and the paths of the keys that are read from it. */
function trackReads(config: Config): { readonly config: Config; readonly read: ReadonlySet<string> } {
  const read = new Set<string>();
  const track = (values: object, tree: ConfigTree, prefix: string): object =>
    new Proxy(values, {
      get(target, name, receiver) {
        const value: unknown = Reflect.get(target, name, receiver);
        const node = typeof name === 'string' ? tree[name] : undefined;
        const path = `${prefix}${String(name)}`;
        if (node === undefined) return value;
        if (isConfigKey(node)) read.add(path);
        return isConfigKey(node) || typeof value !== 'object' || value === null
          ? value
          : track(value, node, `${path}.`);
      },
    });
  return { config: track(config, configTree, '') as Config, read };
}

/** Read before there is an operator: by the command that starts it. */
const readByCommand = new Map([
  ['controllers.rateLimit.qps', /const \{ qps, burst \} = config\.controllers\.rateLimit;/],
  ['controllers.rateLimit.burst', /const \{ qps, burst \} = config\.controllers\.rateLimit;/],
  ['observability.logging.level', /const \{ level, format \} = config\.observability\.logging;/],
  ['observability.logging.format', /const \{ level, format \} = config\.observability\.logging;/],
]);

/** Keys with a single accepted value so far; any other is refused with a message. */
const refused = new Map<string, (config: Config) => Config>([
  ['placement.surge', (config) => ({ ...config, placement: { ...config.placement, surge: true } })],
]);

const { config: defaults } = loadConfig({
  text: '',
  fileName: 'defaults',
  env: {
    SPOTALIS_METRICS_BIND_ADDRESS: '127.0.0.1:0',
    SPOTALIS_HEALTH_BIND_ADDRESS: '127.0.0.1:0',
    SPOTALIS_WEB_BIND_ADDRESS: '127.0.0.1:0',
  },
});

/** What one life of the operator reads. Port 0 is for tests only; the configuration refuses it. */
async function readsOfLife(webhook: Partial<Config['webhook']>): Promise<ReadonlySet<string>> {
  const engines = { ...defaults.engines, rightsizing: true, allocation: true };
  const tracked = trackReads({ ...defaults, engines, webhook: { ...defaults.webhook, port: 0, ...webhook } });
  // Sections that are handed on as a whole are part of what comes out.
  JSON.stringify([placementSettingsOf(tracked.config), tracked.config.rightsizing.limits]);
  const [clock, random, log] = [createSystemClock(), createSystemRandom(), createSilentLogger()];
  const server = createApiServer({ clock, random });
  onTestFinished(() => server.close());
  const api = server.client();
  for (const name of ['spotalis-system', 'shop']) await api.create(resources.namespaces, namespaceObject(name));
  // Its window is hardly ever open.
  const annotations = { 'spotalis.io/disruption-schedule': '0 0 29 2 *', 'spotalis.io/disruption-duration': '1s' };
  const deployment = deploymentObject({ name: 'web', replicas: 1, annotations });
  await api.create(resources.deployments, deployment, { namespace: 'shop' });
  const options = { config: tracked.config, api, clock, random, log, identity: 'test_1', webhookHost: '127.0.0.1' };
  try {
    const operator = await startOperator(options);
    await operator.synced;
    await eventually(() => expect(tracked.read).toContain('controllers.reconcileInterval'));
    await eventually(() => expect(tracked.read).toContain('rightsizing.reconcileInterval'));
    await eventually(() => expect(tracked.read).toContain('allocation.staleAfter'));
    await operator.stop();
  } catch (error) {
    // There are no certificates in files here; that they were looked for is what counts.
    if (webhook.certificates !== 'files') throw error;
  }
  return tracked.read;
}

test('every key is read, or every value but one is refused', async () => {
  const read = new Set<string>();
  for (const certificates of ['self', 'files'] as const)
    for (const path of await readsOfLife({ certificates, certDir: '/nowhere' })) read.add(path);
  const idle = listConfigKeys()
    .map(({ path }) => path)
    .filter((path) => !read.has(path) && !readByCommand.has(path) && !refused.has(path));
  expect(idle).toEqual([]);
});

test.each([...readByCommand])('%s is read by the command', (_, statement) => {
  const command = readFileSync(new URL('../cli/operator/run-operator.ts', import.meta.url), 'utf8');
  expect(command).toMatch(statement);
});

test.each([...refused])('%s is refused with a message that says what is accepted', (path, change) => {
  const problems = checkConfig(change(defaults));
  expect(problems).toEqual([{ path, message: expect.stringMatching(/not supported.*accepted: false/) }]);
});

test('a key that nobody reads is noticed', () => {
  const { config, read } = trackReads(defaults);
  expect(config.placement.fallback.after).toBe(defaults.placement.fallback.after);
  expect([...read]).toEqual(['placement.fallback.after']);
});
