/** Texts of digits in half of their memory: two characters are one. The numbers of ten thousand records are kept so. */

/** What a text has that becomes shorter; fifteen of them, so that each takes half a byte. */
const SYMBOLS = '0123456789. -Tt';
/** In place of a symbol: the text has none there, as it ends. Twice, it begins a text that is kept as it is. */
const NONE = SYMBOLS.length;
const PLAIN = String.fromCharCode(NONE * 16 + NONE);

/** A text with other characters than digits, signs and spaces becomes longer by one. */
export function packDigits(text: string): string {
  const bytes = Buffer.alloc(Math.ceil(text.length / 2));
  for (let at = 0; at < text.length; at += 2) {
    const first = SYMBOLS.indexOf(text.charAt(at));
    const second = at + 1 < text.length ? SYMBOLS.indexOf(text.charAt(at + 1)) : NONE;
    if (first < 0 || second < 0) return PLAIN + text;
    bytes[at >> 1] = first * 16 + second;
  }
  return bytes.toString('latin1');
}

/** The text that was packed. */
export function unpackDigits(packed: string): string {
  if (packed.startsWith(PLAIN)) return packed.slice(PLAIN.length);
  let text = '';
  for (let at = 0; at < packed.length; at++) {
    const byte = packed.charCodeAt(at);
    text += SYMBOLS.charAt(byte >> 4) + SYMBOLS.charAt(byte & 15);
  }
  return text;
}
