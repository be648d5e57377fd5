/** What is asked of a list: filter, order and page. It is kept in the address, so that a list can be linked to as it is seen. */
import type { Host } from './page.ts';
import { linkTo, type PageName, type Route } from './route.ts';

export type Changes = Readonly<Record<string, string>>;

export interface ListQuery {
  /** As the operator takes them. */
  readonly params: () => URLSearchParams;
  /** Empty for one that is not set. */
  readonly get: (name: string) => string;
  /** Takes over what an address says. */
  readonly show: (route: Route) => void;
  /** Asks for something else; another filter or order begins at the first page. An empty value unsets a parameter. */
  readonly change: (changes: Changes) => void;
}

export function listQuery(page: PageName, host: Pick<Host, 'refresh' | 'replace'>): ListQuery {
  let params = new URLSearchParams();
  return {
    params: () => params,
    get: (name) => params.get(name) ?? '',
    show(route) {
      params = new URLSearchParams(route.params);
    },
    change(changes) {
      params = changed(params, changes);
      host.replace(linkTo(page, '', Object.fromEntries(params)));
      host.refresh();
    },
  };
}

/** @returns new ones, without those that are empty. */
export function changed(params: URLSearchParams, changes: Changes): URLSearchParams {
  const next = new URLSearchParams(params);
  if (!('page' in changes)) next.delete('page');
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') next.delete(name);
    else next.set(name, value);
  }
  return next;
}
