/**
 * Splits JSON answers while they arrive: each item of a list, each line of a watch, without ever holding the whole
 * body.
 */
import { StowageError } from '../lib/errors.ts';

/** The answer ended early or is not the JSON it should be. A transport fault, not an answer of the API. */
export class MalformedAnswerError extends StowageError {
  override readonly name = 'MalformedAnswerError';

  constructor(message: string, cause?: unknown) {
    super('KUBE_MALFORMED_ANSWER', message, { cause });
  }
}

/** For one answer; made anew for the next. */
export interface ListSplitter {
  /** Takes the next bytes of the body; items completed by them are handed over before it returns. */
  write(chunk: Buffer): void;
  /**
   * To be called after the last byte. Returns the list without its items (`items` is then an empty array, or whatever
   * stood there instead of an array).
   * @throws MalformedAnswerError when the body was cut off or is not JSON.
   */
  end(): unknown;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** By byte: begins or ends a string, an object or an array. */
const isNested: Readonly<Uint8Array> = Uint8Array.from({ length: 256 }, (_, byte) =>
  [QUOTE, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET].includes(byte) ? 1 : 0,
);

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** @throws MalformedAnswerError, which tells the length and quotes nothing. */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw new MalformedAnswerError(`The API server's answer is not valid JSON (${bytes.length} bytes).`, error);
  }
}

/** etcd holds objects of at most 1.5 MiB; what an aggregated API or a proxy sends must not fill the memory either. */
const MAX_VALUE_BYTES = 64 << 20;

/** Bytes of one value, gathered over chunks. */
function createCollector() {
  let parts: Buffer[] = [];
  let size = 0;
  return {
    /** Copies, because the transport may reuse the chunk's memory and a part must not keep a whole chunk alive. */
    add(chunk: Buffer, from: number, to: number): void {
      if (to <= from) return;
      size += to - from;
      if (size > MAX_VALUE_BYTES)
        throw new MalformedAnswerError(`One value of the API server's answer is longer than ${MAX_VALUE_BYTES} bytes.`);
      parts.push(Buffer.from(chunk.subarray(from, to)));
    },
    take(): Buffer {
      const whole = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
      parts = [];
      size = 0;
      return whole;
    },
    get isEmpty(): boolean {
      return parts.length === 0;
    },
  };
}

/** Where in a list the next byte is. */
type Place =
  /** In no object yet. */
  | 'before'
  /** Directly inside the root object: of a key, or before it. */
  | 'key'
  /** Behind the key `items`, and then behind its colon. */
  | 'items-key'
  | 'items-value'
  /** Of a value that is no list of items. */
  | 'value'
  /** Inside the array, between two items, and in one of them. */
  | 'items'
  | 'item';

/**
 * Hands over each element of the top-level array `items` as soon as its last byte is there.
 *
 * It looks only at the structural bytes of JSON. In UTF-8 these never occur inside another character, so a chunk may
 * end anywhere, also within a character. What an element holds is left to JSON.parse.
 */
export function createListSplitter(onItem: (item: unknown) => void): ListSplitter {
  /** Everything but the items: small, parsed at the end. */
  const shell = createCollector();
  const item = createCollector();
  const key = createCollector();
  let depth = 0;
  /** Whether the next byte is within quotation marks; `escaped`: it follows a backslash there. */
  let text: 'outside' | 'inside' | 'escaped' = 'outside';
  let place: Place = 'before';

  const endItem = (chunk: Buffer, from: number, to: number): void => {
    place = 'items';
    // Most items lie within one chunk: parsed straight from it, without a copy.
    if (item.isEmpty) onItem(parseJson(chunk.subarray(from, to)));
    else {
      item.add(chunk, from, to);
      onItem(parseJson(item.take()));
    }
  };

  return {
    write(chunk) {
      /** Start of the bytes not yet given to the shell or an item; those of a key are counted from `keyStart` too. */
      let start = 0;
      let keyStart = 0;
      for (let index = 0; index < chunk.length; index++) {
        let byte = chunk[index] ?? 0;
        if (text !== 'outside') {
          if (text === 'escaped') {
            text = 'inside';
            continue;
          }
          // Most bytes of an answer lie within strings: this loop decides the speed.
          while (byte !== QUOTE && byte !== BACKSLASH && ++index < chunk.length) byte = chunk[index] ?? 0;
          if (index === chunk.length) break;
          text = byte === BACKSLASH ? 'escaped' : 'outside';
          if (text === 'escaped') continue;
          if (place === 'item' && depth === 2) {
            endItem(chunk, start, index + 1);
            start = index + 1;
          } else if (place === 'key' && depth === 1) {
            key.add(chunk, keyStart, index + 1);
            if (parseJson(key.take()) === 'items') place = 'items-key';
          }
          continue;
        }
        if (place === 'item' && depth > 2) {
          // Deep inside an item only strings and nesting matter.
          while (isNested[byte] !== 1 && ++index < chunk.length) byte = chunk[index] ?? 0;
          if (index === chunk.length) break;
        }
        const isAmongItems = depth === 2 && (place === 'items' || place === 'item');
        if (isAmongItems && (byte === COMMA || byte === CLOSE_BRACKET || isSpace(byte))) {
          // A number, true, false or null ends with the byte after it.
          if (place === 'item') endItem(chunk, start, index);
          start = index + 1;
          if (byte === CLOSE_BRACKET) {
            place = 'value';
            depth = 1;
            start = index;
          }
          continue;
        }
        if (place === 'items') {
          place = 'item';
          start = index;
        }
        switch (byte) {
          case QUOTE:
            text = 'inside';
            if (place === 'key' && depth === 1) keyStart = index;
            break;
          case OPEN_BRACE:
          case OPEN_BRACKET:
            depth++;
            if (depth === 1) place = byte === OPEN_BRACE ? 'key' : 'value';
            else if (depth === 2 && place === 'items-value' && byte === OPEN_BRACKET) {
              place = 'items';
              shell.add(chunk, start, index + 1);
              start = index + 1;
            }
            break;
          case CLOSE_BRACE:
          case CLOSE_BRACKET:
            depth--;
            if (place === 'item' && depth === 2) {
              endItem(chunk, start, index + 1);
              start = index + 1;
            }
            break;
          case COLON:
            if (depth === 1) place = place === 'items-key' ? 'items-value' : 'value';
            break;
          case COMMA:
            if (depth === 1) place = 'key';
            break;
          default:
        }
      }
      if (place === 'item') item.add(chunk, start, chunk.length);
      else if (place !== 'items') shell.add(chunk, start, chunk.length);
      if (text !== 'outside' && place === 'key' && depth === 1) key.add(chunk, keyStart, chunk.length);
    },
    end() {
      if (place === 'before' || depth !== 0 || text !== 'outside')
        throw new MalformedAnswerError('The API server’s answer was cut off.');
      return parseJson(shell.take());
    },
  };
}

/**
 * Splits a body into lines, as the API server frames watch events, and parses each. Empty lines are skipped.
 * @throws MalformedAnswerError for a line that is not JSON, also for a last line that was cut off.
 */
export async function* readJsonLines(body: AsyncIterable<Buffer>): AsyncGenerator<unknown, void, undefined> {
  const line = createCollector();
  for await (const chunk of body) {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      if (line.isEmpty) {
        if (end > start) yield parseJson(chunk.subarray(start, end));
      } else {
        line.add(chunk, start, end);
        yield parseJson(line.take());
      }
      start = end + 1;
    }
    line.add(chunk, start, chunk.length);
  }
  if (!line.isEmpty) yield parseJson(line.take());
}
