import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { StatusError } from '#machinery';
import type { ControllerContext } from '../runtime/controller.ts';
import { expectedScale } from './expected-scale.ts';

const WIDGETS = {
  kind: 'APIResourceList',
  groupVersion: 'example.com/v1',
  resources: [
    { name: 'widgets', kind: 'Widget', namespaced: true, verbs: ['get'] },
    { name: 'widgets/scale', kind: 'Scale', namespaced: true, verbs: ['get'] },
    { name: 'gadgets', kind: 'Gadget', namespaced: true, verbs: ['get'] },
  ],
};

/** A server that knows widgets, which can be scaled, and gadgets, which cannot. */
function contextWith(scales: Readonly<Record<string, object>>): ControllerContext {
  const request = ({ path }: { path: string }) =>
    path === '/apis/example.com/v1'
      ? Promise.resolve(WIDGETS)
      : Promise.reject(StatusError.notFound({ group: '', resource: 'paths' }, path));
  const get = ({ name }: { name: string }) =>
    scales[name]
      ? Promise.resolve(scales[name])
      : Promise.reject(StatusError.notFound({ group: 'example.com', resource: 'widgets' }, name));
  const client = { transport: { request }, resource: () => ({ subresource: () => ({ get }) }) };
  return { client, informers: {}, signal: new AbortController().signal } as unknown as ControllerContext;
}

const podOf = (kind: string, apiVersion = 'example.com/v1'): core.Pod => ({
  metadata: { name: 'p', namespace: 'n', ownerReferences: [{ apiVersion, kind, name: 'x', uid: 'u', controller: true }] },
});

describe('the pods that are expected', () => {
  it('are as many as the scale of their owner says', async () => {
    const scale = { metadata: { uid: 'u' }, spec: { replicas: 4 } };
    expect(await expectedScale([podOf('Widget'), podOf('Widget')], contextWith({ x: scale }))).toEqual({ count: 4, unmanaged: [] });
  });

  it.each([
    ['that nobody knows', podOf('Foo'), 'no matches for kind "Foo" in version "example.com/v1"'],
    ['of a group that nobody knows', podOf('Foo', 'nosuch.io/v1'), 'no matches for kind "Foo" in version "nosuch.io/v1"'],
    ['without a scale', podOf('Gadget'), 'gadgets.example.com does not implement the scale subresource'],
    ['that is not there', podOf('Widget'), 'found no controllers for pod "p"'],
  ])('cannot be told by an owner %s', async (_name, pod, message) => {
    await expect(expectedScale([pod], contextWith({}))).rejects.toThrow(message);
  });
});
