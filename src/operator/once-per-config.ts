/** What is made of the configuration, made once of each: engines ask for their settings several times for each pod. */
import type { Config } from '../config/schema.ts';

/** @param config the configuration in force: another object once it has changed. */
export function oncePerConfig<T>(config: () => Config, make: (config: Config) => T): () => T {
  let made: { readonly of: Config; readonly value: T } | undefined;
  return () => {
    const of = config();
    if (made?.of !== of) made = { of, value: make(of) };
    return made.value;
  };
}
