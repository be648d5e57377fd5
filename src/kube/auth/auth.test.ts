import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { loadConnection } from './load-connection.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stowage-auth-'));
});
afterEach(() => rm(folder, { recursive: true }));

const clock = createVirtualClock(1_700_000_000_000);
const base64 = (text: string): string => Buffer.from(text).toString('base64');

interface Parts {
  readonly cluster?: object;
  readonly user?: object;
  readonly context?: object;
  readonly current?: string;
}

async function kubeconfig(
  { cluster = {}, user = {}, context = {}, current = 'c' }: Parts,
  file = 'config',
): Promise<string> {
  const path = join(folder, file);
  const document = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': current,
    clusters: [{ name: 'k', cluster: { server: 'https://api.example:6443', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u', ...context } }],
  };
  await writeFile(path, stringify(document));
  return path;
}

const load = (kubeconfigPath: string, more: { context?: string; env?: Record<string, string> } = {}) =>
  loadConnection({
    kubeconfig: kubeconfigPath,
    env: { PATH: process.env['PATH'], ...more.env },
    homeDirectory: folder,
    clock,
    ...more,
  });

async function loadUser(user: object) {
  return (await load(await kubeconfig({ user }))).credentials;
}

describe('kubeconfig', () => {
  test('server, namespace, trust and impersonation of the current context', async () => {
    const path = await kubeconfig({
      cluster: { 'certificate-authority-data': base64('THE CA'), 'tls-server-name': 'inner' },
      user: { token: 't', as: 'jane', 'as-uid': 7, 'as-groups': ['g'], 'as-user-extra': { k: ['v'] } },
      context: { namespace: 'team' },
    });
    const connection = await load(path);
    expect(connection.server.href).toBe('https://api.example:6443/');
    expect(connection.namespace).toBe('team');
    expect(connection.description).toContain('context "c"');
    expect(await connection.trust.current()).toEqual({ ca: 'THE CA', serverName: 'inner' });
    expect(await connection.credentials.current()).toEqual({ token: 't' });
    expect(connection.impersonation).toEqual({ user: 'jane', uid: '7', groups: ['g'], extra: { k: ['v'] } });
  });

  test('client certificate from data, and from files relative to the kubeconfig; data wins', async () => {
    await mkdir(join(folder, 'pki'));
    for (const name of ['cert', 'key', 'ca']) await writeFile(join(folder, 'pki', name), `${name} file`);
    const files = { 'client-certificate': 'pki/cert', 'client-key': 'pki/key' };
    expect(await (await loadUser(files)).current()).toEqual({ certificate: 'cert file', privateKey: 'key file' });
    const both = { ...files, 'client-certificate-data': base64('cert data'), 'client-key-data': base64('key data') };
    expect(await (await loadUser(both)).current()).toEqual({ certificate: 'cert data', privateKey: 'key data' });
    const connection = await load(await kubeconfig({ cluster: { 'certificate-authority': 'pki/ca' } }));
    expect(await connection.trust.current()).toEqual({ ca: 'ca file' });
  });

  test('a token file wins over a token and is read again after a minute, and at once after a refusal', async () => {
    const token = join(folder, 'token');
    await writeFile(token, 'one\n');
    const credentials = await loadUser({ token: 'fixed', tokenFile: 'token' });
    expect(await credentials.current()).toEqual({ token: 'one' });
    await writeFile(token, 'two');
    await clock.advance(59_000);
    expect(await credentials.current()).toEqual({ token: 'one' });
    await clock.advance(2_000);
    expect(await credentials.current()).toEqual({ token: 'two' });
    await writeFile(token, 'three');
    credentials.invalidate({});
    expect(await credentials.current()).toEqual({ token: 'three' });
  });

  test('while a file is empty or gone, the last good text is used', async () => {
    const token = join(folder, 'token');
    await writeFile(token, 'good');
    const credentials = await loadUser({ tokenFile: 'token' });
    await credentials.current();
    await writeFile(token, '');
    credentials.invalidate({});
    expect(await credentials.current()).toEqual({ token: 'good' });
    await rm(token);
    credentials.invalidate({});
    expect(await credentials.current()).toEqual({ token: 'good' });
  });

  test('several files of KUBECONFIG merge: the first that has a name, or a current context, wins; missing ones are skipped', async () => {
    const first = join(folder, 'first');
    await writeFile(first, stringify({ users: [{ name: 'u', user: { token: 'from first' } }] }));
    const second = await kubeconfig({ user: { token: 'from second' }, current: 'c' }, 'second');
    const env = { KUBECONFIG: [join(folder, 'missing'), first, second].join(delimiter) };
    const connection = await loadConnection({ env, homeDirectory: folder, clock });
    expect(await connection.credentials.current()).toEqual({ token: 'from first' });
    expect(connection.server.hostname).toBe('api.example');
  });

  test('insecure-skip-tls-verify is honoured, but not beside a CA', async () => {
    const open = await load(await kubeconfig({ cluster: { 'insecure-skip-tls-verify': true } }));
    expect(await open.trust.current()).toEqual({ isInsecure: true });
    const path = await kubeconfig({
      cluster: { 'insecure-skip-tls-verify': true, 'certificate-authority-data': base64('x') },
    });
    await expect(load(path)).rejects.toThrow(/both a certificate-authority and insecure-skip-tls-verify/);
  });

  test('a context without a user is anonymous; plain http and a missing scheme are taken as kubectl takes them', async () => {
    const http = await load(
      await kubeconfig({ cluster: { server: 'http://127.0.0.1:8001' }, context: { user: undefined } }),
    );
    expect(http.server.protocol).toBe('http:');
    expect(await http.credentials.current()).toEqual({});
    expect((await load(await kubeconfig({ cluster: { server: 'api.example' } }))).server.href).toBe(
      'https://api.example/',
    );
  });

  test.each([
    ['basic authentication', { user: { username: 'a', password: 'b' } }, /dropped basic authentication/],
    ['the old OIDC provider', { user: { 'auth-provider': { name: 'oidc' } } }, /old auth-provider.*exec plugin/],
    ['a proxy', { cluster: { 'proxy-url': 'http://p' } }, /proxy-url.*not supported.*kubectl proxy/],
    ['a certificate without a key', { user: { 'client-certificate-data': base64('x') } }, /lacks the client-key/],
    ['a key without a certificate', { user: { 'client-key-data': base64('x') } }, /lacks the client-certificate/],
    [
      'data that is not base64',
      { cluster: { 'certificate-authority-data': '***' } },
      /certificate-authority-data of cluster "k".*not base64/,
    ],
    ['a server that is no URL', { cluster: { server: 'ftp://x' } }, /"ftp:\/\/x".*no http or https URL/],
    ['no server', { cluster: { server: '' } }, /Cluster "k".*no server/],
    ['an unknown context', { current: 'x' }, /no "x" in contexts; there are: c/],
    ['no current context', { current: '' }, /no current-context; choose one of: c/],
    ['an unknown cluster', { context: { cluster: 'x' } }, /no "x" in clusters; there are: k/],
    ['an unknown user', { context: { user: 'x' } }, /no "x" in users; there are: u/],
    [
      'exec without a command',
      { user: { exec: { apiVersion: 'client.authentication.k8s.io/v1' } } },
      /exec section of user "u".*no command/,
    ],
    [
      'exec of an old version',
      { user: { exec: { command: 'x', apiVersion: 'client.authentication.k8s.io/v1alpha1' } } },
      /v1alpha1.*supported are/,
    ],
    [
      'exec that needs a terminal',
      { user: { exec: { command: 'x', apiVersion: 'client.authentication.k8s.io/v1', interactiveMode: 'Always' } } },
      /needs a terminal/,
    ],
  ] as [string, Parts, RegExp][])('%s is refused with a message that says where', async (_, parts, message) => {
    const error = await load(await kubeconfig(parts)).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'KUBECONFIG', message: expect.stringMatching(message) });
    expect(String(error)).toContain(folder);
  });

  test.each([
    ['not YAML', 'a: [', /not valid YAML/],
    ['no mapping', '- a', /should be a mapping/],
    ['clusters that are no list', 'clusters: {}', /"clusters" should be a list/],
    ['an entry without a name', 'users: [{}]', /each of "users" needs a name/],
    ['an empty file', '', /no current-context/],
  ])('a file with %s is refused', async (_, text, message) => {
    const path = join(folder, 'odd');
    await writeFile(path, text);
    await expect(load(path)).rejects.toThrow(message);
  });

  test('a file that is not there is named', async () => {
    await expect(load(join(folder, 'nowhere'))).rejects.toThrow(/Cannot read the kubeconfig .*nowhere.*ENOENT/);
  });
});

