import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { StartOperator, StartOperatorOptions } from './operator-port.ts';
import { runCommand } from './testing/run-command.ts';

const commands = [
  'agent',
  'backtest',
  'completion',
  'crds',
  'demo',
  'explain',
  'journal',
  'lab',
  'manifests',
  'operator',
  'plan',
  'profiles',
  'restore',
  'simulate',
  'status',
  'version',
];

describe('command line', () => {
  test('--help lists every command and exits with 0', async () => {
    const { code, stdout, stderr } = await runCommand(['--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const command of commands) expect(stdout).toMatch(new RegExp(`^  ${command}\\b`, 'm'));
  });

  test.each(commands)('%s --help has an example and the global options', async (command) => {
    const { code, stdout } = await runCommand([command, '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`Examples:\\n  (?:.*\\| )?stowage ${command}`));
    for (const option of ['--kubeconfig', '--context', '--namespace', '--output', '--no-color', '--debug'])
      expect(stdout).toContain(option);
  });

  test.each([[[]], ...commands.map((command) => [[command]])])('%j --help fits into 80 columns', async (args) => {
    const { stdout } = await runCommand([...args, '--help']);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  test.each([
    [['plna'], "unknown command 'plna'"],
    [['plan', '--wrong'], "unknown option '--wrong'"],
    [['plan', '-o', 'xml'], "option '-o, --output <format>' argument 'xml' is invalid"],
    [['plan', '-n', 'Not_A_Namespace'], 'A namespace is lower-case letters, digits and dashes'],
    [['plan', '--spot-percentage', 'many'], 'Give a whole number'],
    [['plan', '--spot-percentage', '700'], 'Give a whole number from 0 to 100'],
    [['plan', '--min-on-demand', '-1'], 'Run `stowage plan --help`'],
    [['pl\u001b[2Jan'], 'pl\\x1b[2Jan'],
    [['demo', '--for', 'ever'], 'Give a time from 1s to 24h'],
    [['demo', '--for', '0s'], 'Give a time from 1s to 24h'],
    [['demo', '--seed', '-1'], 'Give a whole number'],
    [['explain'], "missing required argument 'workload'"],
    [['version', 'extra'], 'too many arguments'],
  ])('%j is a wrong use: one line and exit code 2', async (args, message) => {
    const { code, stdout, stderr } = await runCommand(args);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/^stowage: [^\n]*\n$/);
  });

  test('without a command the help is printed as a wrong use', async () => {
    const { code, stderr } = await runCommand([]);
    expect(code).toBe(2);
    expect(stderr).toContain('Usage: stowage');
  });
});

describe('version', () => {
  test('prints one line', async () => {
    expect((await runCommand(['version'])).stdout).toMatch(/^stowage 1\.2\.3 \(Node \d+\.\d+\.\d+, \w+-\w+\)\n$/);
  });

  test('prints the same facts as JSON and YAML, wherever the option stands', async () => {
    const json = JSON.parse((await runCommand(['version', '-o', 'json'])).stdout);
    expect(json).toMatchObject({ apiVersion: 'cli.stowage.dev/v1', kind: 'Version', version: '1.2.3' });
    expect(parse((await runCommand(['-o', 'yaml', 'version'])).stdout)).toEqual(json);
  });
});

describe('operator', () => {
  const offline = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'x',
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: 'http://127.0.0.1:1' } }],
    users: [{ name: 'u', user: {} }],
  };
  let folder: string;
  let kubeconfig: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'stowage-cli-'));
    kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(kubeconfig, JSON.stringify(offline));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('is started with the configuration and ends when it ends', async () => {
    const received: StartOperatorOptions[] = [];
    const startOperator: StartOperator = async (options) => {
      received.push(options);
      return {
        ports: { webhook: 1, metrics: 2, health: 3, dashboard: 4 },
        synced: Promise.resolve(),
        ended: Promise.resolve(),
        applyConfig() {},
        admit: () => ({ status: 500, body: '' }),
        explain: () => undefined,
        stop: async () => {},
      };
    };
    const env = {
      SPOTALIS_OPERATOR_READ_ONLY_MODE: 'true',
      SPOTALIS_LOGGING_LEVEL: 'error',
      SPOTALIS_CONTROLLERS_WATCH_NAMESPACES: 'shop,mail',
    };
    expect(await runCommand(['operator', '--kubeconfig', kubeconfig], { startOperator, env })).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
    expect(received[0]?.config.operator.readOnlyMode).toBe(true);
    expect(received[0]?.identity).toMatch(/^.+_[0-9a-f-]{36}$/);
    const scrape = await received[0]?.metrics?.render();
    expect(scrape).toMatch(/^stowage_build_info\{version="[^"]+"\} 1$/m);
    expect(scrape).toMatch(/^stowage_watched_namespaces 2$/m);
    for (const quantile of ['0.5', '0.99', '1'])
      expect(scrape).toMatch(
        new RegExp(`^stowage_event_loop_delay_seconds\\{quantile="${quantile}"\\} [\\d.e-]+$`, 'm'),
      );
  });

  test('a failing start is one line and exit code 1; the place in the code only with --debug', async () => {
    const startOperator: StartOperator = () => Promise.reject(new Error('port 9443 is taken'));
    const plain = await runCommand(['operator', '--kubeconfig', kubeconfig], { startOperator });
    expect(plain).toMatchObject({ code: 1, stdout: '' });
    expect(plain.stderr.split('\n')[0]).toBe('stowage: port 9443 is taken');
    expect(plain.stderr).not.toContain('    at ');
    expect((await runCommand(['operator', '--debug', '--kubeconfig', kubeconfig], { startOperator })).stderr).toContain(
      '    at ',
    );
  });

  test('what the user has stopped is told without a hint to look for a bug', async () => {
    const startOperator: StartOperator = () => Promise.reject(new DOMException('stopped by SIGINT', 'AbortError'));
    const setting = { startOperator, signal: AbortSignal.abort() };
    const { code, stderr } = await runCommand(['operator', '--kubeconfig', kubeconfig], setting);
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'stowage: stopped by SIGINT\n' });
  });

  test('told to stop while it starts, it ends as well as when it runs', async () => {
    const stop = new AbortController();
    const startOperator: StartOperator = ({ signal }) =>
      new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
        stop.abort(new DOMException('stopped by SIGTERM', 'AbortError'));
      });
    const setting = { startOperator, signal: stop.signal, env: { SPOTALIS_LOGGING_LEVEL: 'error' } };
    expect(await runCommand(['operator', '--kubeconfig', kubeconfig], setting)).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
  });

  test('a flag of OptiPod with a wrong value is named as it was given', async () => {
    const { code, stderr } = await runCommand(['operator', '--dry-run', 'maybe', '--kubeconfig', kubeconfig]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'stowage: --dry-run is not valid: "maybe"; accepted: true or false\n',
    });
  });

  test('bad configuration: exit code 1, a line for each problem with key, value and what is accepted', async () => {
    const config = join(folder, 'config.yaml');
    writeFileSync(config, 'webhook:\n  port: 99999\nplacement:\n  rounding: up\n');
    const { code, stderr } = await runCommand(['operator', '--config', config]);
    expect(code).toBe(1);
    expect(stderr.trimEnd().split('\n').sort()).toEqual([
      expect.stringMatching(/^stowage: .*config\.yaml:2: webhook\.port.*99999.*accepted/),
      expect.stringMatching(/^stowage: .*config\.yaml:4: placement\.rounding.*up.*accepted/),
    ]);
  });
});
