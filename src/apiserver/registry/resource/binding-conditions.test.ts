import { expect, it } from 'vitest';
import { resource } from '#api';
import { serveAdmission } from '../../admission/admission-server.test-data.ts';

const slice = (device: object) =>
  ({
    metadata: { name: 's' },
    spec: { driver: 'd.example', pool: { name: 'p', resourceSliceCount: 1 }, allNodes: true, devices: [{ name: 'd', ...device }] },
  }) as never;

it.each([
  [{ bindingFailureConditions: ['f'] }, 'bindingConditions: Invalid value: null'],
  [{ bindingFailureConditions: ['f'], bindingConditions: [] }, 'bindingConditions: Invalid value: []'],
  [{ bindingConditions: ['c'], bindingFailureConditions: [] }, 'bindingFailureConditions: Invalid value: []'],
])('conditions %j of a device are refused as they were given', async (device, message) => {
  const slices = (await serveAdmission()).client.of(resource.ResourceSlice);
  await expect(slices.create(slice(device))).rejects.toThrow(`spec.devices[0].${message}: `);
});

it('an empty list of binding conditions is dropped', async () => {
  const slices = (await serveAdmission()).client.of(resource.ResourceSlice);
  const device = { bindingConditions: [], bindingFailureConditions: [] };
  const created = await slices.create(slice(device));
  expect(created.spec?.devices).toEqual([{ name: 'd' }]);
  const { metadata, spec } = await slices.update({ ...created, spec: { ...created.spec!, devices: [{ name: 'd', ...device }] } });
  expect(spec).toEqual(created.spec);
  expect(metadata).toEqual(created.metadata);
});
