import { describe, expect, test } from 'vitest';
import { createRequestGuard, securityHeaders } from './request-guard.ts';

const guard = createRequestGuard({ allowedHosts: ['Stowage.Example.com'] });
const ask = (headers: Readonly<Record<string, string>>) =>
  guard({ path: '/api/overview', authorization: undefined, headers });

describe('who may ask', () => {
  test.each([
    'localhost',
    'localhost:8083',
    'LOCALHOST:8083',
    'stowage.localhost:1',
    '127.0.0.1:8083',
    '10.1.2.3:8083',
    '[::1]:8083',
    '[fd00::12]',
    'stowage.example.com',
    'stowage.example.com.:443',
  ])('whoever opens it as %s', async (host) => {
    expect(await ask({ host })).toBeUndefined();
  });

  test.each([
    'evil.example.com',
    'evil.example.com:8083',
    'localhost.evil.com',
    'evillocalhost',
    '127.0.0.1.evil.com:8083',
    'stowage.example.com.evil.com',
    '[evil]:80',
    '',
    'localhost:8083:1',
    'a@localhost',
  ])('nobody under the name %j, wherever it points', async (host) => {
    expect(await ask({ host })).toMatchObject({ status: 403, body: expect.stringContaining('web.allowedHosts') });
  });

  test('a request without a name is refused', async () => {
    expect(await ask({})).toMatchObject({ status: 403 });
  });

  test.each(['cross-site', 'same-site'])('pages of %s may not read it, nor frame it', async (site) => {
    const host = 'localhost';
    expect(await ask({ host, 'sec-fetch-site': site, 'sec-fetch-mode': 'cors' })).toMatchObject({ status: 403 });
    const framed = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' };
    expect(await ask({ host, 'sec-fetch-site': site, ...framed })).toMatchObject({ status: 403 });
    const opened = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    expect(await ask({ host, 'sec-fetch-site': site, ...opened })).toBeUndefined();
  });

  test.each(['same-origin', 'none'])('its own page and the address bar (%s) may', async (site) => {
    expect(await ask({ host: 'localhost', 'sec-fetch-site': site, 'sec-fetch-mode': 'cors' })).toBeUndefined();
  });
});

test('the policy allows nothing but what comes from here', () => {
  const policy = securityHeaders['Content-Security-Policy'] ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  for (const name of Object.keys(securityHeaders)) expect(name).not.toMatch(/^access-control/i);
});
