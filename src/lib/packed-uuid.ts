/**
 * Uids as records of ten thousand objects keep them: 32 bytes of memory each in place of 56. Only for those that are
 * seldom asked for.
 */

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** A packed UUID is known by its length; this stands before any other text that could be taken for something else. */
const PLAIN = '=';
const PACKED_LENGTH = 16;

/** @returns a text of one character for each byte of a UUID; most other texts as they are. */
export function packUuid(text: string): string {
  if (UUID.test(text)) return Buffer.from(text.replaceAll('-', ''), 'hex').toString('latin1');
  return text.length === PACKED_LENGTH || text.startsWith(PLAIN) ? PLAIN + text : text;
}

/** The text that was packed. */
export function unpackUuid(packed: string): string {
  if (packed.length !== PACKED_LENGTH) return packed.startsWith(PLAIN) ? packed.slice(PLAIN.length) : packed;
  const hex = Buffer.from(packed, 'latin1').toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
