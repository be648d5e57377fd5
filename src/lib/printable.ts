/** Text of others without power over a terminal: names, annotations and answers end up in logs and on screens. */

/** Controls (C0, DEL, C1), which move cursors and break lines, and what turns the direction of text. */
const STEERING = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;
/** Those of them that JSON lets stand in its strings. */
const STEERING_IN_JSON = /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/gu;

/** Every character that would steer a terminal becomes `\xNN` or `\uNNNN`; everything else stays. */
export function printable(text: string): string {
  return text.replace(STEERING, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : unicodeEscape(code);
  });
}

/**
 * JSON, or YAML whose strings are all in double quotes, that means the same and steers nothing; C0 is escaped in both
 * already.
 */
export function printableJson(json: string): string {
  return json.replace(STEERING_IN_JSON, (character) => unicodeEscape(character.charCodeAt(0)));
}

function unicodeEscape(code: number): string {
  return `\\u${code.toString(16).padStart(4, '0')}`;
}
