import type { Metrics } from '../metrics.ts';

/** Takes everything and keeps nothing, for tests that do not look at metrics. */
export function createNoMetrics(): Metrics {
  const ignore = (): void => {};
  return {
    inc: ignore,
    set: ignore,
    observe: ignore,
    clear: ignore,
    removeWorkload: ignore,
    removePolicy: ignore,
    onRender: ignore,
    onRead: ignore,
    async *pieces() {},
    render: () => Promise.resolve(''),
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
  };
}