describe('in the cluster', () => {
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };

  test('token, CA and namespace come from the service account; a kubeconfig of the home folder does not matter', async () => {
    for (const [name, text] of [
      ['token', 't1\n'],
      ['ca.crt', 'CA'],
      ['namespace', 'stowage-system\n'],
    ] as const) {
      await writeFile(join(folder, name), text);
    }
    const connection = await loadConnection({ env, homeDirectory: folder, clock, serviceAccountDirectory: folder });
    expect(connection.server.href).toBe('https://[fd00::1]/');
    expect(connection.namespace).toBe('stowage-system');
    expect(await connection.credentials.current()).toEqual({ token: 't1' });
    expect(await connection.trust.current()).toEqual({ ca: 'CA' });
    // CA rotation: read again once a connection was refused.
    await writeFile(join(folder, 'ca.crt'), 'NEXT CA');
    expect(await connection.trust.current()).toEqual({ ca: 'CA' });
    connection.trust.invalidate();
    expect(await connection.trust.current()).toEqual({ ca: 'NEXT CA' });
  });

  test('a pod without a mounted token is told so', async () => {
    await expect(
      loadConnection({ env, homeDirectory: folder, clock, serviceAccountDirectory: folder }),
    ).rejects.toThrow(/Cannot read the service account token at/);
  });

  test('outside, ~/.kube/config is used', async () => {
    await mkdir(join(folder, '.kube'));
    await kubeconfig({ user: { token: 'home' } }, '.kube/config');
    const connection = await loadConnection({ env: {}, homeDirectory: folder, clock });
    expect(await connection.credentials.current()).toEqual({ token: 'home' });
  });
});

