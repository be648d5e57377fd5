/** Who asks for what: the caller and the settings every write carries through admission, validation and storage. */
import type { ApiObject, ServedType } from './served-type.ts';

/** Who asks, with all groups, the implied ones included. */
export interface Caller {
  readonly name: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  /** What a token tells besides: the node it is bound to, `authentication.kubernetes.io/node-name`, for one. */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** The caller of in-process clients that name none: may do everything. */
export const CLUSTER_ADMIN: Caller = { name: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] };

/** `anonymous` callers, and everyone else, belong to these groups. */
export function callerNamed(name: string, groups: readonly string[] = []): Caller {
  const account = /^system:serviceaccount:([^:]+):[^:]+$/.exec(name);
  const implied = account === null ? [] : ['system:serviceaccounts', `system:serviceaccounts:${account[1]}`];
  return { name, groups: [...new Set([...groups, ...implied, 'system:authenticated'])] };
}

export interface WriteContext {
  readonly caller: Caller;
  readonly dryRun: boolean;
  /** Owner of the changed fields; empty managers are named by the clients. */
  readonly fieldManager: string;
  /** What is done about fields nobody knows. Absent, as in-process: they are dropped in silence. */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
  /** The server's own part in what was admitted as something else, as the end of a pod is as its eviction. */
  readonly isAdmitted?: true;
  /** Filled by admission and the registry; sent as Warning headers. */
  readonly warnings: string[];
}

/** CONNECT is asked about by no client here. */
export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** One write on its way in, as admission sees it. `object` may be changed in place. */
export interface AdmissionAttributes {
  readonly operation: AdmissionOperation;
  readonly type: ServedType;
  readonly subresource: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly object: ApiObject | undefined;
  readonly oldObject: ApiObject | undefined;
  readonly context: WriteContext;
}

/**
 * Admission after the built-in rules. Returns undefined when nothing applied (so that in-process writes stay
 * synchronous), else a promise of the object to go on with. Rejects with the refusal.
 */
export type Admission = (attributes: AdmissionAttributes) => Promise<ApiObject | undefined> | undefined;
