/** What the API server was asked, by its own log: the witness that knows of every call, whatever its outcome. */
import { readFileSync, statSync } from 'node:fs';
import { auditLogPath, STOWAGE_USER } from '../controlplane/audit-policy.ts';

export interface AuditRecord {
  readonly user: string;
  readonly verb: string;
  /** `pods`, or `pods/eviction` with its subresource. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  /** HTTP status; 0 where the call ended without one. */
  readonly code: number;
  /** False: refused for want of a right, and not by admission, which answers 403, too. */
  readonly isAuthorized: boolean;
  readonly receivedMillis: number;
}

export interface AuditLog {
  /** Everything logged since it was opened, in order. */
  records(): readonly AuditRecord[];
  /** Evictions that were carried out in a namespace, by whomever. */
  evictions(namespace: string): readonly AuditRecord[];
  /** What Stowage has written since `position`, the lease left out. */
  writesSince(position: number): readonly AuditRecord[];
  /** To be passed to {@link writesSince} later. */
  position(): number;
}

const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch']);
export const isWrite = ({ verb }: AuditRecord): boolean => !READS.has(verb);

/** @param directory the control plane's folder. */
export function openAuditLog(directory: string): AuditLog {
  const path = auditLogPath(directory);
  // Other suites have been here before.
  const start = statSync(path).size;
  const records = (): readonly AuditRecord[] =>
    // The last line may be in the making.
    readFileSync(path).subarray(start).toString().split('\n').slice(0, -1).map(parseRecord);
  return {
    records,
    evictions: (namespace) =>
      records().filter(
        (record) => record.resource === 'pods/eviction' && record.namespace === namespace && record.code === 201,
      ),
    position: () => records().length,
    writesSince: (position) =>
      records()
        .slice(position)
        .filter((record) => record.user === STOWAGE_USER && isWrite(record) && record.resource !== 'leases'),
  };
}

interface AuditEvent {
  readonly user?: { readonly username?: string };
  readonly verb?: string;
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly requestReceivedTimestamp?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

function parseRecord(line: string): AuditRecord {
  const event: AuditEvent = JSON.parse(line);
  const { user, verb = '', objectRef = {}, responseStatus, requestReceivedTimestamp, annotations } = event;
  const { resource = '', subresource, namespace = '', name = '' } = objectRef;
  return {
    user: user?.username ?? '',
    verb,
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    namespace,
    name,
    code: responseStatus?.code ?? 0,
    isAuthorized: annotations?.['authorization.k8s.io/decision'] !== 'forbid',
    receivedMillis: Date.parse(requestReceivedTimestamp ?? ''),
  };
}
