/** Nodes whose clocks are wrong: whatever their kubelets tell of pods is dated by these. */
import type { KubeObject } from '../api/core.ts';
import type { KubeApi, WatchEvent } from '../api/kube-api.ts';
import { type ResourceType, resources } from '../api/resources.ts';
import { isRecord } from '../lib/is-record.ts';
import { formatTime } from '../lib/rfc3339.ts';
import type { Millis } from '../lib/units.ts';

/** What is read through `api`. @param aheadOf how far the clock of a node is ahead; negative is behind. */
export function tellByNodeClocks(api: KubeApi, aheadOf: (node: string) => Millis): KubeApi {
  const { listEach } = api;
  const told = <T extends KubeObject>(type: ResourceType<T>, object: T): T => {
    if (type.plural !== resources.pods.plural || type.group !== resources.pods.group) return object;
    const [spec, status]: readonly unknown[] = [Reflect.get(object, 'spec'), Reflect.get(object, 'status')];
    const node = isRecord(spec) ? spec['nodeName'] : undefined;
    const ahead = typeof node === 'string' ? aheadOf(node) : 0;
    return ahead === 0 ? object : { ...object, status: redated(status, ahead) };
  };
  const toldEvent = <T extends KubeObject>(type: ResourceType<T>, event: WatchEvent<T>): WatchEvent<T> =>
    event.type === 'BOOKMARK' || event.type === 'ERROR' ? event : { ...event, object: told(type, event.object) };
  const toldEach: KubeApi['listEach'] =
    listEach && ((type, options, onItem) => listEach(type, options, (item) => onItem(told(type, item))));
  return {
    ...api,
    get: async (type, name, options) => told(type, await api.get(type, name, options)),
    async list(type, options) {
      const page = await api.list(type, options);
      return { ...page, items: page.items.map((item) => told(type, item)) };
    },
    ...(toldEach !== undefined && { listEach: toldEach }),
    async *watch(type, options) {
      for await (const event of api.watch(type, options)) yield toldEvent(type, event);
    },
  };
}

const times: ReadonlySet<string> = new Set(['lastTransitionTime', 'startTime', 'startedAt', 'finishedAt']);

/** The one condition that is the scheduler's stays. */
function redated(value: unknown, ahead: Millis): unknown {
  if (Array.isArray(value)) return value.map((each) => redated(each, ahead));
  if (!isRecord(value) || value['type'] === 'PodScheduled') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      times.has(key) && typeof inner === 'string' ? formatTime(Date.parse(inner) + ahead) : redated(inner, ahead),
    ]),
  );
}
