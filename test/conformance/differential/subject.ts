/** What a sequence is about: one kind of objects, in a namespace of its own. */
import { createSeededRandom } from '../../../src/lib/random.ts';
import { createDraw, type Draw } from '../../../src/simulator/chaos/draw.ts';
import type { Json } from '../endpoint.ts';
import type { DrawnKind } from './drawn-kind.ts';
import { drawnKinds } from './kinds.ts';

/** What the parts of a sequence have in common. */
export interface Subject {
  readonly kind: DrawnKind;
  readonly draw: Draw;
  readonly namespace: string;
  /** Path of all objects of the kind. */
  readonly collection: string;
  /** Names in use; of kinds without a namespace no other sequence has them. */
  readonly names: readonly string[];
}

export interface SequenceInput {
  readonly seed: number;
  /** Beginning of the namespace's name, and of names outside of it. */
  readonly prefix: string;
  /** Plurals to draw from; left out: all. */
  readonly only?: readonly string[];
}

/** The same for the same input. @throws RangeError where no kind is left */
export function subjectOf({ seed, prefix, only }: SequenceInput): Subject {
  const draw = createDraw(createSeededRandom(seed));
  const kinds = drawnKinds
    .filter(({ plural }) => only === undefined || only.includes(plural))
    .flatMap((kind) => Array.from({ length: kind.weight }, () => kind));
  const kind = draw.pick(kinds);
  const namespace = `${prefix}-${seed}`;
  const group = kind.apiVersion.includes('/') ? `/apis/${kind.apiVersion}` : `/api/${kind.apiVersion}`;
  return {
    kind,
    draw,
    namespace,
    collection: kind.namespaced ? `${group}/namespaces/${namespace}/${kind.plural}` : `${group}/${kind.plural}`,
    names: kind.namespaced ? ['a', 'b', 'c'] : [`${namespace}-a`, `${namespace}-b`],
  };
}

/** `?dryRun=All&...`, often empty. */
export function drawWriteQuery(draw: Draw): string {
  const parts = [
    ...(draw.chance(0.1) ? [draw.pick(['dryRun=All', 'dryRun=All', 'dryRun=Some', 'dryRun='])] : []),
    ...(draw.chance(0.2)
      ? [
          draw.pick([
            'fieldValidation=Strict',
            'fieldValidation=Warn',
            'fieldValidation=Ignore',
            'fieldValidation=strict',
          ]),
        ]
      : []),
    ...(draw.chance(0.2) ? [`fieldManager=${draw.pick(['one', 'two', 'x'.repeat(129), ''])}`] : []),
  ];
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

/** A whole object of the kind; `name` goes into it. */
export function objectOf({ kind, draw, namespace }: Subject, name: string): Json {
  const body = kind.body(draw);
  const text = JSON.stringify(body).replaceAll('{{ns}}', namespace);
  const filled: Json = JSON.parse(text);
  const metadata = filled['metadata'];
  return {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    ...filled,
    metadata: { name, ...(typeof metadata === 'object' ? metadata : {}) },
  };
}
