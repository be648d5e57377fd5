/** Formats of texts in the configuration: what can never match anything would pass for a setting. */
import { parseHttpUrl } from '../lib/http-url.ts';

export interface TextFormat {
  matches(text: string): boolean;
  /** Follows the path of the key. */
  readonly complaint: string;
}

const NAMESPACE = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const HOST = /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/i;

export const namespaceName: TextFormat = {
  matches: (text) => NAMESPACE.test(text),
  complaint: 'is not the name of a namespace',
};

export const namespaceOrAll: TextFormat = {
  matches: (text) => text === '*' || NAMESPACE.test(text),
  complaint: 'is neither the name of a namespace nor "*"',
};

export const hostName: TextFormat = {
  matches: (text) => HOST.test(text),
  complaint: 'is not a host name without scheme and port',
};

const NO_URL = 'is not an http or https URL without user and fragment';

export const httpUrl: TextFormat = {
  matches: (text) => parseHttpUrl(text) !== undefined,
  complaint: NO_URL,
};

/** As the allow-list of usage sources compares them: `*.` at the head of the host, and nowhere else. */
export const httpUrlPattern: TextFormat = {
  matches(text) {
    const url = parseHttpUrl(text.replace(/^(https?:\/\/)\*\./, '$1'));
    return url !== undefined && !url.hostname.includes('*');
  },
  complaint: NO_URL,
};
