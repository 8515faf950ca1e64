import { expect, it } from 'vitest';
import { apiServerConfig, SERVICE_ACCOUNT_ISSUER, securityConfig } from './api-server-settings.ts';

it('is secure where nothing is set', () => {
  expect(securityConfig({}, 'KEY')).toMatchObject({
    serviceAccounts: { issuer: SERVICE_ACCOUNT_ISSUER, keys: { signing: 'KEY' } },
    authorizationModes: ['Node', 'RBAC'],
    bootstrapTokens: true,
  });
  expect(apiServerConfig({}, undefined)).not.toHaveProperty('listen');
});

it('takes over whatever is set', () => {
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
