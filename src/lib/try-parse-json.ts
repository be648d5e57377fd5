/** Reads texts from outside that should be JSON. */

/** Undefined for what is no JSON, such as the page of a proxy in between. JSON itself has no undefined. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
