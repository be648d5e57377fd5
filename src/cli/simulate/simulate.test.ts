import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startOperator } from '../../wire.ts';
import { runCommand } from '../testing/run-command.ts';

const shop = (spot: number, more = '') => `
name: shop-${spot}
duration: 10m
pools:
  - { name: on-demand, class: on-demand }
  - { name: spot, class: spot, interruptions: 0 }
workloads:
  - { name: web, namespace: shop, spot: ${spot}, replicas: 10 }
${more}`;

let folder: string;
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const simulate = (...args: string[]) => runCommand(['simulate', ...args], { startOperator });

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'stowage-simulate-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('stowage simulate', () => {
  test('without a scenario lists those there are', async () => {
    const { code, stdout } = await simulate();
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}spot-storm +Two thirds/m);
    expect(JSON.parse((await simulate('-o', 'json')).stdout)).toMatchObject({ kind: 'ScenarioList' });
  });

  test('prints figures, pools and assertions', async () => {
    const path = file('good.yaml', shop(70, 'asserts: ["evictions == 0"]\n'));
    const { code, stdout, stderr } = await simulate(path);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^podsMean +10 /m);
    expect(stdout).toMatch(/^spot +m6i\.xlarge/m);
    expect(stdout).toContain('holds  evictions == 0 (0)');
    expect(stdout).toContain('Every invariant held in ');
  });

  test('is exit code 1 when an assertion fails', async () => {
    const { code, stdout } = await simulate(file('bad.yaml', shop(70, 'asserts: ["podsMean >= 11"]\n')));
    expect(code).toBe(1);
    expect(stdout).toContain('fails  podsMean >= 11: 10, and 11 was the limit');
  });

  test('JSON is a document, the same for the same seed', async () => {
    const path = file('json.yaml', shop(50));
    const { stdout } = await simulate(path, '--seed', '9', '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({ apiVersion: 'cli.stowage.dev/v1', kind: 'Simulation', seed: 9 });
    expect((await simulate(path, '--seed', '9', '-o', 'json')).stdout).toBe(stdout);
  });

  test('--compare shows two scenarios side by side, with the difference', async () => {
    const { code, stdout } = await simulate('--compare', file('a.yaml', shop(0)), file('b.yaml', shop(100)));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^FIGURE +SHOP-0 +SHOP-100 +DIFFERENCE/m);
    expect(stdout).toMatch(/^spotPossiblePercent +0 +100.* \+100/m);
  });

  test('--compare says which assertion of which scenario failed, as it ends with 1 for it', async () => {
    const failing = 'asserts: ["podsMean >= 11", "podsMean >= 9"]\n';
    const { code, stdout } = await simulate('--compare', file('c.yaml', shop(0)), file('d.yaml', shop(70, failing)));
    expect(code).toBe(1);
    expect(stdout).toContain(
      '\n\nAssertions, shop-70:\n  fails  podsMean >= 11: 10, and 11 was the limit\n  holds  podsMean >= 9 (10)\n',
    );
    expect(stdout).not.toContain('shop-0:');
  });

  test('--html writes a page besides what is printed', async () => {
    const [path, html] = [file('page.yaml', shop(70)), join(folder, 'page.html')];
    const { code, stdout } = await simulate(path, '--html', html, '-o', 'json');
    expect([code, JSON.parse(stdout).series.endMillis.length]).toEqual([0, 300]);
    expect(readFileSync(html, 'utf8')).toContain(`<code>stowage simulate ${path} --seed `);
    const both = await simulate('--compare', path, file('page-b.yaml', shop(0)), '--html', html);
    expect([both.code, readFileSync(html, 'utf8').match(/<svg /g)?.length]).toEqual([0, 8]);
  });

  test('shows how far it is on a terminal only', async () => {
    const path = file('progress.yaml', shop(70));
    const { stderr } = await runCommand(['simulate', path], { startOperator, columns: 100 });
    expect(stderr).toContain('shop-70 ██████');
    expect(stderr.endsWith('\r\u001b[2K')).toBe(true);
  });

  test.each<[string, string[], number, string]>([
    ['a name that is none', ['no-such'], 1, 'there is no scenario no-such'],
    ['two scenarios', ['quiet-day', 'week'], 2, 'give one scenario, or two with --compare'],
    ['one to compare', ['--compare', 'week'], 2, '--compare takes two scenarios'],
    ['a page without a scenario', ['--html', 'x.html'], 2, '--html takes a scenario'],
    [
      'a page in no folder',
      ['week', '--html', '/no/such/x.html'],
      1,
      '/no/such/x.html: cannot be written: there is no',
    ],
    ['a page that is a folder', ['week', '--html', '/'], 1, '--html /: cannot be written: it is a folder'],
    ['a bad seed', ['week', '--seed', '-1'], 2, 'whole number'],
  ])('%s is told in one line', async (_, args, code, message) => {
    const result = await simulate(...args);
    expect(result.code).toBe(code);
    expect(result.stderr).toContain(message);
    expect(result.stdout).toBe('');
  });

  test('every problem of a file is told with its line', async () => {
    const { code, stderr } = await simulate(
      file('wrong.yaml', shop(70).replace('10m', 'soon').replace('class: spot', 'class: cheap')),
    );
    expect(code).toBe(1);
    expect(stderr).toContain('wrong.yaml:3: duration: "soon" is not valid');
    expect(stderr).toContain('pools[1].class:');
  });
});
