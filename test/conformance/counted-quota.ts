/** A ResourceQuota for what is there already. */
import { expect } from 'vitest';
import type { KubeApi } from '../../src/api/kube-api.ts';
import { isNotFound } from '../../src/api/kube-error.ts';
import { resources } from '../../src/api/resources.ts';

export interface CountedQuota {
  readonly namespace: string;
  readonly name: string;
  readonly hard: Readonly<Record<string, string>>;
  /** What its controller has to count. */
  readonly used: Readonly<Record<string, string>>;
}

/**
 * Makes the quota, and makes it anew until it is counted so: its controller may not have heard of the pods yet, and counts again
 * only a quota that is new.
 */
export async function countedQuota(
  api: KubeApi,
  eventually: <T>(assertion: () => Promise<T>) => Promise<T>,
  { namespace, name, hard, used }: CountedQuota,
): Promise<void> {
  await eventually(async () => {
    await api.delete(resources.resourceQuotas, name, { namespace }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
    await api.create(resources.resourceQuotas, { metadata: { name }, spec: { hard } }, { namespace });
    const counted = await eventually(async () => {
      const { status } = await api.get(resources.resourceQuotas, name, { namespace });
      expect(status?.used).toBeDefined();
      return status?.used;
    });
    expect(counted).toMatchObject(used);
  });
}
