/** The keys of what the process serves: webhook, dashboard, metrics, health, logs. */
import { bindAddress, choice, duration, flag, integer, names, text } from './config-key.ts';
import { hostName } from './key-formats.ts';

/** Names and ports are Spotalis's, so that its Service and its webhook configuration go on working. */
export const webhookKeys = {
  enabled: flag(true, {
    env: 'WEBHOOK_ENABLED',
    restart: true,
    description:
      'Steer pods as they are created. Without it none is moved either: what replaces it would run wherever the scheduler likes.',
  }),
  port: integer(9443, {
    env: 'WEBHOOK_PORT',
    restart: true,
    min: 0,
    max: 65_535,
    description: 'Port of the webhook (HTTPS).',
  }),
  certDir: text('/tmp/k8s-webhook-server/serving-certs', {
    env: 'WEBHOOK_CERT_DIR',
    restart: true,
    accepted: 'a directory',
    description: 'Where tls.crt and tls.key are, with certificates: files. They are read again when they change.',
  }),
  certificates: choice('files', ['files', 'self'], {
    env: 'WEBHOOK_CERTIFICATES',
    restart: true,
    description:
      'Where the certificate comes from: files (cert-manager, Helm or you write them), or self (Stowage issues and rotates its own).',
  }),
  serviceName: text('spotalis', {
    env: 'WEBHOOK_SERVICE_NAME',
    restart: true,
    required: true,
    accepted: 'the name of a Service',
    description: 'Service in front of the webhook; the certificate of certificates: self is for it.',
  }),
  secretName: text('spotalis-webhook-cert', {
    env: 'WEBHOOK_SECRET_NAME',
    restart: true,
    required: true,
    accepted: 'the name of a Secret',
    description: 'Secret that keeps the certificates of certificates: self.',
  }),
  configurationName: text('spotalis-mutating-webhook', {
    env: 'WEBHOOK_CONFIGURATION_NAME',
    restart: true,
    required: true,
    accepted: 'the name of a MutatingWebhookConfiguration',
    description: 'Webhook configuration whose CA bundle certificates: self keeps up to date.',
  }),
  validatingConfigurationName: text('stowage-validating-webhook', {
    env: 'WEBHOOK_VALIDATING_CONFIGURATION_NAME',
    restart: true,
    required: true,
    accepted: 'the name of a ValidatingWebhookConfiguration',
    description: 'The same for the webhook that checks policies of the rightsizing engine.',
  }),
  shutdownDelay: duration('3s', {
    env: 'WEBHOOK_SHUTDOWN_DELAY',
    restart: true,
    min: 0,
    max: 60_000,
    description:
      'How long a replica that ends goes on answering, no longer ready, until API servers know that it is going. Less than the pod is given to end, by 10 seconds.',
  }),
} as const;

/** The dashboard; read-only, and on loopback unless told otherwise. */
export const webKeys = {
  enabled: flag(true, { env: 'WEB_ENABLED', restart: true, description: 'Serve the dashboard (docs/dashboard.md).' }),
  bindAddress: bindAddress('127.0.0.1:8083', {
    env: 'WEB_BIND_ADDRESS',
    restart: true,
    description:
      'Address of the dashboard. On loopback only who may port-forward to the pod sees it; anybody who reaches another address does.',
  }),
  allowedHosts: names({
    env: 'WEB_ALLOWED_HOSTS',
    restart: true,
    accepted: 'a list of host names without port',
    format: hostName,
    description:
      'Names under which the dashboard may be opened, and /explain and /journal be asked without a token, besides localhost, addresses and those of Services (NAME.NAMESPACE.svc): that of an Ingress in front, say.',
  }),
  reports: text('', {
    env: 'WEB_REPORTS',
    restart: true,
    accepted: 'the path of a folder, or nothing',
    description:
      'Folder of reports of simulations that the dashboard shows (docs/dashboard.md). Empty: none are shown.',
  }),
} as const;

/** Names, ports and defaults are Spotalis's. */
export const observabilityKeys = {
  metrics: {
    enabled: flag(true, {
      env: 'METRICS_ENABLED',
      restart: true,
      description: 'Serve /metrics, /explain and /journal.',
    }),
    bindAddress: bindAddress(':8080', {
      env: 'METRICS_BIND_ADDRESS',
      restart: true,
      description: 'Address of /metrics, /explain and /journal.',
    }),
    authentication: choice('none', ['none', 'token'], {
      env: 'METRICS_AUTHENTICATION',
      restart: true,
      description:
        'Who may read /metrics, /explain and /journal: everybody who reaches the port, or who shows a bearer token of the cluster whose user may get that path (docs/security.md).',
    }),
    tls: flag(false, {
      env: 'METRICS_TLS',
      restart: true,
      description: 'Serve them over HTTPS, with the certificate of the webhook, renewed as it is (docs/security.md).',
    }),
  },
  health: {
    enabled: flag(true, { env: 'HEALTH_ENABLED', restart: true, description: 'Serve /healthz and /readyz.' }),
    bindAddress: bindAddress(':8081', {
      env: 'HEALTH_BIND_ADDRESS',
      restart: true,
      description: 'Address of /healthz and /readyz.',
    }),
  },
  logging: {
    level: choice('info', ['debug', 'info', 'warn', 'error', 'fatal'], {
      env: 'LOGGING_LEVEL',
      restart: true,
      aliases: { warning: 'warn', dpanic: 'fatal', panic: 'fatal' },
      description: 'Least important records that are written.',
    }),
    format: choice('json', ['json', 'text'], {
      env: 'LOGGING_FORMAT',
      restart: true,
      aliases: { console: 'text' },
      description: 'One JSON object a record, or text for people.',
    }),
  },
} as const;
