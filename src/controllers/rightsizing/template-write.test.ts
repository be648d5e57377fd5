import { expect, test } from 'vitest';
import { applyChanges } from '../../model/pod-size.ts';
import { NOON } from '../../model/testing/records.ts';
import { aContainer } from '../../model/testing/sizing-records.ts';
import { TemplateWrite } from './template-write.ts';

const before = [aContainer({ size: { cpuRequest: 500 } })];
const changes = [{ container: 'app', to: { cpuRequest: 240 } }];
const after = applyChanges(before, changes);

test('a template that the view does not show yet is due for half a minute; then somebody else has undone it', () => {
  const template = new TemplateWrite();
  template.note(changes, NOON);
  expect([template.isUnseen, template.isDue(NOON + 29_999), template.isDue(NOON + 30_000)]).toEqual([
    true,
    true,
    false,
  ]);
  expect(template.noticeUndone(before, NOON + 29_999)).toBe(false);
  expect(template.noticeUndone(before, NOON + 30_000)).toBe(true);
  expect(template.noticeUndone(before, NOON + 30_001)).toBe(false);
});

test('one that was seen and is gone again is undone at once, and said to be once', () => {
  const template = new TemplateWrite();
  expect([template.isUnseen, template.noticeUndone(before, NOON)]).toEqual([false, false]);
  template.note(changes, NOON);
  expect(template.noticeUndone(after, NOON + 1_000)).toBe(false);
  expect([template.isUnseen, template.isDue(NOON + 1_000)]).toEqual([false, false]);
  expect(template.noticeUndone(before, NOON + 2_000)).toBe(true);
  expect(template.noticeUndone(before, NOON + 3_000)).toBe(false);
});

test('one that we took back ourselves is not', () => {
  const template = new TemplateWrite();
  template.note(changes, NOON);
  template.forget();
  expect(template.noticeUndone(before, NOON + 60_000)).toBe(false);
});
