/** What helm says once the chart is installed. */
import { describe, expect, test } from 'vitest';
import { runHelm } from './helm.ts';
import { CHART, findHelm, root } from './render.ts';

const { programs, missing } = await findHelm();

describe.skipIf(missing !== undefined)('the notes of the chart', () => {
  const notesWith = (...set: readonly string[]): string => {
    const args = [
      'install',
      'stowage',
      CHART,
      '--namespace=tools',
      '--dry-run=client',
      ...set.map((each) => `--set=${each}`),
    ];
    const { status, stdout, stderr } = runHelm(programs, args, root);
    expect(status, stderr).toBe(0);
    return stdout.slice(stdout.indexOf('NOTES:'));
  };

  test('warn of nothing by default', () => {
    expect(notesWith()).toContain('helm test stowage -n tools');
    expect(notesWith()).not.toContain('WARNING');
  });

  test.each([
    ['placement', [], ['new pods of workloads in enabled namespaces'], ['OptimizationPolicies']],
    [
      'rightsizing alone',
      ['engines.placement=false', 'engines.rightsizing=true'],
      ['new and changed OptimizationPolicies'],
      ['new pods'],
    ],
    ['both', ['engines.rightsizing=true'], ['new pods of', 'OptimizationPolicies'], []],
  ])('tell what failurePolicy Fail refuses, and the way out: %s', (_, set, said, unsaid) => {
    const notes = notesWith('webhook.failurePolicy=Fail', ...set);
    const warning = notes.slice(notes.indexOf('WARNING: webhook.failurePolicy is Fail'));
    for (const text of said) expect(warning).toContain(text);
    for (const text of unsaid) expect(warning).not.toContain(text);
    expect(warning).toContain('kubectl delete mutatingwebhookconfigurations,validatingwebhookconfigurations -l ');
  });

  test.each([
    ['by default', [], 'stowage status --operator http://localhost:8080', 'docs/security.md'],
    [
      'with a token',
      ['config.observability.metrics.authentication=token'],
      'stowage status --operator http://localhost:8080\n  What it wants to see for that: docs/security.md#metrics-behind-a-token',
      'https://localhost',
    ],
    [
      'over TLS',
      ['config.observability.metrics.tls=true'],
      'stowage status --operator https://localhost:8080\n  What it wants to see for that: docs/security.md#metrics-behind-a-token',
      'http://localhost:8080',
    ],
    ['without metrics', ['config.observability.metrics.enabled=false'], '\n  stowage status\n', 'port-forward svc/'],
  ])('name a way to ask that works: %s', (_, set, said, unsaid) => {
    const notes = notesWith(...set);
    expect(notes).toContain(said);
    expect(notes).not.toContain(unsaid);
  });

  test.each([
    [[], 8083],
    [['config.web.bindAddress=127.0.0.1:9083'], 9083],
  ])('name the port of the dashboard: %j', (set, port) => {
    expect(notesWith(...set)).toContain(`at http://localhost:${port}:\n`);
    expect(notesWith(...set)).toContain(`port-forward deploy/stowage ${port}\n`);
  });

  test('tell what agents need of the namespace, where there are agents', () => {
    const label = 'kubectl label namespace tools pod-security.kubernetes.io/enforce=privileged';
    expect(notesWith()).not.toContain(label);
    expect(notesWith('engines.allocation=true')).toContain(label);
  });

  test('name no webhook where there is none', () => {
    const set = ['webhook.failurePolicy=Fail', 'engines.placement=false', 'engines.allocation=true'];
    expect(notesWith(...set)).not.toContain('failurePolicy');
  });

  test('are rendered at an upgrade as well', () => {
    const args = ['template', 'stowage', CHART, '--is-upgrade', '--set=engines.rightsizing=true'];
    expect(runHelm(programs, args, root).status).toBe(0);
  });
});
