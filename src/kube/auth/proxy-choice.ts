/**
 * Which proxy leads to a server: to the API server that of the kubeconfig, else of the environment, by the rules of Go, as
 * kubectl.
 */
import { BlockList, isIP } from 'node:net';
import { type Entry, KubeconfigError, textOf } from './kubeconfig-file.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Undefined: none. A plain `http:` server is asked directly, as it is one on this machine (`kubectl proxy`).
 * @throws KubeconfigError for a proxy that cannot be used: passed by without a word, the server could not be reached.
 */
export function proxyFor(server: URL, cluster: Entry, name: string, env: Environment): URL | undefined {
  const own = textOf(cluster.fields, 'proxy-url');
  if (own !== undefined) {
    const proxy = parseProxy(own, `The proxy-url of cluster "${name}" in ${cluster.file}`, KUBECTL_PROXY);
    if (server.protocol === 'https:') return proxy;
    throw new KubeconfigError(
      `Cluster "${name}" in ${cluster.file} has a proxy-url and an http server; only https goes through a proxy.`,
    );
  }
  const advice = `name the server in NO_PROXY where it can be reached without, or ${KUBECTL_PROXY}`;
  return proxyOfEnvironment(server, env, advice);
}

/**
 * Undefined: there is none, or the server is exempt. A plain `http:` server is asked directly.
 * @param advice where it cannot be used.
 * @throws KubeconfigError as {@link proxyFor} does.
 */
export function proxyOfEnvironment(server: URL, env: Environment, advice: string): URL | undefined {
  const variable = ['HTTPS_PROXY', 'https_proxy'].find((each) => (env[each] ?? '') !== '');
  if (variable === undefined || server.protocol !== 'https:') return undefined;
  if (isExempt(server, env['NO_PROXY'] || env['no_proxy'] || '')) return undefined;
  return parseProxy(env[variable] ?? '', variable, advice);
}

const KUBECTL_PROXY = 'run "kubectl proxy" and use its address as server';

function parseProxy(text: string, what: string, advice: string): URL {
  // As Go: a proxy without a scheme speaks plain HTTP.
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.parse(address);
  if (url !== null && /^https?:$/.test(url.protocol) && url.hostname !== '') return url;
  // Not quoted: it may hold a password.
  throw new KubeconfigError(`${what} is no http or https URL, which are what is supported; ${advice}.`);
}

/** Go's rules (golang.org/x/net/http/httpproxy): addresses, ranges, and names with what lies below them, each perhaps with a port. */
function isExempt(server: URL, list: string): boolean {
  const host = server.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const port = server.port || '443';
  if (host === 'localhost' || (isIP(host) !== 0 && isWithin(host, ['127.0.0.0/8', '::1/128']))) return true;
  return list
    .split(',')
    .map((part) => part.trim().toLowerCase())
    .some((part) => part !== '' && (part === '*' || exempts(part, host, port)));
}

function exempts(part: string, host: string, port: string): boolean {
  if (part.includes('/')) return isIP(host) !== 0 && isWithin(host, [part]);
  const [, bracketed, plain, ofPort] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(part) ?? [undefined, part];
  if (ofPort !== undefined && ofPort !== port) return false;
  const name = bracketed ?? plain ?? '';
  if (isIP(name) !== 0 || isIP(host) !== 0) return name === host;
  const below = name.replace(/^\*?\./, '');
  return host.endsWith(`.${below}`) || (below === name && host === name);
}

function isWithin(address: string, ranges: readonly string[]): boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const [net = '', bits = ''] = range.split('/');
    const family = isIP(net);
    if (family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
      list.addSubnet(net, Number(bits), family === 4 ? 'ipv4' : 'ipv6');
  }
  return list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
}
