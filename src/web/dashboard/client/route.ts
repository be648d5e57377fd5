/** Which page is shown, and with what: kept behind the # of the address, so that pages can be linked and the back button works. */

export type PageName = 'overview' | 'workloads' | 'workload' | 'nodes' | 'policies' | 'simulations' | 'simulation';

export interface Route {
  readonly page: PageName;
  /** Of a workload: `Deployment/shop/web`; of a simulation: the name of its report's file. */
  readonly subject: string;
  readonly params: URLSearchParams;
}

/** What is not known leads to the overview. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [first = '', ...rest] = path.split('/').map(decoded);
  const params = new URLSearchParams(query);
  switch (first) {
    case 'workloads':
    case 'nodes':
    case 'policies':
    case 'simulations':
      return { page: first, subject: '', params };
    case 'workload':
      return rest.length === 3
        ? { page: 'workload', subject: rest.join('/'), params }
        : { page: 'workloads', subject: '', params };
    case 'simulation':
      return rest.length === 1
        ? { page: 'simulation', subject: rest.join('/'), params }
        : { page: 'simulations', subject: '', params };
    default:
      return { page: 'overview', subject: '', params };
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @param params empty values are left out. */
export function linkTo(page: PageName, subject = '', params: Readonly<Record<string, string>> = {}): string {
  const path =
    page === 'overview' ? '' : [page, ...(subject === '' ? [] : subject.split('/'))].map(encodeURIComponent).join('/');
  const given = Object.entries(params).filter(([, value]) => value !== '');
  return given.length === 0 ? `#/${path}` : `#/${path}?${new URLSearchParams(given)}`;
}
