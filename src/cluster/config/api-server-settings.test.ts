import { expect, it } from 'vitest';
import { silentLogger } from '#base';
import { apiServerConfig, SERVICE_ACCOUNT_ISSUER, securityConfig, warnOfOverriddenSettings } from './api-server-settings.ts';

it('an API server without settings is secure', () => {
  expect(securityConfig({}, 'KEY')).toMatchObject({
    serviceAccounts: { issuer: SERVICE_ACCOUNT_ISSUER, keys: { signing: 'KEY' } },
    authorizationModes: ['Node', 'RBAC'],
    bootstrapTokens: true,
  });
  expect(apiServerConfig({}, undefined)).not.toHaveProperty('listen');
});

it('an API server takes over all settings', () => {
  const staticTokens = new Map([['t', { name: 'alice', groups: [] }]]);
  const settings = { staticTokens, authorizationModes: ['RBAC'] as const, serviceAccountIssuer: 'https://issuer' };
  expect(securityConfig(settings, 'KEY')).toMatchObject({
    staticTokens,
    authorizationModes: ['RBAC'],
    serviceAccounts: { issuer: 'https://issuer' },
  });
  const services = { clusterIpRanges: ['10.0.0.0/24'], nodePortRange: { first: 1, last: 2 } };
  const listen = { host: '127.0.0.1', port: 1, tls: {} };
  expect(apiServerConfig({ advertiseAddress: '192.0.2.1', anonymousAuth: false, services }, listen)).toMatchObject({
    advertiseAddress: '192.0.2.1',
    anonymousAuth: false,
    services,
    listen,
  });
});

it('anonymous requests are off with AlwaysAllow', () => {
  expect(apiServerConfig({}, undefined)).toMatchObject({ anonymousAuth: true });
  const settings = { anonymousAuth: true, authorizationModes: ['RBAC', 'AlwaysAllow'] as const };
  expect(apiServerConfig(settings, undefined)).toMatchObject({ anonymousAuth: false });
  const warnings: string[] = [];
  warnOfOverriddenSettings(settings, { ...silentLogger, warn: (message) => void warnings.push(message) });
  expect(warnings).toHaveLength(1);
});
