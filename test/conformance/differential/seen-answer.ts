/** An answer without what differs from server to server by right: uids, times, versions, addresses, tokens. */
import type { Answer, Json, RawWatchEvent } from '../endpoint.ts';

export interface SeenAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly warnings: string;
  readonly body: unknown;
}

/** What a server has said before, by which its versions are told: the last one of each uid. */
export type KnownVersions = Map<string, string>;

const isMap = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g;
const TIME = /2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const ADDRESS = /\b10\.(?:0|96)\.\d+\.\d+\b/g;
/** Times that bodies bring themselves. */
const GIVEN_TIME = /^20(?:20|26-01)-/;
/** The whole patched object stands in this message, in the order in which Go writes its fields. */
const PATCHED = /(patch: Invalid value: |^Invalid value: )"(?:\{|map\[)(?:[^"\\]|\\.)*"(?=: |$)/g;
const VERSIONS =
  /(object meta: |precondition: |in record \(|precondition \(|current: |resource version: |resourceVersion: )\d+/gi;

function seenText(text: string): string {
  return text
    .replace(UID, (uid) => (uid.startsWith('00000000') || uid.startsWith('11111111') ? uid : 'UID'))
    .replace(TIME, (time) => (GIVEN_TIME.test(time) ? time : 'TIME'))
    .replace(ADDRESS, 'ADDRESS')
    .replace(PATCHED, '$1OBJECT')
    .replace(VERSIONS, '$1VERSION');
}

/** Names the server has drawn end in five letters of its alphabet. */
function seenName(name: string, metadata: Json): string {
  const { generateName } = metadata;
  const base = typeof generateName === 'string' ? generateName.slice(0, 58) : '';
  return base !== '' && name.startsWith(base) && name.length === base.length + 5 ? `${base}*****` : name;
}

function seenVersion(version: unknown, metadata: Json, known: KnownVersions): string {
  const uid = metadata['uid'];
  if (typeof uid !== 'string' || typeof version !== 'string') return version === '' ? '' : 'VERSION';
  const before = known.get(uid);
  known.set(uid, version);
  return before === undefined ? 'FIRST' : before === version ? 'SAME' : 'ANOTHER';
}

/** Of an entry of managedFields: what tells owners apart. */
function rankOf(entry: unknown): string {
  if (!isMap(entry)) return '';
  const { manager, operation, subresource, apiVersion } = entry;
  return JSON.stringify([manager, operation, subresource, apiVersion]);
}

function seenMember(key: string, value: unknown, parent: Json, known: KnownVersions): unknown {
  if (key === 'resourceVersion') return seenVersion(value, parent, known);
  if (key === 'continue' && typeof value === 'string') return value === '' ? '' : 'TOKEN';
  if (key === 'name' && typeof value === 'string') return seenText(seenName(value, parent));
  // What columns of tables mean is told by the real server with texts of its documentation.
  if (key === 'description' && 'format' in parent) return 'DESCRIPTION';
  if (key === 'nodePort' && typeof value === 'number') return value >= 30_000 ? 'PORT' : value;
  const seen = seenValue(value, known);
  // Entries of one second come in the order of their times, which is chance.
  if (key === 'managedFields' && Array.isArray(seen)) return seen.toSorted((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1));
  return seen;
}

function seenValue(value: unknown, known: KnownVersions): unknown {
  if (typeof value === 'string') return seenText(value);
  if (Array.isArray(value)) return value.map((item) => seenValue(item, known));
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, seenMember(key, member, value, known)]));
}

/** Advice on specs of pods (`spec.containers[0].ports[1]: duplicate port ...`) is the real server's alone. */
function seenWarnings(header: string): string {
  const warnings = header.match(/299 - "(?:[^"\\]|\\.)*"/g) ?? [];
  return seenText(warnings.filter((warning) => !/^299 - "[a-zA-Z.]*spec[.[]/.test(warning)).join(', '));
}

export function seenAnswer({ status, body, text, headers }: Answer, known: KnownVersions): SeenAnswer {
  const isJson = Object.keys(body).length > 0;
  return {
    status,
    contentType: String(headers['content-type'] ?? ''),
    warnings: seenWarnings(String(headers['warning'] ?? '')),
    body: isJson ? seenValue(body, known) : seenText(text),
  };
}

/** Versions in events are of the past: only their being there is looked at. */
export function seenEvents(events: readonly RawWatchEvent[]): unknown {
  return events.map(({ type, object }) => {
    const seen = seenValue(object, new Map());
    return { type, object: seen };
  });
}
