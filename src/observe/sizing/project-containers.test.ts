import { expect, test } from 'vitest';
import { projectContainers } from './project-containers.ts';

const named = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({ name: `${prefix}${index}`, image: 'a' }));

test('a pod of more containers than any node runs is not sized: they are looked up one by one', () => {
  const sidecars = named('s', 100).map((each) => ({ ...each, restartPolicy: 'Always' }));
  expect(projectContainers({ containers: named('c', 400), initContainers: sidecars })).toHaveLength(500);
  expect(() => projectContainers({ containers: named('c', 401), initContainers: sidecars })).toThrow(
    'containers: "501" is not valid; accepted: at most 500 in one pod',
  );
  // Those that run once are not looked up.
  expect(projectContainers({ containers: named('c', 400), initContainers: named('i', 400) })).toHaveLength(400);
});
