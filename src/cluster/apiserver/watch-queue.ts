/** Turns pushed events into an async iteration. Consumers see events in microtasks, so virtual time never waits for them. */

/** One producer, one consumer; without bound, since a consumer in the same process cannot be throttled. */
export interface WatchQueue<T> {
  push(item: T): void;
  /** Ends the iteration after what is queued, with `error` when given. */
  end(error?: unknown): void;
  iterate(onStop: () => void): AsyncIterator<T>;
}

export function createWatchQueue<T>(): WatchQueue<T> {
  let items: T[] = [];
  let head = 0;
  let ended: { error?: unknown } | undefined;
  let waiting: { resolve: (result: IteratorResult<T>) => void; reject: (reason: unknown) => void } | undefined;

  const take = (): IteratorResult<T> | undefined => {
    if (head >= items.length) return undefined;
    const value = items[head] as T;
    head++;
    if (head > 1_024 && head * 2 > items.length) {
      items = items.slice(head);
      head = 0;
    }
    return { done: false, value };
  };

  return {
    push(item) {
      if (ended !== undefined) return;
      if (waiting === undefined) {
        items.push(item);
        return;
      }
      const { resolve } = waiting;
      waiting = undefined;
      resolve({ done: false, value: item });
    },
    end(error) {
      if (ended !== undefined) return;
      ended = error === undefined ? {} : { error };
      const consumer = waiting;
      waiting = undefined;
      if (error === undefined) consumer?.resolve({ done: true, value: undefined });
      else consumer?.reject(error);
    },
    iterate: (onStop) => ({
      next() {
        const queued = take();
        if (queued !== undefined) return Promise.resolve(queued);
        if (ended !== undefined) {
          const { error } = ended;
          ended = {};
          return error === undefined ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(error);
        }
        return new Promise((resolve, reject) => {
          waiting = { resolve, reject };
        });
      },
      return() {
        ended = {};
        items = [];
        head = 0;
        onStop();
        return Promise.resolve({ done: true, value: undefined });
      },
    }),
  };
}
