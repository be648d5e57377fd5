/** An API as the operator has it: its resizes are counted, and quotas can be hidden from it. */
import type { KubeApi, WatchEvent } from '../../src/api/kube-api.ts';
import { isNotFound } from '../../src/api/kube-error.ts';
import { resources } from '../../src/api/resources.ts';

/** Resizes so far: how many were sent, and the messages of those that were refused. */
export interface SeenResizes {
  sent: number;
  refused: string[];
}

/** What the operator is not shown. */
export interface Blindness {
  quotas: boolean;
}

export function watchedApi(api: KubeApi, resizes: SeenResizes, blind: Blindness): KubeApi {
  return {
    ...api,
    async patch(type, name, patch, options) {
      const isResize = options?.subresource === 'resize';
      if (isResize) resizes.sent++;
      try {
        return await api.patch(type, name, patch, options);
      } catch (error) {
        // A pod that ended meanwhile refused nothing; on the real server the pods of the test before still end.
        if (isResize && !isNotFound(error))
          resizes.refused.push(error instanceof Error ? error.message : String(error));
        throw error;
      }
    },
    async list(type, options) {
      const listed = await api.list(type, options);
      return blind.quotas && type.plural === resources.resourceQuotas.plural ? { ...listed, items: [] } : listed;
    },
    watch: (type, options) =>
      type.plural === resources.resourceQuotas.plural
        ? unseen(api.watch(type, options), () => blind.quotas)
        : api.watch(type, options),
  };
}

/** Leaves out what happens to objects while it is so. */
async function* unseen<T>(events: AsyncIterable<WatchEvent<T>>, isBlind: () => boolean): AsyncIterable<WatchEvent<T>> {
  for await (const event of events) {
    const isOfObject = event.type === 'ADDED' || event.type === 'MODIFIED' || event.type === 'DELETED';
    if (!isOfObject || !isBlind()) yield event;
  }
}
