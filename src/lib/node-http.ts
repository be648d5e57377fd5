/**
 * `node:http`, loaded without its browser-like globals. An ES import of the module makes Node read every export once,
 * and with them the getters of `WebSocket` and friends: that loads the whole of undici, 13 MB of memory nobody here
 * uses.
 */
import type * as Http from 'node:http';

/** The server and client of Node, as `import http from 'node:http'` would give them. */
export const http: typeof Http = process.getBuiltinModule('node:http');
