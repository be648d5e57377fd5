/** Makes a body wrong in one place, as typing errors, old manifests and careless programs do. */
import type { Draw } from '../../../src/simulator/chaos/draw.ts';

export interface Spoilt {
  readonly body: unknown;
  /** What was done, without the numbers of list items: `spec.replicas = -1`. */
  readonly how: string;
}

type Path = readonly (string | number)[];

interface Place {
  readonly path: Path;
  readonly value: unknown;
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function placesOf(value: unknown, path: Path = []): Place[] {
  const here = path.length === 0 ? [] : [{ path, value }];
  if (Array.isArray(value)) return [...here, ...value.flatMap((item, index) => placesOf(item, [...path, index]))];
  if (!isMap(value)) return here;
  return [...here, ...Object.entries(value).flatMap(([key, member]) => placesOf(member, [...path, key]))];
}

/** A copy with `value` at `path`; undefined takes the place away. */
export function withValueAt(root: unknown, path: Path, value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (Array.isArray(root)) {
    const items = root.map((item, index) => (index === step ? withValueAt(item, rest, value) : item));
    return value === undefined && rest.length === 0 ? items.filter((_, index) => index !== step) : items;
  }
  const map = isMap(root) ? root : {};
  if (value !== undefined || rest.length > 0) return { ...map, [step]: withValueAt(map[step], rest, value) };
  const { [step]: _, ...others } = map;
  return others;
}

const TOO_LONG = 'x'.repeat(254);
const NAMES = ['', 'UPPER', '-a', 'a_b', 'a.b', 'a/b', 'ä', ' a ', TOO_LONG, 'y'.repeat(64)];
const AMOUNTS = [
  '1.5Gi',
  '0.1m',
  '1e3',
  '-1',
  'abc',
  '100m ',
  '1Ki5',
  '0',
  '1000m',
  '1024Mi',
  '1E',
  '0.5',
  '12345678901234567890',
  '',
  '1.0',
  '+1',
  '.5',
  '1Gib',
];
const NUMBERS = [-1, 0, 1.5, 2_147_483_648, 1_000_000, '1', true];

function othersOf({ path, value }: Place, draw: Draw): unknown {
  const parent = path.at(-2);
  if (parent === 'requests' || parent === 'limits' || parent === 'hard' || parent === 'capacity')
    return draw.pick<unknown>([...AMOUNTS, 1, 0.5, null, true]);
  switch (typeof value) {
    case 'string':
      return draw.pick<unknown>([...NAMES, 'Other', 7, true, null, {}, ['a']]);
    case 'number':
      return draw.pick<unknown>([...NUMBERS, null, {}]);
    case 'boolean':
      return draw.pick<unknown>(['true', null, 1, !value]);
    default:
      return Array.isArray(value)
        ? draw.pick<unknown>([[], null, {}, 'text', [...value, ...value]])
        : draw.pick<unknown>([{}, null, [], 'text', 3]);
  }
}

const show = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 40 ? `${text.slice(0, 30)}...(${text.length})` : text;
};

const printed = (path: Path): string =>
  path
    .map((step) => (typeof step === 'number' ? '[]' : `.${step}`))
    .join('')
    .slice(1);

/** One place of `body` gets another value, goes, or gets a neighbour nobody knows. */
export function spoil(body: unknown, draw: Draw): Spoilt {
  const places = placesOf(body).filter(({ path }) => path[0] !== 'apiVersion' && path[0] !== 'kind');
  if (places.length === 0) return { body, how: '' };
  const place = draw.pick(places);
  const { path, value } = place;
  if (isMap(value) && draw.chance(0.35)) {
    const key = draw.pick(['unknownField', 'Replicas', 'x']);
    return {
      body: withValueAt(body, [...path, key], draw.pick<unknown>(['y', 1, null, {}])),
      how: `${printed(path)}.${key} is unknown`,
    };
  }
  if (draw.chance(0.2)) return { body: withValueAt(body, path, undefined), how: `${printed(path)} is missing` };
  const other = othersOf(place, draw);
  return { body: withValueAt(body, path, other), how: `${printed(path)} = ${show(other)}` };
}
