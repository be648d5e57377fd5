/** What a request handler answers: status and JSON body, without a socket, so that handlers are tested as functions. */

export interface HttpAnswer {
  readonly status: number;
  /** JSON text. */
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A 4xx answer with a stable code for machines and a sentence for people. */
export function problemAnswer(status: number, code: string, message: string): HttpAnswer {
  return { status, body: JSON.stringify({ code, message }) };
}
