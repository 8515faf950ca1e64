import { describe, expect, it } from 'vitest';
import { registryError } from './simulated-registry.ts';

describe('a simulated registry', () => {
  it.each([
    'nginx',
    'nginx:1.29',
    'docker.io/library/nginx:latest',
    'registry.example:5000/team/app:v404',
    'localhost:404/app',
    'app@sha256:0123',
    'app:404@sha256:0123',
    'team/invalid/app:1',
  ])('has %s', (image) => {
    expect(registryError(image)).toBeUndefined();
  });

  it.each([
    ['webserver:404', 'failed to pull and unpack image "webserver:404": failed to resolve image: webserver:404: not found'],
    ['registry.example:5000/app:401', /authorization failed/],
    ['app:503', /503 Service Unavailable/],
    ['registry.invalid/app:1', /lookup registry\.invalid: no such host$/],
    ['registry.invalid:5000/team/app', /lookup registry\.invalid: no such host$/],
    ['invalid/app', /lookup invalid: no such host$/],
  ])('does not have %s', (image, message) => {
    expect(registryError(image)).toMatch(message);
  });
});
