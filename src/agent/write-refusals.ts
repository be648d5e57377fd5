/** What the API server says to a write of a PodAllocation: what it means, and whom else it would be said to. */
import {
  isForbidden,
  isInvalid,
  isNotFound,
  isUnauthorized,
  KubeError,
  missingRight,
  rightText,
} from '../api/kube-error.ts';
import { APPLY_DEFINITIONS } from '../api/pruned-field.ts';

/**
 * `denied`: no right to it, or a rule of admission. `missing`: the definition is not installed. `rejected`: this one
 * object. `gone`: what was to be annotated is no longer there. `failed`: no answer, or trouble of the server.
 */
export type WriteResult = 'ok' | 'denied' | 'missing' | 'rejected' | 'gone' | 'failed';

export interface Refusal {
  readonly result: Exclude<WriteResult, 'ok'>;
  /** Who fares alike, so that there is no point in trying the next one; left out: nobody else. */
  readonly holdsFor?: 'all' | 'namespace';
}

/** The order matters: a namespace that is ending answers 403 and 404 as well, and says nothing about others. */
export function refusalOf(error: unknown): Refusal {
  if (isForbidden(error)) {
    // A namespace on its way out takes nothing new; that says nothing about other pods.
    if (causesOf(error).includes('NamespaceTerminating')) return { result: 'rejected' };
    // Roles, quotas of objects and the policies of a webhook are a namespace's.
    return { result: 'denied', holdsFor: 'namespace' };
  }
  if (isUnauthorized(error)) return { result: 'denied', holdsFor: 'all' };
  if (isInvalid(error)) return { result: 'rejected' };
  if (isNotFound(error)) {
    const { kind, name } = error.status?.details ?? {};
    if (kind === 'namespaces') return { result: 'rejected' };
    return name === undefined ? { result: 'missing', holdsFor: 'all' } : { result: 'gone' };
  }
  if (error instanceof KubeError && error.httpStatus === 409) return { result: 'rejected' };
  // A webhook may be there for some namespaces only. One that gives no code of its own denies with 400.
  const text = error instanceof KubeError ? error.message : '';
  if (/admission webhook "[^"]*" denied the request/.test(text)) return { result: 'denied', holdsFor: 'namespace' };
  if (text.includes('failed calling webhook')) return { result: 'failed', holdsFor: 'namespace' };
  return { result: 'failed', holdsFor: 'all' };
}

function causesOf(error: KubeError): readonly (string | undefined)[] {
  return (error.status?.details?.causes ?? []).map(({ reason }) => reason);
}

/** For the log: what is the matter, and what helps. Empty where nothing is. */
export function refusalText({ result }: Refusal, error: unknown): string {
  return result === 'denied' ? deniedText(error) : messages[result];
}

/** By what is missing: a right, with the role that has it, or a token; else a rule of admission is in the way. */
function deniedText(error: unknown): string {
  const right = missingRight(error);
  const refused = isUnauthorized(error)
    ? 'the API server does not accept the token of the account'
    : 'admission refuses them, as the error says';
  const cause =
    right === undefined
      ? refused
      : `the account may not ${rightText(right)}; the ClusterRole of the agent has the right (NAME-agent of the chart, charts/stowage/templates/agent/rbac.yaml)`;
  return `PodAllocations cannot be written: ${cause}. Nothing changes on pods; trying again with growing pauses`;
}

const messages: Readonly<Record<Exclude<Refusal['result'], 'denied'>, string>> = {
  gone: '',
  missing: `PodAllocations cannot be written: their definition is not installed (\`${APPLY_DEFINITIONS}\`). Trying again with growing pauses`,
  rejected: 'A PodAllocation was refused; the pod keeps what it has',
  failed: 'PodAllocations cannot be written at the moment; trying again with growing pauses',
};
