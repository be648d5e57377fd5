/** A kubeconfig that carries everything inside. */

export interface KubeconfigInput {
  readonly url: string;
  /** PEM of the authority that signed the API server's certificate. */
  readonly authority: string;
  readonly user: string;
  readonly token: string;
}

/** JSON text, which is YAML as well. */
export function kubeconfigText({ url, authority, user, token }: KubeconfigInput): string {
  const name = 'stowage-demo';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [
      { name, cluster: { server: url, 'certificate-authority-data': Buffer.from(authority).toString('base64') } },
    ],
    users: [{ name: user, user: { token } }],
    contexts: [{ name, context: { cluster: name, user } }],
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
