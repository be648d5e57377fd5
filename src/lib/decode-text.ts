/** Text of a file, in whichever encoding of Unicode its first bytes name. */

/**
 * UTF-16 where there is its byte order mark, as PowerShell 5 writes everything that is redirected into a file; else UTF-8.
 * A mark of UTF-8 stays in the text.
 */
export function decodeText(bytes: Buffer): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  return bytes.toString('utf8');
}
