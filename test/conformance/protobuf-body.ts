/** Request bodies in protobuf, as kubectl sends what it makes; short and of ASCII only, so that they go as text. */

export type Part = string | number | readonly Part[];

/** A field of a message: numbers below 128 as such, texts and messages after their length. */
export function field(number: number, content: Part): string {
  if (typeof content === 'number') return String.fromCharCode(number * 8, content);
  const text = textOf(content);
  if (text.length > 127) throw new Error(`a part of ${text.length} characters is too long`);
  return String.fromCharCode(number * 8 + 2, text.length) + text;
}

function textOf(content: Part): string {
  if (typeof content === 'number') return String.fromCharCode(content);
  return typeof content === 'string' ? content : content.map(textOf).join('');
}

export function protobufBody(apiVersion: string, kind: string, object: readonly Part[]): string {
  return `k8s\0${field(1, [field(1, apiVersion), field(2, kind)])}${field(2, object)}`;
}
