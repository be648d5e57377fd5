/**
 * Whether the API server serves `pods/resize` (KEP-1287): by discovery, asked again now and then. Never by its version,
 * which says nothing about gates.
 */
import type { KubeApi } from '../api/kube-api.ts';
import { type Clock, pause } from '../lib/clock.ts';
import { describeError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import type { Millis } from '../lib/units.ts';

/** Says nothing about kubelets: an API server that serves it may have nodes that do not (KEP-1287). */
export interface ResizeSupportProbe {
  /** Undefined until the first answer. An answer once had outlives failures to ask again. */
  servesResize(): boolean | undefined;
  /** Asks until `signal` aborts. Call once. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

export interface ResizeSupportOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when the answer is another than before. */
  readonly onChange?: () => void;
}

/** An upgrade of the control plane, or of another of its servers, is noticed within this time. */
const INTERVAL_MILLIS: Millis = 300_000;
/** Nothing is resized before the first answer. */
const RETRY_MILLIS: Millis = 5_000;

export function createResizeSupportProbe(options: ResizeSupportOptions): ResizeSupportProbe {
  const { api, clock, log, onChange } = options;
  let answer: boolean | undefined;
  let lastWord = '';

  const note = (serves: boolean): void => {
    if (serves === answer) return;
    answer = serves;
    log.info({ serves }, serves ? 'Pods can be resized in place' : 'The API server does not serve pods/resize');
    onChange?.();
  };

  /** Whether there was an answer. */
  const ask = async (signal: AbortSignal): Promise<boolean> => {
    try {
      const types = (await api.discover?.('v1', { signal })) ?? [];
      const pods = types.find(({ plural }) => plural === 'pods');
      // No server is without pods: an answer without them says nothing.
      if (pods === undefined) return false;
      lastWord = '';
      note(pods.subresources?.includes('resize') === true);
      return true;
    } catch (error) {
      const word = describeError(error);
      if (word !== lastWord && !signal.aborted) log.warn({ error: word }, 'Whether pods can be resized is not known');
      lastWord = word;
      return false;
    }
  };

  return {
    servesResize: () => answer,
    async run(signal) {
      while (!signal.aborted) {
        const isAnswered = await ask(signal);
        await pause(clock, isAnswered ? INTERVAL_MILLIS : RETRY_MILLIS, signal);
      }
    },
  };
}
