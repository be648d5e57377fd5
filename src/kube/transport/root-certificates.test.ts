import tls from 'node:tls';
import { expect, test } from 'vitest';
import { rootCertificates } from './root-certificates.ts';

test('Node that reads its root certificates by itself is left alone', () => {
  expect(rootCertificates(['--no-opt'])).toBeUndefined();
});

test('Node that was kept from it is handed the same', () => {
  const given = rootCertificates(['--no-opt', '--use-openssl-ca']);
  expect(given?.slice(0, tls.rootCertificates.length)).toEqual(tls.rootCertificates);
  expect(given?.slice(tls.rootCertificates.length)).toEqual(tls.getCACertificates('extra'));
});
