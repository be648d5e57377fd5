/** The demo as users start it: real time, real sockets, and nothing left behind. */
import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createCheckout, type Finished, plainEnvironment, run, stowage } from './checkout.ts';

/** Longer than the demo needs on a busy machine. */
const TIMEOUT_MILLIS = 300_000;

const kubeconfigIn = (output: string): string => /--kubeconfig (\S+) get pods/.exec(output)?.[1] ?? '';

describe('stowage demo', () => {
  test(
    '--for ends by itself, tells how it went, and leaves nothing behind',
    async () => {
      using temporary = createCheckout([]);
      const env = { ...plainEnvironment(), TMPDIR: temporary.path };
      const { code, stdout, stderr } = await stowage(['demo', '--for', '75s'], { env });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain('Chapter 1: all workloads are created at once.');
      expect(stdout).toMatch(
        /frontend +70 %, floor 2 +spot\/on-demand: target 9\/3, actual 9\/3, ready 12\/12: as wanted/,
      );
      expect(stdout).toMatch(/At rest after \d+ s; 0 evictions so far\./);
      expect(stdout).toMatch(/ {2}held {4}the mix is exact whenever the cluster is at rest \([1-9]\d* checks\)/);
      expect(stdout).not.toContain('BROKEN');
      expect(readdirSync(temporary.path)).toEqual([]);
    },
    TIMEOUT_MILLIS,
  );

  test(
    'the commands read its cluster live; Ctrl-C ends it at once and cleans up',
    async () => {
      using temporary = createCheckout([]);
      const env = { ...plainEnvironment(), TMPDIR: temporary.path };
      let live: Promise<readonly [Finished, Finished, Finished]> | undefined;
      const demo = await stowage(['demo'], {
        env,
        onOutput(child, soFar) {
          if (live !== undefined || !soFar.includes('At rest')) return;
          const kubeconfig = ['--kubeconfig', kubeconfigIn(soFar)];
          live = Promise.all([
            stowage(['plan', '-o', 'json', ...kubeconfig]),
            stowage(['status', ...kubeconfig]),
            stowage(['explain', 'deploy/shop/checkout', ...kubeconfig]),
          ]);
          void live.finally(() => child.kill('SIGINT'));
        },
      });
      expect(demo).toMatchObject({ code: 0, stderr: '' });
      const [plan, status, explain] = (await live) ?? [];
      expect(plan?.code).toBe(0);
      expect(JSON.parse(plan?.stdout ?? '{}')).toMatchObject({
        summary: { workloads: 12, managed: 9 },
        missing: [],
        problems: [],
      });
      expect(status?.stdout).toMatch(/^9 of 12 workloads managed/);
      expect(explain?.stdout).toContain(
        'Deployment/shop/checkout: 0 on spot, 4 on on-demand, 0 and 4 wanted; as it should be',
      );
      expect(existsSync(kubeconfigIn(demo.stdout))).toBe(false);
      expect(readdirSync(temporary.path)).toEqual([]);
    },
    TIMEOUT_MILLIS,
  );

  test(
    'npm start: who ends npm ends the demo, and no shell between them plays on',
    async () => {
      using temporary = createCheckout([]);
      const env = { ...plainEnvironment(), TMPDIR: temporary.path, npm_config_update_notifier: 'false' };
      let isTold = false;
      // Whoever plays on holds the output open; not for long, so that a failure leaves nothing behind.
      const npm = await run('npm', ['start', '--silent', '--', '--for', '60s'], {
        env,
        onOutput(child, soFar) {
          if (isTold || kubeconfigIn(soFar) === '') return;
          isTold = true;
          child.kill('SIGTERM');
        },
      });
      const stderr = 'stowage: it was ended before its first chapter was over, so nothing was judged\n';
      expect(npm).toMatchObject({ code: 1, signal: null, stderr });
      expect(existsSync(kubeconfigIn(npm.stdout))).toBe(false);
    },
    TIMEOUT_MILLIS,
  );
});
