/** What the memory benchmark measures, in parts that can be asked for by name: all of them take ten minutes, one a few. */

/** Sizes of the cluster. */
export const memoryClusters = [
  { pods: 1000, nodes: 50 },
  { pods: 10_000, nodes: 500 },
] as const;
type Pods = (typeof memoryClusters)[number]['pods'];
/** What is started; `whole` is the baseline. */
type Program = 'placement' | 'source' | 'whole' | 'all';
/** `heap` is of a record, all others are of a process beside a cluster. */
export type MemoryCase = 'heap' | `${Program}-${Pods}`;

export const memoryCases: readonly MemoryCase[] = [
  'heap',
  ...memoryClusters.flatMap(({ pods }) =>
    (['placement', 'source', 'whole', 'all'] as const).map((program): MemoryCase => `${program}-${pods}`),
  ),
];
