import { expect, test } from 'vitest';
import { core } from '#api';
import { StatusError } from '#machinery';
import { startCluster } from '#testing';

interface Page {
  readonly metadata: { readonly continue?: string; readonly remainingItemCount?: number; readonly resourceVersion: string };
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

test('a continue token expires when its revision is compacted, and the list can continue inconsistently', async () => {
  await using cluster = await startCluster({ nodes: 1, clock: 'virtual' });
  const names = Array.from({ length: 10 }, (_, i) => `c${i}`);
  for (const name of names) await cluster.client.of(core.ConfigMap).create({ metadata: { name, namespace: 'kube-public' } } as never);
  const path = '/api/v1/namespaces/kube-public/configmaps';
  const list = async (query: Record<string, string>) =>
    (await cluster.client.transport.request({ method: 'GET', path, query: new URLSearchParams(query) })) as Page;
  const first = await list({ limit: '3' });
  const token = first.metadata.continue ?? '';
  await cluster.clock.advance('2m');
  expect((await list({ limit: '3', continue: token })).metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  await cluster.clock.advance('10m');
  const expired = await list({ limit: '3', continue: token }).catch((error: unknown) => error);
  expect(expired).toBeInstanceOf(StatusError);
  const { code, status } = expired as StatusError;
  expect(code).toBe(410);
  const next = (status.metadata as { continue?: string }).continue ?? '';
  const page = await list({ limit: '3', continue: next });
  expect(page.items.map(({ metadata }) => metadata.name)).toEqual(['c3', 'c4', 'c5']);
  expect(page.metadata.remainingItemCount).toBe(4);
  expect(page.metadata.resourceVersion).not.toBe(first.metadata.resourceVersion);
});
