/** A promise settled from outside. What Promise.withResolvers is, for Node 20, which the bundle has to start on. */

export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: unknown): void;
}

/** Settling it a second time does nothing. Nobody has to wait for it: a rejection that reaches no one is no fault. */
export function createDeferred<T>(): Deferred<T> {
  let settle: Pick<Deferred<T>, 'resolve' | 'reject'> | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  promise.catch(() => {});
  // The executor of a promise runs before its constructor returns.
  return { promise, resolve: (value) => settle?.resolve(value), reject: (reason) => settle?.reject(reason) };
}
