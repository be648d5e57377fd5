import { describe, expect, test } from 'vitest';
import { checkExpression, type Declared } from './check-expression.ts';
import { evaluateCel } from './evaluate.ts';
import { CelSyntaxError, parseCel } from './expression.ts';

const declared: Declared = { names: new Set(['object', 'variables']), variables: new Set(['node']) };
const check = (source: string): void => checkExpression(parseCel(source), declared);

describe('an expression', () => {
  test.each([
    "object.?spec.?x[?0].orValue('') == variables.node",
    'has(object.spec.x) && object.items.all(item, item.sizes.exists(size, size > 0))',
    "object.items.filter(x, x > 1).map(x, x > 2, {'x': [x]}).size() == size(string(-int('1')))",
    "quantity(object.cpu).compareTo(quantity('1')) == 0 ? dyn(1) : double('2')",
  ])('of what is known: %s', (source) => {
    expect(() => check(source)).not.toThrow();
  });

  test.each([
    ['missing', "undeclared reference to 'missing'"],
    ['true || params.x', "undeclared reference to 'params'"],
    ['object.items.all(item, true) && item', "undeclared reference to 'item'"],
    ['variables.nod', "undefined field 'nod'"],
    ['[object.x.trim()]', "undeclared reference to 'trim'"],
    ["{'a': duration('1s')}", "undeclared reference to 'duration'"],
    ['object.size(1)', "undeclared reference to 'size'"],
    ['constructor(object)', "undeclared reference to 'constructor'"],
    ['object.x.toString()', "undeclared reference to 'toString'"],
    ["has(object['x'])", 'invalid argument to has() macro'],
    ['has(object.?x)', 'invalid argument to has() macro'],
    ['has(other.x)', "undeclared reference to 'other'"],
    ['object.all(key, value, true)', 'invalid arguments to all() macro'],
    ['object.map(1, true)', 'invalid arguments to map() macro'],
    ['object[missing]', "undeclared reference to 'missing'"],
    ['object ? missing : 1', "undeclared reference to 'missing'"],
    ['!missing', "undeclared reference to 'missing'"],
  ])('%s: %s', (source, message) => {
    expect(() => check(source)).toThrow(new CelSyntaxError(message));
  });

  test.each([
    "size('') + size([]) + size({})",
    "string(1) + string('')",
    "int('1') + int(1.5)",
    "double('1.5')",
    "dyn('x')",
    "isQuantity('1') && quantity('1').isGreaterThan(quantity('0')) && quantity('1').isLessThan(quantity('2'))",
    "quantity('1').compareTo(quantity('1000m'))",
    "'a'.startsWith('a') && 'a'.endsWith('a') && 'a'.contains('a') && 'a'.matches('a')",
    "'A,b'.lowerAscii().split(',').size()",
    'object.?x.hasValue() || object.?x.orValue(true)',
    '[1].all(x, x > 0) && [1].exists(x, x > 0) && [1].exists_one(x, x > 0)',
    '[1].filter(x, x > 0).map(x, x).map(x, x > 0, x)',
  ])('that is let in can be evaluated: %s', (source) => {
    check(source);
    expect(() => evaluateCel(parseCel(source), { object: {} })).not.toThrow();
  });
});
