import { describe, expect, test } from 'vitest';
import { evaluateCel } from './evaluate.ts';
import { CelSyntaxError, parseCel } from './expression.ts';
import { CelRuntimeError } from './runtime-error.ts';

const object = {
  metadata: { name: 'web', labels: { app: 'web', 'example.com/x': '1' }, namespace: 'prod' },
  spec: { replicas: 3, cpu: '500m', list: [1, 2, 3] },
};
const run = (source: string) => evaluateCel(parseCel(source), { object, oldObject: null, self: object.spec });

describe('CEL', () => {
  test.each([
    ["object.metadata.name == 'web'", true],
    ['object.metadata.labels[\'example.com/x\'] == "1"', true],
    ["has(object.metadata.labels) && 'app' in object.metadata.labels", true],
    ['has(object.metadata.annotations)', false],
    ["!(object.metadata.namespace in ['kube-system', 'stowage'])", true],
    ['object.spec.replicas > 2 ? "many" : "few"', 'many'],
    ['1 + 2 * 3 - 4 / 2', 5],
    ['-2 + 5 % 3', 0],
    [
      "object.metadata.name.startsWith('w') && object.metadata.name.endsWith('b') && object.metadata.name.contains('e')",
      true,
    ],
    ["object.metadata.name.matches('^w.b$')", true],
    ['size(object.spec.list) == 3 && object.spec.list.size() == 3', true],
    ['self.list.all(x, x > 0) && self.list.exists(x, x == 2) && self.list.exists_one(x, x == 3)', true],
    ['self.list.filter(x, x > 1).map(x, x * 2) == [4, 6]', true],
    ['oldObject == null', true],
    ["object.metadata.?missing.orValue('none') == 'none'", true],
    ["object.?missing.deep['x'].orValue('none') == 'none'", true],
    ["quantity('1') == quantity('1000m')", true],
    ["int('-7') == -7 && double('1.5') > 1.4", true],
    ["'a\\\\.b' + r'\\.'", 'a\\.b\\.'],
    // Only what an object has itself is a member.
    ["has(object.constructor) || 'toString' in object", false],
    ["object.?constructor.orValue('none') == 'none'", true],
    ["quantity(self.cpu).isLessThan(quantity('1')) && isQuantity('2Gi')", true],
    ["{'a': 1}['a'] == 1", true],
    // The failing side does not matter when the other decides.
    ['object.spec.missing == 1 || true', true],
    ['object.spec.missing == 1 && false', false],
    ["['a', 1].exists(x, x > 0) && !['a', 1].all(x, x > 1)", true],
  ])('%s', (source, expected) => {
    expect(run(source)).toEqual(expected);
  });

  test.each([
    'object.spec.missing',
    'object.spec.replicas && true',
    'object.metadata.name > 1',
    'unknown(1)',
    '1 / 0',
    '1 % 0',
    "int('1.5')",
    "int('')",
    'int(true)',
    "double('x')",
    "quantity('much')",
    "'a'.matches('(')",
    'object.constructor',
    'constructor',
    "['a'].exists(x, x > 0)",
  ])('%s fails when run', (source) => {
    expect(() => run(source)).toThrow(CelRuntimeError);
  });

  test.each(['', '1 +', "'open", 'a.', '(1', 'a ? b', '1 2', '#', "'\\d'", "'\\x41'", `${'('.repeat(200)}1`])(
    '%s is no expression',
    (source) => {
      expect(() => parseCel(source)).toThrow(CelSyntaxError);
    },
  );
});
