/** Which containers a resize in place would restart: there it is no gentler than a new pod. */
import type { SizeChange } from './pod-size.ts';
import type { ContainerSpecRecord } from './sizing-records.ts';

/** Whether a change of this resource restarts the container. */
export function restartsOn(
  containers: readonly ContainerSpecRecord[],
  { container, resource }: { readonly container: string; readonly resource: 'cpu' | 'memory' },
): boolean {
  const spec = containers.find(({ name }) => name === container);
  return (resource === 'cpu' ? spec?.cpuRestart : spec?.memoryRestart) === 'RestartContainer';
}

/**
 * By `resizePolicy: RestartContainer` (KEP-1287). @returns the first container that restarts, with the resource that
 * makes it; undefined where none does.
 */
export function restartedContainer(
  containers: readonly ContainerSpecRecord[],
  changes: readonly SizeChange[],
): { readonly container: string; readonly resource: 'cpu' | 'memory' } | undefined {
  for (const { container, to } of changes) {
    const touchesCpu = to.cpuRequest !== undefined || to.cpuLimit !== undefined;
    const touchesMemory = to.memoryRequest !== undefined || to.memoryLimit !== undefined;
    if (touchesCpu && restartsOn(containers, { container, resource: 'cpu' })) return { container, resource: 'cpu' };
    if (touchesMemory && restartsOn(containers, { container, resource: 'memory' }))
      return { container, resource: 'memory' };
  }
  return undefined;
}