describe('exec plugin', () => {
  const version = 'client.authentication.k8s.io/v1';

  /** A plugin that counts its runs and answers with what the shell makes of `status`. */
  async function plugin(status: string, { more = {}, script }: { more?: object; script?: string } = {}) {
    const runs = join(folder, 'runs');
    const answer = `{"apiVersion":"${version}","kind":"ExecCredential","status":${status}}`;
    const body = script ?? `echo run >> ${runs}; cat <<END\n${answer}\nEND`;
    await writeFile(join(folder, 'plugin.sh'), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
    const credentials = await loadUser({ exec: { apiVersion: version, command: './plugin.sh', ...more } });
    const { readFile } = await import('node:fs/promises');
    return { credentials, runs: async () => (await readFile(runs, 'utf8')).split('\n').length - 1 };
  }

  test('exec plugin expiry: one run serves all until the token expires, then one more', async () => {
    const expires = new Date(clock.now() + 60_000).toISOString();
    const { credentials, runs } = await plugin(`{"token":"secret-token","expirationTimestamp":"${expires}"}`);
    const all = await Promise.all(Array.from({ length: 5 }, () => credentials.current()));
    expect(all).toEqual(Array(5).fill({ token: 'secret-token' }));
    await clock.advance(59_000);
    await credentials.current();
    expect(await runs()).toBe(1);
    await clock.advance(2_000);
    await credentials.current();
    expect(await runs()).toBe(2);
  });

  test('after a 401 the plugin runs again though nothing expired; late refusals of the old token do not cause another run', async () => {
    const { credentials, runs } = await plugin('{"token":"t"}');
    const old = await credentials.current();
    credentials.invalidate(old);
    await credentials.current();
    credentials.invalidate(old);
    await credentials.current();
    expect(await runs()).toBe(2);
  });

  test('arguments, environment and cluster information reach the plugin', async () => {
    const seen = join(folder, 'seen');
    const { credentials } = await plugin('', {
      script: `printf '%s|%s|%s' "$1" "$EXTRA" "$KUBERNETES_EXEC_INFO" > ${seen}; echo '{"apiVersion":"${version}","kind":"ExecCredential","status":{"clientCertificateData":"C","clientKeyData":"K"}}'`,
      more: { args: ['get token'], env: [{ name: 'EXTRA', value: 'x' }], provideClusterInfo: true },
    });
    expect(await credentials.current()).toEqual({ certificate: 'C', privateKey: 'K' });
    const { readFile } = await import('node:fs/promises');
    const [argument, extra, info = ''] = (await readFile(seen, 'utf8')).split('|');
    expect([argument, extra]).toEqual(['get token', 'x']);
    expect(JSON.parse(info)).toEqual({
      apiVersion: version,
      kind: 'ExecCredential',
      spec: { interactive: false, cluster: { server: 'https://api.example:6443/' } },
    });
  });

  test('a command that is not installed: the hint of the kubeconfig is shown', async () => {
    const exec = { apiVersion: version, command: 'stowage-no-such-plugin', installHint: 'Get it from example.com' };
    const credentials = await loadUser({ exec });
    await expect(credentials.current()).rejects.toThrow(
      /"stowage-no-such-plugin" of user "u" was not found. Get it from example.com/,
    );
  });

  test.each([
    ['fails', 'echo "log in first" >&2; exit 3', /exit code 3: log in first/],
    ['prints no JSON', 'echo secret-token', /did not print an ExecCredential as JSON/],
    ['prints something else', 'echo "{}"', /did not print an ExecCredential/],
    [
      'answers in another version',
      `echo '{"kind":"ExecCredential","apiVersion":"v9","status":{"token":"t"}}'`,
      /answered in v9/,
    ],
    ['gives no status', `echo '{"kind":"ExecCredential","apiVersion":"${version}"}'`, /without a status/],
    [
      'gives nothing',
      `echo '{"kind":"ExecCredential","apiVersion":"${version}","status":{}}'`,
      /neither a token nor a client certificate/,
    ],
    [
      'gives half a certificate',
      `echo '{"kind":"ExecCredential","apiVersion":"${version}","status":{"clientKeyData":"k"}}'`,
      /certificate without a key, or a key without one/,
    ],
    [
      'gives an odd expiry',
      `echo '{"kind":"ExecCredential","apiVersion":"${version}","status":{"token":"t","expirationTimestamp":"soon"}}'`,
      /"soon", which is no RFC 3339 time/,
    ],
  ])('a plugin that %s is told apart, without its secrets', async (_, script, message) => {
    const { credentials } = await plugin('', { script });
    const error = await credentials.current().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'KUBE_EXEC_CREDENTIAL', message: expect.stringMatching(message) });
    expect(String(error)).not.toContain('secret-token');
  });

  test('a plugin that failed is asked again at the next request', async () => {
    const { credentials } = await plugin('', {
      script: `test -e ${folder}/ready || exit 1; echo '{"apiVersion":"${version}","kind":"ExecCredential","status":{"token":"t"}}'`,
    });
    await expect(credentials.current()).rejects.toThrow(/exit code 1/);
    await writeFile(join(folder, 'ready'), '');
    expect(await credentials.current()).toEqual({ token: 't' });
  });
});
