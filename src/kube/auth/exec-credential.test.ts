import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { describeError } from '../../lib/errors.ts';
import { eventually } from '../../lib/testing/eventually.ts';
import { base64, useKubeconfigs } from '../testing/kubeconfig-fixture.ts';

const fixture = useKubeconfigs();

describe('exec plugin', () => {
  const version = 'client.authentication.k8s.io/v1';

  /** A plugin that counts its runs and answers with what the shell makes of `status`. */
  async function plugin(
    status: string,
    { more = {}, script, cluster = {} }: { more?: object; script?: string; cluster?: object } = {},
  ) {
    const runs = join(fixture.folder, 'runs');
    const answer = `{"apiVersion":"${version}","kind":"ExecCredential","status":${status}}`;
    const body = script ?? `echo run >> ${runs}; cat <<END\n${answer}\nEND`;
    await writeFile(join(fixture.folder, 'plugin.sh'), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
    const user = { exec: { apiVersion: version, command: './plugin.sh', ...more } };
    const { credentials } = await fixture.load(await fixture.write({ cluster, user }));
    return { credentials, runs: async () => (await readFile(runs, 'utf8')).split('\n').length - 1 };
  }

  test('exec plugin expiry: one run serves all until the token expires, then one more', async () => {
    const expires = new Date(fixture.clock.now() + 60_000).toISOString();
    const { credentials, runs } = await plugin(`{"token":"secret-token","expirationTimestamp":"${expires}"}`);
    const all = await Promise.all(Array.from({ length: 5 }, () => credentials.current()));
    expect(all).toEqual(Array(5).fill({ token: 'secret-token' }));
    await fixture.clock.advance(59_000);
    await credentials.current();
    expect(await runs()).toBe(1);
    await fixture.clock.advance(2_000);
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
    const seen = join(fixture.folder, 'seen');
    const { credentials } = await plugin('', {
      script: `printf '%s|%s|%s' "$1" "$EXTRA" "$KUBERNETES_EXEC_INFO" > ${seen}; echo '{"apiVersion":"${version}","kind":"ExecCredential","status":{"clientCertificateData":"C","clientKeyData":"K"}}'`,
      more: { args: ['get token'], env: [{ name: 'EXTRA', value: 'x' }], provideClusterInfo: true },
      cluster: { 'proxy-url': 'http://bastion:8888' },
    });
    expect(await credentials.current()).toEqual({ certificate: 'C', privateKey: 'K' });
    const [argument, extra, info = ''] = (await readFile(seen, 'utf8')).split('|');
    expect([argument, extra]).toEqual(['get token', 'x']);
    expect(JSON.parse(info)).toEqual({
      apiVersion: version,
      kind: 'ExecCredential',
      spec: {
        interactive: false,
        cluster: { server: 'https://api.example:6443/', 'proxy-url': 'http://bastion:8888' },
      },
    });
  });

  test('an authority in a file reaches it as data, and so does what the cluster says to plugins', async () => {
    const seen = join(fixture.folder, 'seen');
    await writeFile(join(fixture.folder, 'ca.crt'), 'THE CA');
    const { credentials } = await plugin('', {
      script: `printf '%s' "$KUBERNETES_EXEC_INFO" > ${seen}; echo '{"apiVersion":"${version}","kind":"ExecCredential","status":{"token":"t"}}'`,
      more: { provideClusterInfo: true },
      cluster: {
        'certificate-authority': 'ca.crt',
        extensions: [
          { name: 'other', extension: { a: 1 } },
          { name: 'client.authentication.k8s.io/exec', extension: { audience: 'shop' } },
        ],
      },
    });
    expect(await credentials.current()).toEqual({ token: 't' });
    const { spec } = JSON.parse(await readFile(seen, 'utf8'));
    expect(spec.cluster).toEqual({
      server: 'https://api.example:6443/',
      'certificate-authority-data': base64('THE CA'),
      config: { audience: 'shop' },
    });
    await rm(join(fixture.folder, 'ca.crt'));
    credentials.invalidate(await credentials.current());
    await expect(credentials.current()).rejects.toThrow(
      /Cannot read the CA certificate .*ca\.crt: there is no such file/,
    );
  });

  test.each([
    ['a token', { token: 'own' }, { token: 'own' }],
    [
      'a client certificate',
      { 'client-certificate-data': base64('C'), 'client-key-data': base64('K') },
      { certificate: 'C', privateKey: 'K' },
    ],
  ])('beside %s it is not asked, as kubectl does', async (_, own, expected) => {
    const exec = { apiVersion: version, command: 'stowage-no-such-plugin' };
    expect(await (await fixture.loadUser({ ...own, exec })).current()).toEqual(expected);
  });

  test('a command that is not installed: the hint of the kubeconfig is shown', async () => {
    const exec = { apiVersion: version, command: 'stowage-no-such-plugin', installHint: 'Get it from example.com' };
    const credentials = await fixture.loadUser({ exec });
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

  test('a plugin that waits for somebody to sign in is ended after a minute, and what it said is told', async () => {
    const waits = join(fixture.folder, 'waits');
    const script = `echo "To sign in, open https://login.example and enter ABC" >&2; touch ${waits}; exec sleep 600`;
    const { credentials } = await plugin('', { script });
    const failed = credentials.current().catch(describeError);
    await eventually(async () => expect(await readFile(waits, 'utf8')).toBe(''));
    // What was said before is read by now.
    await setImmediate();
    await fixture.clock.advance(60_000);
    expect(await failed).toMatch(/did not end within 60 s: To sign in, open https:\/\/login\.example and enter ABC\.$/);
  });

  test('a plugin that failed is asked again at the next request', async () => {
    const { credentials } = await plugin('', {
      script: `test -e ${fixture.folder}/ready || exit 1; echo '{"apiVersion":"${version}","kind":"ExecCredential","status":{"token":"t"}}'`,
    });
    await expect(credentials.current()).rejects.toThrow(/exit code 1/);
    await writeFile(join(fixture.folder, 'ready'), '');
    expect(await credentials.current()).toEqual({ token: 't' });
  });
});
