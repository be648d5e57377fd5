/** Which containers a resize in place would restart: there it is no gentler than a new pod. */
import type { SizeChange } from './pod-size.ts';
import type { ContainerSpecRecord } from './sizing-records.ts';

/**
 * By `resizePolicy: RestartContainer` (KEP-1287). @returns the first container that restarts, with the resource that
 * makes it; undefined where none does.
 */
export function restartedContainer(
  containers: readonly ContainerSpecRecord[],
  changes: readonly SizeChange[],
): { readonly container: string; readonly resource: 'cpu' | 'memory' } | undefined {
  for (const { container, to } of changes) {
    const spec = containers.find(({ name }) => name === container);
    const touchesCpu = to.cpuRequest !== undefined || to.cpuLimit !== undefined;
    const touchesMemory = to.memoryRequest !== undefined || to.memoryLimit !== undefined;
    if (touchesCpu && spec?.cpuRestart === 'RestartContainer') return { container, resource: 'cpu' };
    if (touchesMemory && spec?.memoryRestart === 'RestartContainer') return { container, resource: 'memory' };
  }
  return undefined;
}
