/** What is drawn and played: a row of requests, the same for every server, in which `{{...}}` stands for what a server has answered before. */

/** One request. In path and body `{{rv NAME}}`, `{{oldrv NAME}}`, `{{uid NAME}}`, `{{listrv}}` and `{{continue}}` are filled in from earlier answers. */
export interface Step {
  /** Kind and deed, e.g. `pods create`: differences are told apart by it. */
  readonly what: string;
  /** What is odd about it; empty where nothing is. */
  readonly how: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** The body as it is sent, for what is no JSON. */
  readonly text?: string;
  readonly contentType?: string;
  readonly accept?: string;
  /** A watch: its events are read until the stream ends. */
  readonly isWatch?: boolean;
}

export interface Sequence {
  readonly seed: number;
  readonly steps: readonly Step[];
}
