/** Certificates made at run time: an authority and what it signs, for the webhook, the embedded cluster and tests. */
import type { webcrypto } from 'node:crypto';

/** A certificate and its private key (PKCS #8), both PEM. */
export interface CertificatePair {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

/** A certificate authority. Its certificate is what others are told to trust. */
export interface Authority extends CertificatePair {
  readonly commonName: string;
}

/** Both ends belong to it. */
export interface Validity {
  /** First instant of validity, epoch milliseconds. Give a few minutes before now: clocks differ. */
  readonly notBeforeMillis: number;
  /** Last instant of validity, epoch milliseconds; after `notBeforeMillis`. */
  readonly notAfterMillis: number;
}

/** Names and addresses become subject alternative names, the only ones that clients still look at (RFC 9110, 4.3.4). */
export interface ServerCertificateOptions extends Validity {
  readonly commonName: string;
  /** Names clients use, at least one of these or an address. */
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
}

/** What the API server's x509 authenticator reads: the common name is the user, organizations are the groups. */
export interface ClientCertificateOptions extends Validity {
  /** The user name, as the API server reads client certificates. */
  readonly commonName: string;
  /** The user's groups. */
  readonly organizations?: readonly string[];
}

/** P-256: small, fast to make, accepted everywhere. */
const KEY_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

type X509 = typeof import('./x509.ts').x509;

/** Loaded on first use: the library costs memory that a process which only reads certificates should not pay. */
async function loadX509(): Promise<X509> {
  return (await import('./x509.ts')).x509;
}

const toPem = (label: string, der: ArrayBuffer): string => {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
};

const fromPem = (pem: string): Buffer => Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64');

const makeKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  crypto.subtle.generateKey(KEY_ALGORITHM, true, ['sign', 'verify']);

async function toPair(
  certificate: { toString(format: 'pem'): string },
  key: webcrypto.CryptoKey,
): Promise<CertificatePair> {
  return {
    certificatePem: `${certificate.toString('pem')}\n`,
    privateKeyPem: toPem('PRIVATE KEY', await crypto.subtle.exportKey('pkcs8', key)),
  };
}

/**
 * A distinguished name. Values are given as typed strings, which the library takes literally; plain ones it would parse
 * for quotes and escapes.
 */
const nameOf = (
  commonName: string,
  organizations: readonly string[] = [],
): Record<string, { utf8String: string }[]>[] => [
  ...organizations.map((organization) => ({ O: [{ utf8String: organization }] })),
  { CN: [{ utf8String: commonName }] },
];

/** Makes a new authority with its own key, that may sign certificates and revocations and nothing else. */
export async function createAuthority(options: Validity & { readonly commonName: string }): Promise<Authority> {
  const x509 = await loadX509();
  const keys = await makeKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: new x509.Name(nameOf(options.commonName)),
    keys,
    notBefore: new Date(options.notBeforeMillis),
    notAfter: new Date(options.notAfterMillis),
    signingAlgorithm: KEY_ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { commonName: options.commonName, ...(await toPair(certificate, keys.privateKey)) };
}

async function issue(
  authority: Authority,
  options: Validity,
  subject: ReturnType<typeof nameOf>,
  usage: 'serverAuth' | 'clientAuth',
  alternativeNames: readonly { readonly type: 'dns' | 'ip'; readonly value: string }[],
): Promise<CertificatePair> {
  const x509 = await loadX509();
  const issuer = new x509.X509Certificate(authority.certificatePem);
  const signingKey = await crypto.subtle.importKey('pkcs8', fromPem(authority.privateKeyPem), KEY_ALGORITHM, false, [
    'sign',
  ]);
  const keys = await makeKeys();
  const certificate = await x509.X509CertificateGenerator.create({
    subject: new x509.Name(subject),
    // The parsed name, not its text: issuer and subject have to match byte for byte.
    issuer: issuer.subjectName,
    publicKey: keys.publicKey,
    signingKey,
    notBefore: new Date(options.notBeforeMillis),
    notAfter: new Date(options.notAfterMillis),
    signingAlgorithm: KEY_ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage[usage]]),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
      ...(alternativeNames.length > 0 ? [new x509.SubjectAlternativeNameExtension([...alternativeNames])] : []),
    ],
  });
  return await toPair(certificate, keys.privateKey);
}

/**
 * A certificate for a TLS server. Clients check the names and addresses, never the common name.
 * @throws TypeError without a name or address: nobody would accept it.
 */
export async function issueServerCertificate(
  authority: Authority,
  options: ServerCertificateOptions,
): Promise<CertificatePair> {
  const { commonName, dnsNames = [], ipAddresses = [] } = options;
  const names = [
    ...dnsNames.map((value) => ({ type: 'dns', value }) as const),
    ...ipAddresses.map((value) => ({ type: 'ip', value }) as const),
  ];
  if (names.length === 0)
    throw new TypeError(`The server certificate ${commonName} needs at least one DNS name or IP address.`);
  return await issue(authority, options, nameOf(commonName), 'serverAuth', names);
}

/** A certificate for a TLS client, as the API server authenticates users: CN is the user, O the groups. */
export async function issueClientCertificate(
  authority: Authority,
  options: ClientCertificateOptions,
): Promise<CertificatePair> {
  return await issue(authority, options, nameOf(options.commonName, options.organizations), 'clientAuth', []);
}
