import { expect, test } from 'vitest';
import { core, networking } from '#api';
import { serveAdmission } from '../../../admission/admission-server.test-data.ts';

test('an address outside of every ServiceCIDR is rejected, with another message in a dry run', async () => {
  const { client } = await serveAdmission();
  await client.of(networking.ServiceCIDR).create({ metadata: { name: 'first' }, spec: { cidrs: ['10.96.0.0/16'] } });
  const service = { metadata: { name: 'a', namespace: 'default' }, spec: { clusterIP: '10.97.0.1', ports: [{ port: 80 }] } };
  const problem = (options: object) =>
    client
      .of(core.Service)
      .create(service, options)
      .then(String, ({ message }: Error) => message);
  expect(await problem({})).toContain('failed to allocate IP 10.97.0.1: the provided network does not match the current range');
  expect(await problem({ dryRun: true })).toContain('the provided IP (10.97.0.1) is not in the valid range');
});
