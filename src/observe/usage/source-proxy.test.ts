import { expect, test } from 'vitest';
import { proxyOfSources } from './source-proxy.ts';

const proxyOf = proxyOfSources({ HTTPS_PROXY: 'http://proxy.corp:3128', NO_PROXY: 'corp.example' });

test.each([
  ['https://prometheus.example', 'http://proxy.corp:3128/'],
  ['https://my.svc-host.example', 'http://proxy.corp:3128/'],
  ['http://prometheus.example', undefined],
  ['https://prometheus.corp.example', undefined],
  ['https://localhost:9090', undefined],
  ['https://127.0.0.1:9090', undefined],
  ['https://prometheus.monitoring.svc:9090', undefined],
  ['https://prometheus.monitoring.svc.cluster.local', undefined],
])('the way to %s', (server, expected) => {
  expect(proxyOf(new URL(server))?.href).toBe(expected);
});

test('without one every server is asked directly; one that cannot be used is refused, and is not repeated', () => {
  const server = new URL('https://prometheus.example');
  expect(proxyOfSources({})(server)).toBeUndefined();
  const refuse = () => proxyOfSources({ https_proxy: 'socks5://u:secret@p:1' })(server);
  expect(refuse).toThrow(/^https_proxy is no http or https URL.*name prometheus\.example in NO_PROXY/);
  expect(refuse).not.toThrow(/secret/);
});
