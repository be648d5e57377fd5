import { expect, test } from 'vitest';
import { parseHttpUrl } from './http-url.ts';

test.each(['http://prometheus:9090', 'https://thanos.example.org/prefix?x=1', 'HTTP://10.0.0.5'])(
  '%j is one',
  (text) => {
    expect(parseHttpUrl(text)?.protocol).toMatch(/^https?:$/);
  },
);

test.each([
  '',
  'prometheus',
  'prometheus:9090',
  '/metrics',
  'ftp://prometheus',
  'file:///etc/passwd',
  'http://me@prometheus',
  'http://me:secret@prometheus',
  'http://prometheus/#top',
  'http://',
])('%j is none', (text) => {
  expect(parseHttpUrl(text)).toBeUndefined();
});
