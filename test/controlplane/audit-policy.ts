/** What the API server writes down about its callers: everything Stowage asks for, and every eviction by whomever. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The accounts of the chart, and a user who may only read what the operator may read. */
export const STOWAGE_USER = 'system:serviceaccount:spotalis-system:stowage';
export const AGENT_USER = 'system:serviceaccount:spotalis-system:stowage-agent';
export const READER_USER = 'stowage-reader';
/** The accounts of the releases that the suites of the installation install. */
const INSTALLED_GROUP = 'system:serviceaccounts:stowage-install';

const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted'],
  rules: [
    { level: 'Metadata', users: [STOWAGE_USER, AGENT_USER, READER_USER] },
    { level: 'Metadata', userGroups: [INSTALLED_GROUP] },
    { level: 'Metadata', resources: [{ group: '', resources: ['pods/eviction'] }] },
    { level: 'None' },
  ],
};

export function auditLogPath(directory: string): string {
  return join(directory, 'audit.log');
}

/** @returns the API server's flags. The log is written before the answer is sent (blocking mode, its default). */
export function prepareAudit(directory: string): readonly string[] {
  const path = join(directory, 'audit-policy.json');
  writeFileSync(path, JSON.stringify(policy));
  return [`--audit-policy-file=${path}`, `--audit-log-path=${auditLogPath(directory)}`];
}
