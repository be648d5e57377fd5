import { describe, expect, test } from 'vitest';
import { proxyFor } from './proxy-choice.ts';

const SERVER = 'https://api.corp.example:6443';
const cluster = (fields: Record<string, unknown> = {}) => ({ fields, directory: '/', file: 'config' });
const choose = (env: Record<string, string>, { server = SERVER, fields = {} } = {}) =>
  proxyFor(new URL(server), cluster(fields), 'k', env)?.href;

describe('the proxy of the kubeconfig', () => {
  test('beats that of the environment, whatever is exempt there', () => {
    const env = { HTTPS_PROXY: 'http://env:1', NO_PROXY: '*' };
    expect(choose(env, { fields: { 'proxy-url': 'https://own:8443' } })).toBe('https://own:8443/');
  });

  test.each(['socks5://p:1', 'ftp://p', 'http://', '::'])('%s is refused, and is not repeated', (url) => {
    const refuse = () => choose({}, { fields: { 'proxy-url': url } });
    expect(refuse).toThrow(/The proxy-url of cluster "k" in config is no http or https URL.*kubectl proxy/);
  });

  test('is refused for a plain server', () => {
    const refuse = () => choose({}, { server: 'http://127.0.0.1:8001', fields: { 'proxy-url': 'http://p' } });
    expect(refuse).toThrow(/proxy-url and an http server/);
  });
});

describe('the proxy of the environment', () => {
  test.each<[string, Record<string, string>, string | undefined]>([
    ['none', {}, undefined],
    ['an empty one', { HTTPS_PROXY: '' }, undefined],
    ['capitals come first', { HTTPS_PROXY: 'http://a:1', https_proxy: 'http://b:1' }, 'http://a:1/'],
    ['small letters', { https_proxy: 'http://b:1' }, 'http://b:1/'],
    ['without a scheme', { HTTPS_PROXY: 'proxy:3128' }, 'http://proxy:3128/'],
    ['with who asks', { HTTPS_PROXY: 'http://u:p@proxy:3128' }, 'http://u:p@proxy:3128/'],
    ['that of plain HTTP is another', { HTTP_PROXY: 'http://a:1' }, undefined],
  ])('%s', (_, env, expected) => {
    expect(choose(env)).toBe(expected);
  });

  test('of another kind is refused by the name of its variable, without its password', () => {
    const refuse = () => choose({ https_proxy: 'socks5://u:secret@p:1' });
    expect(refuse).toThrow(/^https_proxy is no http or https URL.*NO_PROXY/);
    expect(refuse).not.toThrow(/secret/);
  });

  test('does not lead to plain servers', () => {
    expect(choose({ HTTPS_PROXY: 'http://a:1' }, { server: 'http://api.corp.example' })).toBeUndefined();
  });

  test.each<[server: string, exempt: string, isExempt: boolean]>([
    ['https://api.corp.example', '*', true],
    ['https://api.corp.example', 'other.example, corp.example', true],
    ['https://api.corp.example', 'API.corp.example', true],
    ['https://api.corp.example', '.corp.example', true],
    ['https://api.corp.example', '*.corp.example', true],
    ['https://corp.example', '.corp.example', false],
    ['https://corp.example', 'corp.example', true],
    ['https://api.corp.example', 'orp.example', false],
    ['https://api.corp.example:6443', 'corp.example:6443', true],
    ['https://api.corp.example:6443', 'corp.example:443', false],
    ['https://api.corp.example', 'corp.example:443', true],
    ['https://10.1.2.3:6443', '10.0.0.0/8', true],
    ['https://11.1.2.3:6443', '10.0.0.0/8', false],
    ['https://10.1.2.3:6443', '10.1.2.3', true],
    ['https://10.1.2.3:6443', '2.3', false],
    ['https://10.1.2.3:6443', '10.1.2.3:6443', true],
    ['https://[fd00::1]:6443', 'fd00::/8', true],
    ['https://[fd00::1]:6443', 'fd00::1', true],
    ['https://[fd00::1]:6443', '[fd00::1]:6443', true],
    ['https://10.1.2.3', '10.0.0.0/99,nonsense/8,/', false],
    ['https://api.corp.example', ' , ,', false],
    ['https://localhost:6443', '', true],
    ['https://127.0.0.9:6443', '', true],
    ['https://[::1]:6443', '', true],
  ])('to %s, where NO_PROXY is "%s": exempt %s', (server, exempt, isExempt) => {
    const expected = isExempt ? undefined : 'http://p:1/';
    expect(choose({ HTTPS_PROXY: 'http://p:1', NO_PROXY: exempt }, { server })).toBe(expected);
    expect(choose({ HTTPS_PROXY: 'http://p:1', no_proxy: exempt }, { server })).toBe(expected);
  });
});
