/** An informer on a scripted API in virtual time, with what a test asks of it. */
import { expect } from 'vitest';
import type { KubeObject } from '../../api/core.ts';
import { resources } from '../../api/resources.ts';
import { createSilentLogger } from '../../lib/log.ts';
import { createSeededRandom } from '../../lib/random.ts';
import { createVirtualClock } from '../../lib/virtual-clock.ts';
import { createInformer, type InformerOptions } from '../informer.ts';
import { added, createScriptedApi, initialEventsEnd, kubeError, type ScriptedApi } from './scripted-api.ts';

export type FollowOptions = Partial<InformerOptions<KubeObject, string>>;

/** An informer of `name@rv` records on a scripted API, already running in virtual time. */
export async function followScripted(scripted: ScriptedApi, options: FollowOptions = {}) {
  const clock = createVirtualClock(1_000_000);
  const informer = createInformer<KubeObject, string>({
    api: scripted.api,
    type: resources.pods,
    project: ({ metadata }) => `${metadata?.name}@${metadata?.resourceVersion}`,
    clock,
    random: createSeededRandom(1),
    log: createSilentLogger(),
    ...options,
  });
  const changes: string[] = [];
  informer.subscribe({ onChange: (key, before, after) => changes.push(`${key} ${before ?? '-'} > ${after ?? '-'}`) });
  const stop = new AbortController();
  const ended = informer.run(stop.signal);
  await clock.advance(0);
  return {
    clock,
    informer,
    changes,
    records: () => [...informer.store.values()].sort(),
    end: async () => {
      stop.abort(new Error('test over'));
      await ended;
      expect(clock.pendingTimers()).toBe(0);
      for (const watch of scripted.watches) expect(watch.isAborted).toBe(true);
    },
  };
}

/** The same, listed with one object, `a` at version 5, and healthy since: the list was at version 10. */
export async function syncScripted(options: FollowOptions = {}, scripted = createScriptedApi()) {
  const run = await followScripted(scripted, options);
  scripted.watch().push(added('a', 5), initialEventsEnd(10));
  await run.clock.advance(6_000);
  return { scripted, ...run };
}

/** Answers 422 to WatchList, as servers without the feature do. */
export function withoutWatchList(): ScriptedApi {
  const scripted = createScriptedApi();
  scripted.onWatch = ({ sendInitialEvents }) => {
    if (sendInitialEvents)
      throw kubeError(
        422,
        'Invalid',
        'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
      );
  };
  return scripted;
}
