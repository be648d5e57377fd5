import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkPolicyUrl } from './allowed-url.ts';

const allowed = ['http://prometheus.monitoring.svc:9090', 'https://*.metrics.example.com/tenants/', 'https://10.0.0.5'];

interface Address {
  readonly scheme: string;
  readonly host: string;
  readonly port: string;
  readonly path: readonly string[];
}

describe('addresses that policies may name', () => {
  test.each([
    ['http://prometheus.monitoring.svc:9090', true],
    ['http://prometheus.monitoring.svc:9090/', true],
    ['http://prometheus.monitoring.svc:9090/prometheus', true],
    ['http://PROMETHEUS.monitoring.svc:9090', true],
    ['https://prometheus.monitoring.svc:9090', false],
    ['http://prometheus.monitoring.svc', false],
    ['http://prometheus.monitoring.svc:9091', false],
    ['http://prometheus.monitoring.svc.evil.example:9090', false],
    ['http://prometheus.monitoring.svc:9090@evil.example', false],
    ['http://user:pass@prometheus.monitoring.svc:9090', false],
    ['http://prometheus.monitoring.svc:9090/#x', false],
    ['https://eu.metrics.example.com/tenants/shop', true],
    ['https://a.b.metrics.example.com/tenants', true],
    ['https://metrics.example.com/tenants/shop', false],
    ['https://evilmetrics.example.com/tenants/shop', false],
    ['https://eu.metrics.example.com/tenants-of-others', false],
    ['https://eu.metrics.example.com/tenants/../admin', false],
    ['https://eu.metrics.example.com/tenants/%2e%2e/admin', false],
    ['https://eu.metrics.example.com/tenants/%2e%2e%2fadmin', false],
    ['https://eu.metrics.example.com/tenants/..%2fadmin', false],
    ['https://eu.metrics.example.com/tenants/%252e%252e%252fadmin', false],
    ['https://eu.metrics.example.com/tenants/..%5cadmin', false],
    ['https://eu.metrics.example.com/tenants/..;/admin', false],
    ['https://eu.metrics.example.com/tenants/shop?extra_label=tenant=other', false],
    ['http://prometheus.monitoring.svc:9090/?tenant=other', false],
    ['https://10.0.0.5/x', true],
    ['https://0x0a000005/x', true],
    ['https://10.0.0.6', false],
    ['http://169.254.169.254/latest/meta-data', false],
    ['http://[::1]:9090', false],
    ['file:///etc/passwd', false],
    ['ftp://prometheus.monitoring.svc:9090', false],
    ['javascript:alert(1)', false],
    ['prometheus.monitoring.svc:9090', false],
    ['', false],
  ])('%s: %s', (text, ok) => {
    expect(checkPolicyUrl(text, allowed).ok).toBe(ok);
  });

  test.each([
    ['https://a/x?tenant=shop', true],
    ['https://a/x/y?tenant=shop', true],
    ['https://a/x', false],
    ['https://a/x?tenant=mail', false],
    ['https://a/x?tenant=shop&tenant=mail', false],
  ])('the parameters of an entry are part of it: %s: %s', (text, ok) => {
    expect(checkPolicyUrl(text, ['https://a/x?tenant=shop']).ok).toBe(ok);
  });

  test('escapes in the path of an entry are meant', () => {
    expect(checkPolicyUrl('https://a/my%20team/x', ['https://a/my%20team']).ok).toBe(true);
  });

  test('a refusal says what is allowed, and where to change that', () => {
    const none = checkPolicyUrl('http://a', []);
    const some = checkPolicyUrl('http://a', allowed);
    expect(none.ok ? '' : none.message).toContain('it allows none');
    expect(some.ok ? '' : some.message).toMatch(/rightsizing\.prometheus\.allowedUrls.*https:\/\/10\.0\.0\.5/);
  });

  test('an entry that is no address allows nothing', () => {
    expect(checkPolicyUrl('http://a', ['a', '*', 'http://*', 'http://*.']).ok).toBe(false);
  });

  test('for any address, an empty list allows none', () => {
    fc.assert(
      fc.property(fc.webUrl(), (url) => {
        expect(checkPolicyUrl(url, []).ok).toBe(false);
      }),
      { numRuns: 150 },
    );
  });

  test('for any two addresses, one allows the other just where scheme, host and port are its own, and the path leads on', () => {
    const address: fc.Arbitrary<Address> = fc.record({
      scheme: fc.constantFrom('http', 'https'),
      host: fc.constantFrom('a', 'b.a', 'ab'),
      port: fc.constantFrom('', ':80', ':443', ':9090'),
      path: fc.array(fc.constantFrom('x', 'xy', 'y'), { maxLength: 3 }),
    });
    const textOf = ({ scheme, host, port, path }: Address): string => `${scheme}://${host}${port}/${path.join('/')}`;
    const portOf = ({ scheme, port }: Address): string => port || (scheme === 'http' ? ':80' : ':443');
    fc.assert(
      fc.property(address, address, fc.boolean(), (entry, other, isAlike) => {
        const asked = isAlike ? { ...entry, path: [...entry.path, ...other.path] } : other;
        const isSameServer =
          asked.scheme === entry.scheme && asked.host === entry.host && portOf(asked) === portOf(entry);
        const leadsOn = entry.path.every((folder, index) => asked.path[index] === folder);
        expect(checkPolicyUrl(textOf(asked), [textOf(entry)]).ok).toBe(isSameServer && leadsOn);
      }),
      { numRuns: 500 },
    );
  });
});
