import { describe, expect, test } from 'vitest';
import { containerIdOf, isContainerGroup, isKubepodsRoot, isQosGroup, podUidOf } from './names.ts';

const id = 'a'.repeat(64);

describe('roots', () => {
  test.each(['kubepods', 'kubepods.slice', 'kubelet-kubepods.slice', 'my-node-kubepods.slice', 'besteffort-kubepods'])(
    '%s is one',
    (name) => expect(isKubepodsRoot(name)).toBe(true),
  );
  test.each([
    'kubepods-burstable.slice',
    'kubepods-pod1.slice',
    'xkubepods',
    'kubelet.slice',
    'system.slice',
    'burstable',
  ])('%s is none', (name) => expect(isKubepodsRoot(name)).toBe(false));
});

describe('QoS classes', () => {
  test.each(['burstable', 'besteffort', 'guaranteed', 'kubepods-burstable.slice', 'kubelet-kubepods-besteffort.slice'])(
    '%s is one',
    (name) => expect(isQosGroup(name)).toBe(true),
  );
  test.each(['kubepods.slice', 'kubepods-burstable-pod1.slice', 'pod1', 'user.slice'])('%s is none', (name) =>
    expect(isQosGroup(name)).toBe(false),
  );
});

describe('pods', () => {
  const uid = '0a1b2c3d-1111-4222-8333-44445555aaaa';
  test.each([
    [`pod${uid}`, uid],
    [`kubepods-pod${uid.replaceAll('-', '_')}.slice`, uid],
    [`kubepods-burstable-pod${uid.replaceAll('-', '_')}.slice`, uid],
    [`kubelet-kubepods-besteffort-pod${uid.replaceAll('-', '_')}.slice`, uid],
    ['kubepods-burstable-pod0123456789abcdef0123456789abcdef.slice', '0123456789abcdef0123456789abcdef'],
    ['pod0123456789abcdef0123456789abcdef', '0123456789abcdef0123456789abcdef'],
  ])('%s', (name, found) => expect(podUidOf(name)).toBe(found));
  test.each(['podman.slice', 'pod', 'pod1234', `tripod${uid}x`, `xpod${uid}`])('%s is none', (name) =>
    expect(podUidOf(name)).toBeUndefined(),
  );
});

describe('containers', () => {
  test.each([
    [`containerd://${id}`, id],
    [`cri-o://${id}`, id],
    [`docker://${id}`, id],
    ['', undefined],
    ['containerd://', undefined],
    [id, undefined],
    [undefined, undefined],
  ])('id of %s', (text, found) => expect(containerIdOf(text)).toBe(found));

  test.each([id, `cri-containerd-${id}.scope`, `crio-${id}.scope`, `crio-${id}`, `docker-${id}.scope`])(
    '%s is its group',
    (name) => expect(isContainerGroup(name, id)).toBe(true),
  );
  test.each([
    `crio-conmon-${id}`,
    `crio-conmon-${id}.scope`,
    `x${id}`,
    `${id}-x`,
    'b'.repeat(64),
    `docker-${id}.mount`,
  ])('%s is not', (name) => expect(isContainerGroup(name, id)).toBe(false));
});
