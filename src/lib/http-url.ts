/** Addresses of servers, as configuration and policies give them. */

/** @returns undefined for what is no http or https address, or has a user or a fragment. */
export function parseHttpUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  return url.username === '' && url.password === '' && url.hash === '' && url.hostname !== '' ? url : undefined;
}
