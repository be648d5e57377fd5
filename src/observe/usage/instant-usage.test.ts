import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createInstantUsage } from './instant-usage.ts';

const NOW = Date.UTC(2026, 0, 1);

test('a series of one point a container, in their order; what is not known has no point', () => {
  const usage = createInstantUsage();
  usage.add('web-a', NOW, [
    { container: 'app', cpu: 250, memory: 104_857_600 },
    { container: 'proxy', cpu: undefined, memory: 5_000_000_000 },
  ]);
  usage.add('web-b', NOW + 1, [{ container: 'app', cpu: 0, memory: undefined }]);
  expect(usage.of('web-a')).toEqual([
    { pod: 'web-a', container: 'app', cpu: [{ at: NOW, value: 250 }], memory: [{ at: NOW, value: 104_857_600 }] },
    { pod: 'web-a', container: 'proxy', cpu: [], memory: [{ at: NOW, value: 5_000_000_000 }] },
  ]);
  expect(usage.of('web-b')).toEqual([{ pod: 'web-b', container: 'app', cpu: [{ at: NOW + 1, value: 0 }], memory: [] }]);
});

test('nothing is known of a pod that was not added, or that has no containers', () => {
  const usage = createInstantUsage();
  usage.add('web-a', NOW, []);
  usage.add('web-b', NOW, [{ container: 'app', cpu: 1, memory: 1 }]);
  expect([usage.of('web-a'), usage.of('web-c')]).toEqual([[], []]);
});

test('for any list each pod has what was said of it last', () => {
  const amount = fc.option(fc.nat(), { nil: undefined });
  const container = fc.record({ container: fc.constantFrom('a', 'b', 'c'), cpu: amount, memory: amount });
  const list = fc.array(fc.tuple(fc.constantFrom('p', 'q', 'r'), fc.nat(), fc.array(container, { maxLength: 3 })));
  fc.assert(
    fc.property(list, (said) => {
      const usage = createInstantUsage();
      for (const [pod, at, containers] of said) usage.add(pod, at, containers);
      for (const name of ['p', 'q', 'r']) {
        const [, at = 0, containers = []] = said.findLast(([pod]) => pod === name) ?? [];
        const points = (value: number | undefined) => (value === undefined ? [] : [{ at, value }]);
        const expected = containers.map((each) => ({
          pod: name,
          container: each.container,
          cpu: points(each.cpu),
          memory: points(each.memory),
        }));
        expect(usage.of(name)).toEqual(expected);
      }
    }),
  );
});
