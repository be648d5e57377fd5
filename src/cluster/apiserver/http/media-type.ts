/**
 * Which form of an answer a client accepts, by its Accept header.
 * Source: github.com/munnerz/goautoneg; apiserver pkg/endpoints/handlers/negotiation/negotiate.go.
 */
import { failure } from '../status-error.ts';

/** In the order in which the server prefers them. */
const SERVED = ['application/json', 'application/yaml'] as const;
export type MediaType = (typeof SERVED)[number];
/** What the real server has besides, and names where it refuses. */
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const STREAMS = ['application/json;stream=watch', `${PROTOBUF};stream=watch`];

export interface AcceptedForm {
  readonly mediaType: MediaType;
  /** What the clause asks for besides: `as`, `g` and `v`, `stream`, `pretty`. */
  readonly parameters: ReadonlyMap<string, string>;
}

interface Clause {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Halves of `text` at the first `separator`; a part that has it again is none. */
function pairOf(text: string, separator: string): readonly [string, string] | undefined {
  const [first = '', second, ...more] = text.split(separator);
  return second === undefined || second === '' || more.length > 0 ? undefined : [first.trim(), second.trim()];
}

function clauseOf(part: string): Clause | undefined {
  const [media = '', ...rest] = part.split(';');
  const names = media.trim() === '*' ? (['*', '*'] as const) : pairOf(media, '/');
  if (names === undefined) return undefined;
  const parameters = new Map(rest.flatMap((text) => [pairOf(text, '=')].filter((pair) => pair !== undefined)));
  const quality = parameters.get('q');
  parameters.delete('q');
  return { type: names[0], subtype: names[1], quality: quality === undefined ? 1 : Number(quality) || 0, parameters };
}

/** No order of all clauses: which of two goes first may depend on where they stand. */
function goesBefore(a: Clause, b: Clause): boolean {
  return a.quality > b.quality || (a.type !== '*' && b.type === '*') || (a.subtype !== '*' && b.subtype === '*');
}

/** Sorted by insertion, as Go sorts up to twelve. */
function clausesOf(header: string): readonly Clause[] {
  const sorted: Clause[] = [];
  for (const part of header.split(',')) {
    const clause = clauseOf(part);
    if (clause === undefined) continue;
    let at = sorted.length;
    for (let before = sorted[at - 1]; before !== undefined && goesBefore(clause, before); before = sorted[at - 1]) at--;
    sorted.splice(at, 0, clause);
  }
  return sorted;
}

function isFor({ type, subtype }: Clause, mediaType: MediaType): boolean {
  return (
    `${type}/${subtype}` === mediaType || (subtype === '*' && (type === '*' || type === mediaType.split('/', 1)[0]))
  );
}

/** The first form of the header that is served, and that `isAllowed` lets through; undefined where there is none. */
export function acceptedForm(header: string, isAllowed: (form: AcceptedForm) => boolean): AcceptedForm | undefined {
  const clauses = header === '' ? [{ type: '*', subtype: '*', quality: 1, parameters: new Map() }] : clausesOf(header);
  for (const clause of clauses)
    for (const mediaType of SERVED) {
      const form = { mediaType, parameters: clause.parameters };
      if (isFor(clause, mediaType) && isAllowed(form)) return form;
    }
  return undefined;
}

/** The type a form asks objects to be shown as, `Table` for one; undefined for what they are. */
export function shownAs({ parameters }: AcceptedForm):
  | {
      readonly group: string;
      readonly version: string;
      readonly kind: string;
    }
  | undefined {
  const [kind, group, version] = ['as', 'g', 'v'].map((key) => parameters.get(key));
  if (kind === undefined && group === undefined && version === undefined) return undefined;
  return { kind: kind ?? '', group: group ?? '', version: version ?? '' };
}

/** The form of what cannot be shown as anything else: failures and discovery; undefined where none is accepted. */
export function plainMediaType(header: string): MediaType | undefined {
  return acceptedForm(header, (form) => shownAs(form) === undefined)?.mediaType;
}

/** The refusal of a header of which nothing is served. A client that wants protobuf alone is not told that it might have it. */
export function nothingAccepted(header: string, isStream = false): Error {
  const served: readonly string[] = isStream ? SERVED.slice(0, 1) : SERVED;
  const all = header.includes(PROTOBUF) ? served : [...served, PROTOBUF];
  const names = all.map((media) => (isStream ? `${media};stream=watch` : media));
  return notAcceptable(`only the following media types are accepted: ${names.join(', ')}`);
}

/** Source: apiserver pkg/endpoints/handlers/negotiation/errors.go. */
export function notAcceptable(message: string): Error {
  return failure({ code: 406, reason: 'NotAcceptable', message });
}

/**
 * Routes of built-in types know what they make, and match whole names only, before anybody negotiates.
 * Source: github.com/emicklei/go-restful route.go `matchesAccept`; apiserver pkg/server/handler.go serviceErrorHandler.
 * @throws 406
 */
export function checkRoute(accept: string, isListing: boolean): void {
  const made = [...SERVED, PROTOBUF, ...(isListing ? STREAMS : [])];
  const names = accept.split(',').map((part) => part.split(';', 1)[0]?.trim() ?? '');
  if (accept === '' || names.some((name) => name === '*/*' || made.includes(name))) return;
  const message = `406: Not Acceptable\n\nAvailable representations: ${made.join(', ')}`;
  throw failure({ code: 406, reason: 'NotAcceptable', message, details: {} });
}
