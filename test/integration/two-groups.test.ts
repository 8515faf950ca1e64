import { expect, test } from 'vitest';
import { events } from '#api';
import { startCluster } from '#testing';

test('the source field selector of core events matches events of both groups', async () => {
  await using cluster = await startCluster({ nodes: 0, clock: 'virtual' });
  const time = '2026-01-01T00:00:00.000000Z';
  const common = { eventTime: time, reason: 'Tested', type: 'Normal', action: 'Test', reportingInstance: 'a' };
  await cluster.client.of(events.Event).create({
    metadata: { name: 'one', namespace: 'default' },
    ...common,
    note: 'note',
    reportingController: 'tester',
    regarding: { kind: 'Pod', name: 'web', namespace: 'default' },
  } as never);
  const list = async (path: string, fieldSelector: string) => {
    const answer = (await cluster.client.transport.request({ method: 'GET', path, query: new URLSearchParams({ fieldSelector }) })) as {
      items: { metadata: { name: string } }[];
    };
    return answer.items.map(({ metadata }) => metadata.name);
  };
  expect(await list('/api/v1/namespaces/default/events', 'source=tester')).toEqual(['one']);
  expect(await list('/api/v1/namespaces/default/events', 'involvedObject.name=web')).toEqual(['one']);
  expect(await list('/apis/events.k8s.io/v1/namespaces/default/events', 'reportingController=tester')).toEqual(['one']);
  expect(await list('/apis/events.k8s.io/v1/namespaces/default/events', 'regarding.name=web')).toEqual(['one']);
});
