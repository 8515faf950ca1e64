import { expect, test } from 'vitest';
import { fullImageName } from '../images/parse-image-name.ts';

test.each([
  ['busybox', 'docker.io/library/busybox:latest'],
  ['busybox:1', 'docker.io/library/busybox:1'],
  ['team/app', 'docker.io/team/app:latest'],
  ['index.docker.io/team/app:2', 'docker.io/team/app:2'],
  ['localhost/app', 'localhost/app:latest'],
  ['localhost:5000/app:x', 'localhost:5000/app:x'],
  ['registry.example.com/a/b__c/d---e:v1.0', 'registry.example.com/a/b__c/d---e:v1.0'],
  [`app@sha256:${'a'.repeat(64)}`, `docker.io/library/app@sha256:${'a'.repeat(64)}`],
  [`app:1@sha256:${'a'.repeat(64)}`, `docker.io/library/app:1@sha256:${'a'.repeat(64)}`],
])('%s is %s', (name, full) => {
  expect(fullImageName(name)).toBe(full);
});

test.each(['', ' ', 'App', 'a b', 'app:', 'app@sha256:1', 'a//b', '-app', 'app-', 'a..b', 'x'.repeat(2000), ':1', 'app:a/b'])(
  '%j is not the name of an image',
  (name) => {
    expect(() => fullImageName(name)).toThrow('is not the name of an image');
  },
);
