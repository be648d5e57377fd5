import { mkdir, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { describeError } from '../../lib/errors.ts';
import { base64, type KubeconfigParts, useKubeconfigs } from '../testing/kubeconfig-fixture.ts';
import { loadConnection } from './load-connection.ts';

const fixture = useKubeconfigs();

describe('kubeconfig', () => {
  test('server, namespace, trust and impersonation of the current context', async () => {
    const path = await fixture.write({
      cluster: { 'certificate-authority-data': base64('THE CA'), 'tls-server-name': 'inner' },
      user: { token: 't', as: 'jane', 'as-uid': 7, 'as-groups': ['g'], 'as-user-extra': { k: ['v'] } },
      context: { namespace: 'team' },
    });
    const connection = await fixture.load(path);
    expect(connection.server.href).toBe('https://api.example:6443/');
    expect(connection.namespace).toBe('team');
    expect(connection.description).toContain('context "c"');
    expect(await connection.trust.current()).toEqual({ ca: 'THE CA', serverName: 'inner' });
    expect(await connection.credentials.current()).toEqual({ token: 't' });
    expect(connection.impersonation).toEqual({ user: 'jane', uid: '7', groups: ['g'], extra: { k: ['v'] } });
  });

  test('the way leads through the proxy-url of the cluster, else through that of the environment', async () => {
    const own = await fixture.load(await fixture.write({ cluster: { 'proxy-url': 'http://bastion:8888' } }));
    expect(own.proxy?.href).toBe('http://bastion:8888/');
    const kubeconfig = await fixture.write({});
    const given = { kubeconfig, homeDirectory: fixture.folder, clock: fixture.clock };
    const proxied = await loadConnection({ ...given, env: { HTTPS_PROXY: 'http://corp:3128' } });
    expect(proxied.proxy?.href).toBe('http://corp:3128/');
    expect(await loadConnection({ ...given, env: {} })).not.toHaveProperty('proxy');
  });

  test('client certificate from data, and from files relative to the kubeconfig; data wins', async () => {
    await mkdir(join(fixture.folder, 'pki'));
    for (const name of ['cert', 'key', 'ca']) await writeFile(join(fixture.folder, 'pki', name), `${name} file`);
    const files = { 'client-certificate': 'pki/cert', 'client-key': 'pki/key' };
    expect(await (await fixture.loadUser(files)).current()).toEqual({
      certificate: 'cert file',
      privateKey: 'key file',
    });
    const both = { ...files, 'client-certificate-data': base64('cert data'), 'client-key-data': base64('key data') };
    expect(await (await fixture.loadUser(both)).current()).toEqual({
      certificate: 'cert data',
      privateKey: 'key data',
    });
    const connection = await fixture.load(await fixture.write({ cluster: { 'certificate-authority': 'pki/ca' } }));
    expect(await connection.trust.current()).toEqual({ ca: 'ca file' });
  });

  test('a token file wins over a token and is read again after a minute, and at once after a refusal', async () => {
    const token = join(fixture.folder, 'token');
    await writeFile(token, 'one\n');
    const credentials = await fixture.loadUser({ token: 'fixed', tokenFile: 'token' });
    expect(await credentials.current()).toEqual({ token: 'one' });
    await writeFile(token, 'two');
    await fixture.clock.advance(59_000);
    expect(await credentials.current()).toEqual({ token: 'one' });
    await fixture.clock.advance(2_000);
    expect(await credentials.current()).toEqual({ token: 'two' });
    await writeFile(token, 'three');
    credentials.invalidate({});
    expect(await credentials.current()).toEqual({ token: 'three' });
  });

  test('while a file is empty or gone, the last good text is used', async () => {
    const token = join(fixture.folder, 'token');
    await writeFile(token, 'good');
    const credentials = await fixture.loadUser({ tokenFile: 'token' });
    await credentials.current();
    await writeFile(token, '');
    credentials.invalidate({});
    expect(await credentials.current()).toEqual({ token: 'good' });
    await rm(token);
    credentials.invalidate({});
    expect(await credentials.current()).toEqual({ token: 'good' });
  });

  test('several files of KUBECONFIG merge: the first that has a name, or a current context, wins; missing ones are skipped', async () => {
    const first = join(fixture.folder, 'first');
    await writeFile(first, stringify({ users: [{ name: 'u', user: { token: 'from first' } }] }));
    const second = await fixture.write({ user: { token: 'from second' }, current: 'c' }, 'second');
    const env = { KUBECONFIG: [join(fixture.folder, 'missing'), first, second].join(delimiter) };
    const connection = await loadConnection({ env, homeDirectory: fixture.folder, clock: fixture.clock });
    expect(await connection.credentials.current()).toEqual({ token: 'from first' });
    expect(connection.server.hostname).toBe('api.example');
  });

  test('insecure-skip-tls-verify is honoured, but not beside a CA', async () => {
    const open = await fixture.load(await fixture.write({ cluster: { 'insecure-skip-tls-verify': true } }));
    expect(await open.trust.current()).toEqual({ isInsecure: true });
    const path = await fixture.write({
      cluster: { 'insecure-skip-tls-verify': true, 'certificate-authority-data': base64('x') },
    });
    await expect(fixture.load(path)).rejects.toThrow(/both a certificate-authority and insecure-skip-tls-verify/);
  });

  test('a context without a user is anonymous; plain http and a missing scheme are taken as kubectl takes them', async () => {
    const http = await fixture.load(
      await fixture.write({ cluster: { server: 'http://127.0.0.1:8001' }, context: { user: undefined } }),
    );
    expect(http.server.protocol).toBe('http:');
    expect(await http.credentials.current()).toEqual({});
    expect((await fixture.load(await fixture.write({ cluster: { server: 'api.example' } }))).server.href).toBe(
      'https://api.example/',
    );
  });

  test.each([
    ['basic authentication', { user: { username: 'a', password: 'b' } }, /dropped basic authentication/],
    ['the old OIDC provider', { user: { 'auth-provider': { name: 'oidc' } } }, /old auth-provider.*exec plugin/],
    ['a SOCKS proxy', { cluster: { 'proxy-url': 'socks5://p' } }, /proxy-url.*supported.*kubectl proxy/],
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
  ] as [string, KubeconfigParts, RegExp][])(
    '%s is refused with a message that says where',
    async (_, parts, message) => {
      const error = await fixture.load(await fixture.write(parts)).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: 'KUBECONFIG', message: expect.stringMatching(message) });
      expect(String(error)).toContain(fixture.folder);
    },
  );

  test('of a file that is not YAML nothing is quoted: it holds credentials', async () => {
    const path = join(fixture.folder, 'broken');
    await writeFile(path, 'users:\n- name: me\n  user: {token: t0p-secret\n');
    const error: unknown = await fixture.load(path).catch((thrown: unknown) => thrown);
    expect(describeError(error)).toMatch(/not valid YAML: .* at line \d+, column \d+$/);
    expect(`${describeError(error)}${error instanceof Error ? error.stack : ''}`).not.toContain('t0p-secret');
  });

  test.each([
    ['not YAML', 'a: [', /not valid YAML/],
    ['no mapping', '- a', /should be a mapping/],
    ['clusters that are no list', 'clusters: {}', /"clusters" should be a list/],
    ['an entry without a name', 'users: [{}]', /each of "users" needs a name/],
    ['an empty file', '', /has no contexts/],
  ])('a file with %s is refused', async (_, text, message) => {
    const path = join(fixture.folder, 'odd');
    await writeFile(path, text);
    await expect(fixture.load(path)).rejects.toThrow(message);
  });

  test('a file that is not there is named', async () => {
    await expect(fixture.load(join(fixture.folder, 'nowhere'))).rejects.toThrow(
      /Cannot read the kubeconfig .*nowhere: there is no such file\. Name another with --kubeconfig/,
    );
  });
});
