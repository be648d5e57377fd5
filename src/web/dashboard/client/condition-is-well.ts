/** Which state of a policy's condition needs nobody: of some of them that is True, of others False. */

const well: ReadonlySet<string> = new Set([
  'Ready True',
  'MetricsAvailable True',
  'PermissionsSufficient True',
  'Degraded False',
  'ActuationIneffective False',
  'DryRun False',
]);

export function conditionIsWell({ type, status }: { readonly type: string; readonly status: string }): boolean {
  return well.has(`${type} ${status}`);
}
