import { expect, it } from 'vitest';
import { send, serve } from '../serving.test-setup.ts';

// Clients compare the hash to detect that objects must be migrated, so it equals upstream's.
it.each([
  ['/api/v1', 'events', 'r2yiGXH7wu8='],
  ['/apis/events.k8s.io/v1', 'events', 'r2yiGXH7wu8='],
  ['/apis/apiextensions.k8s.io/v1', 'customresourcedefinitions', 'jfWCUB31mvA='],
])('%s tells the stored version of %s', async (path, name, hash) => {
  const { resources } = JSON.parse((await send(await serve(), path)).body) as {
    resources: { name: string; storageVersionHash?: string }[];
  };
  expect(resources.find((resource) => resource.name === name)?.storageVersionHash).toBe(hash);
});
