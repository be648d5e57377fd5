/** The pods in rendered objects. */
import { at, type Manifest } from './render.ts';

export const isWorkload = ({ kind = '' }: Manifest): boolean => ['Deployment', 'DaemonSet', 'Pod'].includes(kind);
export const podSpecOf = (object: Manifest): unknown =>
  at(object, object.kind === 'Pod' ? 'spec' : 'spec.template.spec');
export const containersOf = (object: Manifest): readonly unknown[] => {
  const found = at(podSpecOf(object), 'containers');
  return Array.isArray(found) ? found : [];
};
