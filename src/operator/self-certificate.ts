/**
 * The webhook's own certificate, for clusters without cert-manager: authority and leaf made here, kept in a Secret that
 * all replicas share, the authority published in the webhook configuration, and both renewed at two thirds of their
 * life.
 */
import { X509Certificate } from 'node:crypto';
import type { Secret } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import { isAlreadyExists, isConflict, isNotFound, isThrottled, KubeError } from '../api/kube-error.ts';
import { resources } from '../api/resources.ts';
import type { Config } from '../config/schema.ts';
import { RequestTimeoutError } from '../kube/deadline.ts';
import { ConnectionError } from '../kube/transport/transport.ts';
import { createAuthority, issueServerCertificate } from '../lib/certificates.ts';
import { type Clock, pause, sleep } from '../lib/clock.ts';
import { describeError, StowageError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { untilAborted } from '../lib/until-aborted.ts';
import { checkKeyPair, validityOf } from '../webhook/key-pair-files.ts';
import type { KeyPair } from '../webhook/server.ts';
import { publishToAll, type Suffices, type WebhookConfigurationRef, webhookConfigurationsOf } from './ca-bundle.ts';
import type { KeyPairSource } from './key-pair-source.ts';

export interface SelfCertificateOptions {
  readonly api: KubeApi;
  readonly config: Config;
  /** Only the leader renews. */
  readonly isLeader: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
  /** Ends the wait for an API server that does not answer. */
  readonly signal: AbortSignal;
}

/** What the Secret holds. */
interface Issued {
  readonly pair: KeyPair;
  /** PEM: the authority of `pair`, then its predecessor while some replica may still serve what that one signed. */
  readonly bundle: string;
}
interface Stored extends Issued {
  readonly resourceVersion: string;
  /** API servers that trust the bundle take the leaf for the webhook's. */
  readonly isAccepted: boolean;
}

const DAY_MILLIS = 86_400_000;
const LEAF_MILLIS = 90 * DAY_MILLIS;
/**
 * Outlives every leaf it signs, as both are made at the same time. Its key is not kept: each renewal has a new
 * authority.
 */
const AUTHORITY_MILLIS = 120 * DAY_MILLIS;
/** Clocks of API servers may be behind: while a certificate is not valid yet, no pod is steered. */
const SKEW_MILLIS = DAY_MILLIS;
/** The last third of their life is left to renewals that fail. */
const RENEW_MILLIS = LEAF_MILLIS / 3;
/** Every replica looks so often, and so long at most serves what was replaced. */
const LOOK_MILLIS = 30_000;
/** One of a bundle, in PEM. */
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g;
/** Until every API server has taken in a changed webhook configuration: its watch is rarely seconds behind. */
const TAKE_IN_MILLIS = 5_000;
/** Until an API server that did not answer at the start is asked again. */
const START_AGAIN_MILLIS = 5_000;

/**
 * Takes the certificate from the Secret, or makes the first one, and publishes its authority. Waits for an API server that does not answer:
 * a process that ended would be started again ever more slowly, and come late when the outage is over.
 * @throws StowageError when the Secret can neither be read nor made; the signal's reason when it aborts.
 */
export async function selfCertificate(options: SelfCertificateOptions): Promise<KeyPairSource> {
  const { api, config, isLeader, clock, log, signal: starting } = options;
  const { secretName: name } = config.webhook;
  const { namespace } = config.operator;
  const configurations = webhookConfigurationsOf(config);
  /** The first configuration that does not exist (yet). */
  let missing: WebhookConfigurationRef | undefined = configurations[0];

  const read = async (): Promise<{ readonly stored: Stored | undefined; readonly secret: Secret | undefined }> => {
    try {
      const secret = await api.get(resources.secrets, name, { namespace });
      return { stored: parseSecret(secret, config), secret };
    } catch (error) {
      if (isNotFound(error)) return { stored: undefined, secret: undefined };
      throw error;
    }
  };

  /** Writes a new certificate unless somebody else was faster. */
  const store = async (issued: Issued, known: Secret | undefined): Promise<void> => {
    const secret = secretOf(issued, name, namespace, known);
    try {
      if (known === undefined) await api.create(resources.secrets, secret, { namespace });
      else await api.replace(resources.secrets, secret, { namespace });
      log.info({ secret: `${namespace}/${name}` }, 'A new webhook certificate was issued');
    } catch (error) {
      if (!isAlreadyExists(error) && !isConflict(error)) throw error;
    }
  };

  /** Whoever comes first makes it; the others take what he has made. */
  const obtain = async (): Promise<Stored> => {
    for (let attempt = 0; attempt < 3; attempt++) {
      const { stored, secret } = await read();
      const isValid = stored !== undefined && validityOf(stored.pair).notAfterMillis > clock.now();
      if (isValid && stored.isAccepted) return stored;
      // Replicas of before may know the Service by another name: theirs is kept, or their leader would make it anew.
      await store(await issue(config, clock.now(), isValid ? stored : undefined), secret);
    }
    throw new Error('the Secret keeps changing');
  };

  /** A new pair in place of the stored one. Its authority is published before anything it signed can be served. */
  const renew = async (bundle: string, secret: Secret | undefined, signal: AbortSignal): Promise<void> => {
    const next = await issue(config, clock.now(), { bundle });
    await publishToAll(api, configurations, next.bundle);
    await sleep(clock, TAKE_IN_MILLIS, signal);
    await store(next, secret);
  };
  const isDue = ({ pair, isAccepted }: Stored): boolean => {
    const { notBeforeMillis, notAfterMillis } = validityOf(pair);
    const now = clock.now();
    // One that is not valid yet was made by a clock that was ahead, perhaps by years.
    return now < notBeforeMillis || now >= notAfterMillis - RENEW_MILLIS || !isAccepted;
  };

  /**
   * The leader has the last word. Others leave what trusts their pair: it may be of a renewal that is about to reach
   * the Secret.
   */
  const publish = async ({ pair, bundle }: Issued): Promise<void> => {
    const suffices: Suffices | undefined = isLeader() ? undefined : (published) => isTrusted(pair, published, config);
    missing = await publishToAll(api, configurations, bundle, suffices);
  };

  const takeUp = async (): Promise<Stored> => {
    const stored = await obtain();
    await publish(stored);
    return stored;
  };
  const start = async (): Promise<Stored> => {
    for (;;) {
      try {
        return await untilAborted(takeUp(), starting);
      } catch (error) {
        starting.throwIfAborted();
        if (!isOutage(error)) {
          const what = `The webhook certificate in Secret ${namespace}/${name} can neither be read nor made (${describeError(error)})`;
          throw new StowageError('KEY_PAIR', `${what}. Grant the rights of deploy/rbac-self-certificates.yaml.`, {
            cause: error,
          });
        }
        log.warn({ secret: `${namespace}/${name}`, error }, 'The start waits for the API server');
        await sleep(clock, START_AGAIN_MILLIS, starting);
      }
    }
  };
  let current = await start();

  return {
    first: current.pair,
    problem: () => (missing === undefined ? undefined : `there is no ${missing.type.kind} ${missing.name} yet`),
    async follow(onChange, signal) {
      while (!signal.aborted) {
        await pause(clock, LOOK_MILLIS, signal);
        if (signal.aborted) return;
        try {
          const { stored, secret } = await read();
          // What API servers would not take is not served either.
          const latest = stored?.isAccepted === true ? stored : current;
          if (isLeader() && (stored === undefined || isDue(stored))) {
            await renew(latest.bundle, secret, signal);
            // Served here at the next look, when the other replicas have theirs: they can then verify the leader all
            // the time.
            continue;
          }
          if (isLeader() || missing !== undefined) await publish(latest);
          if (latest.pair.cert !== current.pair.cert) onChange(latest.pair);
          current = latest;
        } catch (error) {
          if (signal.aborted) return;
          log.warn(
            { secret: `${namespace}/${name}`, error },
            'The webhook certificate could not be looked after; trying again',
          );
        }
      }
    },
  };
}

/** No answer, or that of a server in trouble: it passes, whatever this account may do. */
function isOutage(error: unknown): boolean {
  if (error instanceof KubeError) return error.httpStatus >= 500 || isThrottled(error);
  return error instanceof ConnectionError || error instanceof RequestTimeoutError;
}

/** @param previous its first authority stays trusted, and the names it is for stay among those of the new one. */
async function issue(
  config: Config,
  now: number,
  previous: { readonly bundle: string; readonly pair?: KeyPair } | undefined,
): Promise<Issued> {
  const { serviceName } = config.webhook;
  const service = `${serviceName}.${config.operator.namespace}`;
  // localhost: behind `kubectl port-forward`, for metrics.
  const names = [serviceName, service, `${service}.svc`, `${service}.svc.cluster.local`, 'localhost'];
  const notBeforeMillis = now - SKEW_MILLIS;
  const authority = await createAuthority({
    commonName: `${service} webhook`,
    notBeforeMillis,
    notAfterMillis: now + AUTHORITY_MILLIS,
  });
  const leaf = await issueServerCertificate(authority, {
    commonName: `${service}.svc`,
    dnsNames: [...new Set([...names, ...namesOf(previous?.pair)])],
    notBeforeMillis,
    notAfterMillis: now + LEAF_MILLIS,
  });
  const [predecessor = ''] = previous?.bundle.match(CERTIFICATE) ?? [];
  return {
    pair: { cert: leaf.certificatePem, key: leaf.privateKeyPem },
    bundle: authority.certificatePem + predecessor,
  };
}

/** The DNS names a leaf is for. */
function namesOf(pair: KeyPair | undefined): string[] {
  const names = pair === undefined ? '' : (new X509Certificate(pair.cert).subjectAltName ?? '');
  return names.split(', ').flatMap((name) => (name.startsWith('DNS:') ? name.slice('DNS:'.length) : []));
}

/**
 * Not once the Service is called otherwise, nor where somebody has put into the Secret what does not belong together.
 * @throws Error when a certificate cannot be read.
 */
function isAccepted({ pair, bundle }: Issued, { webhook, operator }: Config): boolean {
  const leaf = new X509Certificate(pair.cert);
  const host = `${webhook.serviceName}.${operator.namespace}.svc`;
  const authorities = (bundle.match(CERTIFICATE) ?? []).map((pem) => new X509Certificate(pem));
  return (
    leaf.checkHost(host, { subject: 'never' }) !== undefined &&
    authorities.some((authority) => leaf.checkIssued(authority) && leaf.verify(authority.publicKey))
  );
}

/** Whatever is in the bundle, which others may have written. */
function isTrusted(pair: KeyPair, bundle: string, config: Config): boolean {
  try {
    return isAccepted({ pair, bundle }, config);
  } catch {
    return false;
  }
}

/** Undefined when the Secret holds no usable pair; it is then filled anew. */
function parseSecret(secret: Secret, config: Config): Stored | undefined {
  const decode = (key: string): string => Buffer.from(secret.data?.[key] ?? '', 'base64').toString('utf8');
  const pair = { cert: decode('tls.crt'), key: decode('tls.key') };
  const bundle = decode('ca.crt');
  if (bundle === '') return undefined;
  const resourceVersion = secret.metadata?.resourceVersion ?? '';
  try {
    checkKeyPair(pair, 'the Secret');
    return { pair, bundle, resourceVersion, isAccepted: isAccepted({ pair, bundle }, config) };
  } catch {
    return undefined;
  }
}

function secretOf({ pair, bundle }: Issued, name: string, namespace: string, known: Secret | undefined): Secret {
  const encode = (text: string): string => Buffer.from(text).toString('base64');
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    // A stale resourceVersion makes the write fail: two replicas must not both renew.
    metadata: known?.metadata ?? { name, namespace },
    type: known?.type ?? 'kubernetes.io/tls',
    data: { 'tls.crt': encode(pair.cert), 'tls.key': encode(pair.key), 'ca.crt': encode(bundle) },
  };
}
