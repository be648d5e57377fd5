/**
 * Lets in who the API server knows and allows: the bearer token of a request is reviewed (TokenReview), then whether its user may
 * `get` the path (SubjectAccessReview, non-resource URL). It is what controller-runtime's secured metrics do, so the same roles fit.
 */
import { createHash } from 'node:crypto';
import type { KubeObject } from '../api/core.ts';
import type { KubeApi } from '../api/kube-api.ts';
import type { ResourceType } from '../api/resources.ts';
import type { Clock } from '../lib/clock.ts';
import { describeError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import type { EpochMillis, Millis } from '../lib/units.ts';
import { type AccessRequest, type EndpointAnswer, jsonAnswer } from './endpoint-server.ts';

interface UserInfo {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
}
interface TokenReview extends KubeObject {
  readonly spec: { readonly token: string };
  readonly status?: { readonly authenticated?: boolean; readonly user?: UserInfo };
}
interface SubjectAccessReview extends KubeObject {
  readonly spec: {
    readonly user: string;
    readonly uid?: string;
    readonly groups?: readonly string[];
    readonly nonResourceAttributes: { readonly path: string; readonly verb: 'get' };
  };
  readonly status?: { readonly allowed?: boolean };
}

const reviewType = <T extends KubeObject>(group: string, plural: string, kind: string): ResourceType<T> => ({
  group,
  version: 'v1',
  plural,
  kind,
  namespaced: false,
});
const tokenReviews = reviewType<TokenReview>('authentication.k8s.io', 'tokenreviews', 'TokenReview');
const accessReviews = reviewType<SubjectAccessReview>(
  'authorization.k8s.io',
  'subjectaccessreviews',
  'SubjectAccessReview',
);

export interface AccessReviewOptions {
  readonly api: Pick<KubeApi, 'create'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A scraper asks every few seconds; a right that was taken away may be used for so long. */
const KEEP_MILLIS: Millis = 60_000;
const MAX_KEPT = 500;
/** Reviews under way at once. Whoever reaches the port may send made-up tokens: they must not use up what the operator may ask of its API server. */
const MAX_REVIEWS = 4;
/** Service-account tokens have about 1 KB. What is longer is not asked about. */
const MAX_TOKEN_LENGTH = 16_384;

const UNAUTHENTICATED = refusal(
  401,
  'UNAUTHENTICATED',
  'give a bearer token of the cluster (Authorization: Bearer ...)',
);

/** @returns the answer to who may not; undefined lets in. */
export type ReviewAccess = (request: Omit<AccessRequest, 'headers'>) => Promise<EndpointAnswer | undefined>;

export function createAccessReview({ api, clock, log }: AccessReviewOptions): ReviewAccess {
  /** By digest of token and path: no token is kept. */
  const kept = new Map<string, { readonly answer: EndpointAnswer | undefined; readonly until: EpochMillis }>();

  let reviews = 0;

  const review = async (token: string, path: string): Promise<EndpointAnswer | undefined> => {
    const { status } = await api.create(tokenReviews, reviewOf(tokenReviews, { token }));
    const { username = '', uid, groups } = status?.user ?? {};
    if (status?.authenticated !== true || username === '') return UNAUTHENTICATED;
    const spec = {
      user: username,
      ...(uid === undefined ? {} : { uid }),
      ...(groups === undefined ? {} : { groups }),
      nonResourceAttributes: { path, verb: 'get' as const },
    };
    const access = await api.create(accessReviews, reviewOf(accessReviews, spec));
    if (access.status?.allowed === true) return undefined;
    const role = path === '/metrics' ? '-metrics-reader' : '-explain-reader';
    return refusal(
      403,
      'FORBIDDEN',
      `${username} may not get ${path}: bind it to a ClusterRole with that nonResourceURL, of the chart the one that ends in ${role}`,
    );
  };

  const keep = (key: string, answer: EndpointAnswer | undefined): void => {
    const [oldest] = kept.keys();
    if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    kept.set(key, { answer, until: clock.now() + KEEP_MILLIS });
  };

  return async ({ path, authorization = '' }) => {
    const [, token] = /^Bearer +([\w.~+/=-]+) *$/i.exec(authorization) ?? [];
    if (token === undefined || token.length > MAX_TOKEN_LENGTH) return UNAUTHENTICATED;
    const key = createHash('sha256').update(`${path}\n${token}`).digest('base64');
    const known = kept.get(key);
    if (known !== undefined && clock.now() < known.until) return known.answer;
    kept.delete(key);
    if (reviews >= MAX_REVIEWS) return refusal(503, 'BUSY', 'too many tokens are being reviewed; try again');
    reviews++;
    try {
      const answer = await review(token, path);
      keep(key, answer);
      return answer;
    } catch (error) {
      log.warn({ path, error: describeError(error) }, 'Who asks could not be reviewed; nobody is let in meanwhile');
      return refusal(503, 'UNAVAILABLE', 'the API server cannot be asked about the token; try again');
    } finally {
      reviews--;
    }
  };
}

const reviewOf = <Spec>({ group, version, kind }: ResourceType, spec: Spec) => ({
  apiVersion: `${group}/${version}`,
  kind,
  spec,
});

function refusal(status: number, code: string, message: string): EndpointAnswer {
  return jsonAnswer(status, { code, message });
}
