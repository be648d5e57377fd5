/** Randomness as a dependency: every random choice takes a {@link Random}, so a run can be replayed from its seed. */

export interface Random {
  /** A number in [0, 1). */
  next(): number;
}

/** The machine's randomness, for jitter in the real process. */
export function createSystemRandom(): Random {
  return { next: () => Math.random() };
}

/** A small, fast, seeded generator (mulberry32). Not for secrets. Equal seeds give equal sequences. */
export function createSeededRandom(seed: number): Random {
  let state = seed >>> 0;
  return {
    next() {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = state;
      mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
    },
  };
}
