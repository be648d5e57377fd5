import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProfileStore } from '../../act/save-profiles.ts';
import { resources } from '../../api/resources.ts';
import { createTestServer } from '../../cluster/apiserver/testing/test-server.ts';
import { createSilentLogger } from '../../lib/log.ts';
import type { SavedUsage } from '../../model/saved-usage.ts';
import { aSizedWorkload } from '../../model/testing/sizing-records.ts';
import { aBook, aSeries, HOUR, usageSettings } from '../../model/testing/usage.ts';
import { CommandError } from '../cli-error.ts';
import { runCommand } from '../testing/run-command.ts';
import { formatProfilesFile, parseProfilesFile } from './profiles-file.ts';
import { exportProfiles, importProfiles } from './run-profiles.ts';

const { signal } = new AbortController();
let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'stowage-profiles-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function someUsage(names: readonly string[]): SavedUsage[] {
  const book = aBook();
  for (const name of names) {
    const series = [aSeries('a', { cpu: [[HOUR, name.length]], memory: [[HOUR, 5]] })];
    const taken = { series, readTo: { cpu: HOUR }, startedAt: () => undefined };
    book.take(aSizedWorkload({ name }), usageSettings(), taken, HOUR);
  }
  return [...book.save()].flat();
}

describe('file of profiles', () => {
  test('for any usage, what is read is what was written, in an order of its own', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { maxLength: 10 }), (names) => {
        const items = someUsage(names);
        const text = formatProfilesFile(items);
        expect(formatProfilesFile(items.toReversed())).toBe(text);
        const read = parseProfilesFile(text, 'x.json');
        expect(read.map(({ workload }) => workload.name)).toEqual(names.toSorted());
        expect(new Set(read.map(({ profile }) => profile))).toEqual(new Set(items.map(({ profile }) => profile)));
      }),
      { numRuns: 100 },
    );
  });

  const good = JSON.parse(formatProfilesFile(someUsage(['web', 'api'])));
  test.each([
    ['no JSON', 'usage', 'is not JSON'],
    ['something else', '{"kind":"Pod"}', 'holds no usage'],
    ['a newer version', JSON.stringify({ ...good, apiVersion: 'stowage.io/v2' }), 'version "stowage.io/v2"'],
    ['a damaged item', JSON.stringify({ ...good, items: [good.items[0], {}] }), 'item 2 of 2'],
  ])('%s is refused as a whole, with the file and the reason', (_name, text, reason) => {
    expect(() => parseProfilesFile(text, 'x.json')).toThrow(CommandError);
    expect(() => parseProfilesFile(text, 'x.json')).toThrow(reason);
  });
});

describe('stowage profiles', () => {
  test('what one cluster exports, another imports: the operator finds it and takes it over', async () => {
    const [from, to] = [createTestServer(), createTestServer()];
    const namespace = 'stowage';
    for (const { api } of [from, to]) await api.create(resources.namespaces, { metadata: { name: namespace } });
    const store = (api: typeof from.api) =>
      createProfileStore({ api, namespace, isLeader: () => true, log: createSilentLogger() });
    await store(from.api).save(someUsage(['web', 'api', 'web#0']), signal);
    const context = { io: { clock: from.clock, signal, err: { write: () => {} } } } as never;
    const { content, what } = await exportProfiles(context, from.api, namespace);
    expect(what).toBe('3 containers, 1 of them of single replicas,');
    await importProfiles(to.api, namespace, parseProfilesFile(content, 'x.json'), signal);
    const imported = await store(to.api).loadImports(signal);
    expect(formatProfilesFile(imported)).toBe(content);
  });

  test('nothing saved is said, with what to do', async () => {
    const { api, clock } = createTestServer();
    const context = { io: { clock, signal, err: { write: () => {} } } } as never;
    await expect(exportProfiles(context, api, 'stowage')).rejects.toThrow('no usage is saved in the namespace stowage');
  });

  test('a file that is none ends with one line, before any cluster is asked', async () => {
    const file = join(directory, 'bad.json');
    writeFileSync(file, 'rubbish');
    const { code, stderr } = await runCommand(['profiles', 'import', file]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^stowage: .*bad\.json is not JSON/)]);
  });

  test.each([[['profiles', 'move', 'x']], [['profiles', 'export']], [['profiles']]])(
    '%j is a wrong command line',
    async (args) => {
      expect((await runCommand(args)).code).toBe(2);
    },
  );
});
