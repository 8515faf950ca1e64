import { expect, test } from 'vitest';
import { apps, type core } from '#api';
import { currentRevision } from './revision-history.ts';

test('the data of a ControllerRevision has its keys in sorted order, whatever the order in the template', () => {
  const container = { name: 'c', image: 'i', args: ['b', 'a'] };
  const template = { spec: { containers: [container], activeDeadlineSeconds: 5 }, metadata: { labels: { b: '1', a: '2' } } };
  const owner = { metadata: { name: 'db', namespace: 'default', uid: 'u' } };
  const options = { owner, kind: apps.StatefulSet, template: template as unknown as core.PodTemplateSpec, collisionCount: 0 };
  const { current } = currentRevision(options, []);
  expect(JSON.stringify(current.data)).toBe(
    '{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"a":"2","b":"1"}},' +
      '"spec":{"activeDeadlineSeconds":5,"containers":[{"args":["b","a"],"image":"i","name":"c"}]}}}}',
  );
});
