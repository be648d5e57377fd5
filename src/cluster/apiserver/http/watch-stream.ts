/**
 * A watch as an HTTP stream of JSON lines. An event's line is made once for all streams that show it in the same form.
 */
import type { Gate, RequestInfo, StreamSink } from '../gate.ts';
import type { Operations } from '../operations.ts';
import type { ApiObject } from '../served-type.ts';
import type { OpenWatch, WatchQuery } from '../watcher.ts';
import { type Exchange, endWith, startAnswer, writeTo } from './exchange.ts';
import type { Representation } from './representation.ts';

/** Unsent bytes, of one client, at which a client is too slow to follow, and its watch ends. */
const MAX_BUFFERED_BYTES = 64 * 1024 * 1024;

/** For plain JSON only: tables and partial objects differ from stream to stream. */
export interface LineCache {
  line(kind: string, object: ApiObject): string;
}

/** Remembers the last line: the fan-out of one event asks for the same line again and again. */
export function createLineCache(): LineCache {
  let lastKind = '';
  let lastObject: ApiObject | undefined;
  let lastLine = '';
  return {
    line(kind, object) {
      if (kind === lastKind && object === lastObject) return lastLine;
      lastKind = kind;
      lastObject = object;
      lastLine = `{"type":"${kind}","object":${JSON.stringify(object)}}\n`;
      return lastLine;
    },
  };
}

export interface WatchStreamOptions {
  readonly exchange: Exchange;
  readonly info: RequestInfo;
  readonly query: WatchQuery;
  readonly operations: Operations;
  readonly gate: Gate;
  readonly representation: Representation;
  readonly lines: LineCache;
}

/** Answers with a stream; errors before its start are thrown, later ones are events. */
export function streamWatch({
  exchange,
  info,
  query,
  operations,
  gate,
  representation,
  lines,
}: WatchStreamOptions): void {
  const { response, signal } = exchange;
  let first = true;
  let held: string[] | undefined = [];
  let open: OpenWatch | undefined;
  let over = false;

  const write = (text: string): void => {
    if (held !== undefined) {
      held.push(text);
      return;
    }
    if (over) return;
    writeTo(response, text);
    if (response.writableLength > MAX_BUFFERED_BYTES) finish();
  };
  const finish = (error?: unknown): void => {
    if (over) return;
    over = true;
    open?.stop();
    if (held !== undefined) return;
    if (error === undefined) endWith(response);
    else exchange.drop();
  };

  const inner: StreamSink = {
    event(kind, object) {
      // Whole objects are the same in all streams, and so are their lines.
      if (representation.isPlain || kind === 'BOOKMARK') write(lines.line(kind, object));
      else write(`{"type":"${kind}","object":${JSON.stringify(representation.event(object, first))}}\n`);
      first = false;
    },
    error: (status) => write(`{"type":"ERROR","object":${JSON.stringify(status)}}\n`),
    end: finish,
  };
  // Events that come while the watch opens wait until it is known that it opens at all.
  const sink = gate.watchSink(info, inner, () => open?.stop());
  open = operations.watch(info.type, query, sink);

  startAnswer(response, 200, { 'content-type': representation.contentType, 'cache-control': 'no-cache, private' });
  const initial = held.join('');
  held = undefined;
  if (initial !== '') writeTo(response, initial);
  if (over) {
    open.stop();
    endWith(response);
    return;
  }
  signal.addEventListener('abort', () => {
    over = true;
    open?.stop();
    sink.end();
  });
}
