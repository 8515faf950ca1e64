import { expect, test } from 'vitest';
import { core } from '#api';
import { createLogger, MetricsRegistry, realClock } from '#base';
import { openMemoryStore } from '#store';
import { ResourceStorage } from '../registry/generic/resource-storage.ts';

const KEY = '/registry/pods/default/a';

async function readBack(stored: string) {
  const lines: string[] = [];
  const logger = createLogger({ clock: realClock, level: 'warn', format: 'json', write: (line) => void lines.push(line) });
  const metrics = new MetricsRegistry();
  const store = openMemoryStore({ clock: realClock });
  await store.txn({ write: [{ type: 'put', key: KEY, value: Buffer.from(stored) }] });
  const names = { location: 'pods', group: '', resource: 'pods', kind: 'Pod', apiVersion: 'v1', namespaced: true };
  const storage = new ResourceStorage({ ...names, schema: core.Pod }, { store, clock: realClock, logger, metrics });
  await storage.cache.start();
  const { object, json } = storage.cache.get(KEY)!;
  const served: unknown = JSON.parse(json.call(storage.cache.get(KEY)).toString());
  const value = Buffer.from((await store.get(KEY)).entry!.value).toString();
  storage.cache.close();
  await store.close();
  return { object, served, lines, metrics: metrics.text(), value };
}

const HEAD = '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"default"}';

test('an object of the store is served as it is when nothing is wrong with it', async () => {
  const { served, lines, value } = await readBack(`${HEAD},"spec":{"containers":[{"name":"c","resources":{}}]},"status":{}}`);
  expect(served).toMatchObject({ spec: { containers: [{ name: 'c' }] } });
  expect(lines).toEqual([]);
  expect(JSON.parse(value)).toMatchObject({ metadata: { name: 'a' } });
});

test('stored fields with a wrong type are left out for all readers, and stay in the store', async () => {
  const stored = `${HEAD},"spec":{"containers":[null,{"name":7,"image":"i"}],"nodeName":{"a":1}},"status":[]}`;
  const { object, served, lines, metrics, value } = await readBack(stored);
  const containers = [
    { name: '', resources: {} },
    { name: '', image: 'i', resources: {} },
  ];
  expect(object).toMatchObject({ metadata: { name: 'a', namespace: 'default' }, spec: { containers } });
  expect(served).toEqual(object);
  expect(lines).toEqual([expect.stringContaining('json: cannot unmarshal number into Go struct field Container.spec.containers.name')]);
  expect(metrics).toContain('sampan_repaired_objects_total 1');
  expect(value).toBe(stored);
});

test.each([
  ['no name', '{"kind":"Pod","apiVersion":"v1","metadata":{},"spec":{"containers":[]}}'],
  ['no metadata', '{"spec":null}'],
  ['another name than its key', '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b","namespace":"other"}}'],
  ['no members at all', '7'],
])('an object with %s is that of its key', async (_, stored) => {
  const { object } = await readBack(stored);
  expect(object).toMatchObject({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a', namespace: 'default' } });
});
