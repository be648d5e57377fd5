/** Paging and the reading of query parameters, with bounds: whatever is asked, the answer stays small. */

export interface PageRequest {
  /** From 1. */
  readonly page: number;
  readonly pageSize: number;
}

const MAX_PAGE_SIZE = 200;
const MAX_TEXT = 200;

/** What cannot be read becomes the default. */
export function pageRequest(query: URLSearchParams, pageSize: number): PageRequest {
  return {
    page: wholeNumber(query.get('page'), 1, 1_000_000),
    pageSize: wholeNumber(query.get('size'), pageSize, MAX_PAGE_SIZE),
  };
}

function wholeNumber(text: string | null, fallback: number, max: number): number {
  const value = /^\d{1,7}$/.test(text ?? '') ? Number(text) : fallback;
  return Math.min(max, Math.max(1, value));
}

/** A page beyond the last is the last. */
export function pageOf<T>(
  all: readonly T[],
  { page, pageSize }: PageRequest,
): { readonly page: number; readonly items: readonly T[] } {
  const last = Math.max(1, Math.ceil(all.length / pageSize));
  const shown = Math.min(page, last);
  return { page: shown, items: all.slice((shown - 1) * pageSize, shown * pageSize) };
}

/** Words to look for, in lower case; all must be found. */
export function searchWords(query: URLSearchParams): readonly string[] {
  return (query.get('q') ?? '')
    .slice(0, MAX_TEXT)
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
}

/** The value where it is one of `accepted`, else the first of these. */
export function oneOf<T extends string>(text: string | null, accepted: readonly [T, ...T[]]): T {
  return accepted.find((value) => value === text) ?? accepted[0];
}
